"""SQL of writing what texts say: text only, one caller each."""

# Texts that were never read, or not with these words, this record, these readers, or
# not by the extractor that is wanted: the model's where it has answered, else the rules.
_UNREAD = """
      FROM graph_nodes n
      JOIN graph_records r ON r.id = n.record_id
      LEFT JOIN graph_extracted_texts x ON x.tenant_id = n.tenant_id
       AND x.project_id = n.project_id AND x.node_id = n.id
      LEFT JOIN graph_extraction_answers a ON a.tenant_id = n.tenant_id
       AND a.project_id = n.project_id AND a.asked = %(asked)s AND a.error = ''
       AND a.words = md5(n.title || chr(1) || n.content)
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       AND n.origin = 'source' AND n.node_type <> ALL(%(untold)s)
       AND n.valid_to IS NULL AND n.trashed_at IS NULL AND n.gone_at IS NULL
       AND (x.id IS NULL OR x.words <> md5(n.title || chr(1) || n.content)
            OR x.record_id <> r.id OR x.audience_id <> r.audience_id
            OR x.extractor <> CASE WHEN a.id IS NULL THEN %(rules)s ELSE %(both)s END)
"""
UNREAD = f"SELECT n.id {_UNREAD} ORDER BY n.id"
UNREAD_TEXTS = f"""
    SELECT n.id, n.key, n.title, n.content, n.language, r.id, r.audience_id,
           r.occurred_at, md5(n.title || chr(1) || n.content), x.record_id,
           x.audience_id, a.proposed::text
    {_UNREAD} AND n.id = ANY(%(ids)s) ORDER BY n.id
"""
# A text that is no longer there to be read, as it was when it was. What is in the
# trash may come back as it was: what it said is taken back when that is emptied.
VANISHED_TEXTS = """
    SELECT x.id, n.key, x.record_id
      FROM graph_extracted_texts x JOIN graph_nodes n ON n.id = x.node_id
     WHERE x.tenant_id = %s AND x.project_id = %s
       AND (n.valid_to IS NOT NULL OR n.gone_at IS NOT NULL)
"""
EVIDENCE_OF_TEXTS = """
    SELECT v.id, v.part, v.node_id, v.edge_id, e.source_id, e.relation, e.target_id,
           v.quote, v.start, v."end"
      FROM graph_evidence v LEFT JOIN graph_edges e ON e.id = v.edge_id
     WHERE v.tenant_id = %s AND v.project_id = %s AND v.record_id = ANY(%s)
       AND v.kind = 'derived' AND v.part = ANY(%s)
"""
# Where the words of a node stand in the body of its record.
PLACES_OF_TEXTS = """
    SELECT v.node_id, v.start FROM graph_evidence v
     WHERE v.tenant_id = %s AND v.project_id = %s AND v.record_id = ANY(%s)
       AND v.node_id = ANY(%s) AND v.kind = 'said' AND v.start IS NOT NULL
"""
NODES_NAMED = """
    SELECT n.key, n.id, n.node_type, n.origin FROM graph_nodes n
     WHERE n.tenant_id = %s AND n.project_id = %s AND n.key = ANY(%s)
"""
PRUNED = """
    SELECT t.key FROM graph_tombstones t
     WHERE t.tenant_id = %s AND t.project_id = %s AND t.key = ANY(%s)
"""
OWN_NAMES = """
    SELECT n.key, n.node_type, n.title FROM graph_nodes n
     WHERE n.tenant_id = %s AND n.project_id = %s AND n.node_type = ANY(%s)
       AND n.origin <> ALL(%s) AND n.valid_to IS NULL AND n.trashed_at IS NULL
     ORDER BY n.key COLLATE "C"
"""
# What is named again lives, is as new as its newest text, and is seen by more people.
MEET_NODES = """
    UPDATE graph_nodes n
       SET valid_to = NULL, updated_at = now(), audience_id = d.audience_id,
           last_evidence_at = greatest(n.last_evidence_at, d.latest),
           occurred_at = CASE WHEN d.is_claim THEN least(n.occurred_at, d.first) END
      FROM unnest(%s::bigint[], %s::bigint[], %s::timestamptz[], %s::timestamptz[],
                  %s::boolean[]) AS d (id, audience_id, first, latest, is_claim)
     WHERE n.id = d.id AND n.origin = 'extraction'
       AND (n.valid_to IS NOT NULL OR n.audience_id <> d.audience_id
            OR greatest(n.last_evidence_at, d.latest)
               IS DISTINCT FROM n.last_evidence_at
            OR d.is_claim AND least(n.occurred_at, d.first)
               IS DISTINCT FROM n.occurred_at)
"""
AUDIENCES_OF_NAMED = """
    SELECT n.id, CASE WHEN n.valid_to IS NULL THEN n.audience_id END
      FROM graph_nodes n WHERE n.id = ANY(%s) AND n.origin = 'extraction'
"""
SETTLE_NODES = """
    SELECT n.id, count(v.id), max(r.occurred_at), min(r.occurred_at),
           array_agg(DISTINCT r.audience_id) FILTER (WHERE r.id IS NOT NULL)
      FROM graph_nodes n
      LEFT JOIN graph_evidence v ON v.tenant_id = n.tenant_id
       AND v.project_id = n.project_id AND v.node_id = n.id
      LEFT JOIN graph_records r ON r.id = v.record_id
     WHERE n.id = ANY(%s) AND n.origin = 'extraction'
     GROUP BY n.id
"""
DESCRIBE_NODES = """
    UPDATE graph_nodes n
       SET audience_id = d.audience_id, last_evidence_at = d.latest, updated_at = now(),
           occurred_at = CASE WHEN n.occurred_at IS NULL THEN NULL ELSE d.first END
      FROM unnest(%s::bigint[], %s::bigint[], %s::timestamptz[], %s::timestamptz[])
           AS d (id, audience_id, first, latest)
     WHERE n.id = d.id
       AND ((n.audience_id, n.last_evidence_at)
            IS DISTINCT FROM (d.audience_id, d.latest)
            OR n.occurred_at IS NOT NULL AND n.occurred_at IS DISTINCT FROM d.first)
"""
END_NODES_NAMED = """
    UPDATE graph_nodes n SET valid_to = now(), updated_at = now()
     WHERE n.id = ANY(%s) AND n.valid_to IS NULL
"""
# What lost its record, and with it its evidence: erased, or of a source that is gone.
END_BARE_EDGES = """
    UPDATE graph_edges e SET valid_to = now()
     WHERE e.tenant_id = %s AND e.project_id = %s AND e.origin = 'extraction'
       AND e.valid_to IS NULL
       AND NOT EXISTS (SELECT 1 FROM graph_evidence v
                        WHERE v.tenant_id = e.tenant_id
                          AND v.project_id = e.project_id AND v.edge_id = e.id)
"""
END_BARE_NODES = """
    UPDATE graph_nodes n SET valid_to = now(), updated_at = now()
     WHERE n.tenant_id = %s AND n.project_id = %s AND n.origin = 'extraction'
       AND n.node_type = ANY(%s) AND n.valid_to IS NULL
       AND NOT EXISTS (SELECT 1 FROM graph_evidence v
                        WHERE v.tenant_id = n.tenant_id
                          AND v.project_id = n.project_id AND v.node_id = n.id)
"""
REMEMBER = """
    UPDATE graph_extracted_texts x
       SET record_id = d.record_id, audience_id = d.audience_id, words = d.words,
           extractor = d.extractor
      FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::text[], %s::text[])
           AS d (node_id, record_id, audience_id, words, extractor)
     WHERE x.tenant_id = %s AND x.project_id = %s AND x.node_id = d.node_id
"""
# An answer about words that no text holds any more is forgotten with them.
FORGET_ANSWERS = """
    DELETE FROM graph_extraction_answers a
     WHERE a.tenant_id = %s AND a.project_id = %s
       AND NOT EXISTS (SELECT 1 FROM graph_extracted_texts x
                        WHERE x.tenant_id = a.tenant_id
                          AND x.project_id = a.project_id AND x.words = a.words)
"""
# Texts a model has not been asked about, each words once; the shortest say nothing.
UNASKED = """
    SELECT DISTINCT ON (x.words) x.words, n.title, n.content
      FROM graph_extracted_texts x JOIN graph_nodes n ON n.id = x.node_id
     WHERE x.tenant_id = %(tenant)s AND x.project_id = %(project)s
       AND length(n.content) >= %(least)s
       AND x.words = md5(n.title || chr(1) || n.content)
       AND NOT EXISTS (SELECT 1 FROM graph_extraction_answers a
                        WHERE a.tenant_id = x.tenant_id AND a.project_id = x.project_id
                          AND a.asked = %(asked)s AND a.words = x.words)
     ORDER BY x.words
"""
