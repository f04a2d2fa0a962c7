"""SQL of rotating keys: text only, one caller each; names are those of a model."""

WAITING = """
    SELECT stored.{key}, stored.tenant_id, stored.{column} FROM {table} stored
     WHERE split_part(stored.{column}, ':', 1) <> {newest}
       AND ({after}::uuid IS NULL OR stored.{key} > {after}::uuid)
     ORDER BY stored.{key} LIMIT {limit}
"""

# A secret that was entered since it was read stays as it is.
REPLACE = """
    UPDATE {table} AS stored SET {column} = {anew}
     WHERE stored.{key} = {row} AND stored.{column} = {sealed}
"""
