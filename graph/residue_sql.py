"""SQL of reading the whole database: text only, one caller each."""

COLUMNS = """
    SELECT c.oid::bigint, s.nspname, c.relname, a.attname, y.typname
      FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
       AND NOT a.attisdropped
      JOIN pg_type y ON y.oid = a.atttypid
     WHERE c.relkind IN ('r', 'p', 'm') AND NOT c.relispartition
       AND NOT starts_with(s.nspname, 'pg_') AND s.nspname <> 'information_schema'
       AND has_table_privilege(c.oid, 'SELECT')
     ORDER BY s.nspname, c.relname, a.attnum
"""
# Foreign keys of one column; the composite ones of the graph carry their project.
KEYS = """
    SELECT k.conrelid::bigint, a.attname, k.confrelid::bigint, b.attname
      FROM pg_constraint k
      JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
      JOIN pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = k.confkey[1]
     WHERE k.contype = 'f' AND cardinality(k.conkey) = 1
     ORDER BY k.conrelid, a.attnum
"""
# What a column may hold, and whether it is part of what must be unique.
TEXT_COLUMNS = """
    SELECT a.attname, y.typname,
           CASE WHEN y.typname = 'varchar' AND a.atttypmod > 4
                THEN a.atttypmod - 4 END
      FROM pg_attribute a JOIN pg_type y ON y.oid = a.atttypid
     WHERE a.attrelid = %s AND a.attnum > 0 AND NOT a.attisdropped
       AND a.attgenerated = ''
       AND y.typname IN ('text', 'varchar', 'jsonb', '_text', '_varchar')
       AND NOT EXISTS (SELECT 1 FROM pg_index i
                        WHERE i.indrelid = a.attrelid AND i.indisunique
                          AND a.attnum = ANY(i.indkey))
     ORDER BY a.attnum
"""
