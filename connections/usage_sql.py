"""SQL of counting what models cost: text only, one caller each."""

ADD = """
    INSERT INTO model_usage AS kept (
        tenant_id, project_id, day, provider, model, purpose,
        requests, failed, tokens_read, tokens_written, estimated, updated_at)
    VALUES (%(tenant)s, %(project)s, %(day)s, %(provider)s, %(model)s, %(purpose)s,
            1, %(failed)s, %(read)s, %(written)s, %(estimated)s, now())
    ON CONFLICT (project_id, day, provider, model, purpose) DO UPDATE
       SET requests = kept.requests + 1,
           failed = kept.failed + EXCLUDED.failed,
           tokens_read = kept.tokens_read + EXCLUDED.tokens_read,
           tokens_written = kept.tokens_written + EXCLUDED.tokens_written,
           estimated = kept.estimated + EXCLUDED.estimated,
           updated_at = EXCLUDED.updated_at
"""

SPENT = """
    SELECT coalesce(sum(used.tokens_read + used.tokens_written), 0)
      FROM model_usage used
     WHERE used.project_id = %(project)s AND used.day = %(day)s
"""
