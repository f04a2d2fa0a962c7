"""An index of the names that a question may call a thing by.

`graph_nodes_title_trigram` alone reads every title that shares half a word with the
question (3 ms a word at 200,000 nodes, most of it subjects of mails). Few nodes are
named outright, so that an index of their names answers in a tenth of that, and one of
the trigrams of their titles is left with the words that no text knows. Names begin
with their project: a tenant is not slowed by the namesakes of another's people.
"""

from django.db import migrations

PLAIN_NAME = """
CREATE FUNCTION retrieval_plain_name(said text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN btrim(regexp_replace(lower(left(said, 200)), '[^[:alnum:]]+', ' ', 'g'))
"""
# One expression each, so that the planner puts it in place of the call: a call costs
# fifty times as much.
HINT_NAMES = r"""
CREATE FUNCTION retrieval_hint_names(project bigint, node_type text, title text)
RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE node_type
    WHEN 'person' THEN ARRAY[
        project || ':' || retrieval_plain_name(title),
        project || ':' || split_part(retrieval_plain_name(title), ' ', 1),
        project || ':' || split_part(retrieval_plain_name(title), ' ', -1)]
    WHEN 'domain' THEN ARRAY[
        project || ':' || retrieval_plain_name(title),
        project || ':' || split_part(retrieval_plain_name(title), ' ', 1)]
    WHEN 'pattern' THEN ARRAY[
        project || ':' || retrieval_plain_name(title),
        project || ':' || split_part(retrieval_plain_name(title), ' ', -1)]
    WHEN 'file' THEN ARRAY[
        project || ':' || retrieval_plain_name(title),
        project || ':' || retrieval_plain_name(
            regexp_replace(title, '\.[[:alnum:]]{1,5}$', ''))]
    ELSE ARRAY[project || ':' || retrieval_plain_name(title)] END
"""
HINTED = """
 WHERE node_type IN ('agent', 'channel', 'domain', 'file', 'meeting', 'pattern',
                     'person', 'technology', 'topic')
"""
BY_NAME = f"""
CREATE INDEX retrieval_hint_names ON graph_nodes USING gin (
    retrieval_hint_names(project_id, node_type::text, title)) {HINTED}
"""
BY_TRIGRAM = f"""
CREATE INDEX retrieval_hint_titles ON graph_nodes USING gin (title gin_trgm_ops)
{HINTED}
"""


class Migration(migrations.Migration):
    dependencies = [
        ("graph", "0008_metadata_words"),
        ("retrieval", "0003_community_integrity"),
    ]

    operations = [
        migrations.RunSQL(
            PLAIN_NAME, "DROP FUNCTION IF EXISTS retrieval_plain_name(text)"
        ),
        migrations.RunSQL(
            HINT_NAMES,
            "DROP FUNCTION IF EXISTS retrieval_hint_names(bigint, text, text)",
        ),
        migrations.RunSQL(BY_NAME, "DROP INDEX IF EXISTS retrieval_hint_names"),
        migrations.RunSQL(BY_TRIGRAM, "DROP INDEX IF EXISTS retrieval_hint_titles"),
    ]
