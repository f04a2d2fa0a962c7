"""SQL of storing a snapshot: text only, one caller each."""

# As one JSON value: thousands of rows as placeholders cost seconds of parsing alone.
UPSERT_COLUMNS = """
    INSERT INTO database_columns (table_id, name, position, data_type, family, nullable,
           comment, is_key, exposure, is_chosen, values, values_complete, gone_at)
    SELECT r.table_id, r.name, r.position, r.data_type, r.family, r.nullable,
           r.comment, r.is_key, r.exposure, r.is_chosen, r."values",
           r.values_complete, r.gone_at
      FROM jsonb_to_recordset(%s::jsonb) AS r (
           table_id bigint, name text, position integer, data_type text, family text,
           nullable boolean, comment text, is_key boolean, exposure text,
           is_chosen boolean, "values" text[], values_complete boolean,
           gone_at timestamptz)
        ON CONFLICT (table_id, name) DO UPDATE
       SET position = excluded.position, data_type = excluded.data_type,
           family = excluded.family, nullable = excluded.nullable,
           comment = excluded.comment, is_key = excluded.is_key,
           exposure = excluded.exposure, values = excluded.values,
           values_complete = excluded.values_complete, gone_at = excluded.gone_at
"""
