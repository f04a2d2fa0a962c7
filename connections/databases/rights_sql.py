"""What PostgreSQL and MySQL are asked about themselves and about a login."""

from __future__ import annotations

# --- PostgreSQL ----------------------------------------------------------------------

SAID = """
    SELECT coalesce(current_schema()::text, ''),
           current_setting('standard_conforming_strings'),
           current_setting('is_superuser'),
           current_setting('server_encoding')
"""
# What is given to a role that the login is a member of counts, inherited or not: it
# may become that role.
ROLES = """
    SELECT r.rolname::text, r.rolname = current_user, r.rolsuper, r.rolcreatedb,
           r.rolcreaterole, r.rolreplication, r.rolbypassrls
      FROM pg_catalog.pg_roles r
     WHERE r.rolname = current_user
        OR pg_catalog.pg_has_role(current_user, r.oid, 'MEMBER')
     ORDER BY r.rolname <> current_user, r.rolname
"""
_MINE = """
    mine (oid) AS (
        SELECT r.oid FROM pg_catalog.pg_roles r
         WHERE pg_catalog.pg_has_role(current_user, r.oid, 'MEMBER')
        UNION ALL SELECT 0::oid
    )
"""
_OURS = "n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'"
ON_TABLES = f"""
    WITH {_MINE}, given (name, kind, right_to) AS (
        SELECT n.nspname || '.' || c.relname, c.relkind, a.privilege_type
          FROM pg_catalog.pg_class c
          JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
         CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) a
          JOIN mine ON mine.oid = a.grantee
         WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND {_OURS}
        UNION
        SELECT n.nspname || '.' || c.relname, c.relkind, a.privilege_type
          FROM pg_catalog.pg_attribute t
          JOIN pg_catalog.pg_class c ON c.oid = t.attrelid
          JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
         CROSS JOIN LATERAL pg_catalog.aclexplode(t.attacl) a
          JOIN mine ON mine.oid = a.grantee
         WHERE t.attacl IS NOT NULL AND NOT t.attisdropped AND {_OURS}
    )
    SELECT given.right_to, given.name FROM given
     WHERE given.right_to <> 'SELECT'
     ORDER BY given.right_to, given.name
"""  # noqa: S608 - constants
OWNED = f"""
    WITH {_MINE}
    SELECT 'table', n.nspname || '.' || c.relname
      FROM pg_catalog.pg_class c
      JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      JOIN mine ON mine.oid = c.relowner
     WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND {_OURS}
    UNION ALL
    SELECT 'schema', n.nspname::text
      FROM pg_catalog.pg_namespace n JOIN mine ON mine.oid = n.nspowner WHERE {_OURS}
    UNION ALL
    SELECT 'database', d.datname::text
      FROM pg_catalog.pg_database d JOIN mine ON mine.oid = d.datdba
     WHERE d.datname = current_database()
    UNION ALL
    SELECT 'function', n.nspname || '.' || p.proname
      FROM pg_catalog.pg_proc p
      JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
      JOIN mine ON mine.oid = p.proowner WHERE {_OURS}
     ORDER BY 1, 2
"""  # noqa: S608 - constants
MAY_CREATE = f"""
    WITH {_MINE}
    SELECT DISTINCT 'schema', n.nspname::text, a.privilege_type
      FROM pg_catalog.pg_namespace n
     CROSS JOIN LATERAL pg_catalog.aclexplode(n.nspacl) a
      JOIN mine ON mine.oid = a.grantee
     WHERE a.privilege_type = 'CREATE' AND {_OURS}
    UNION ALL
    SELECT DISTINCT 'database', d.datname::text, a.privilege_type
      FROM pg_catalog.pg_database d
     CROSS JOIN LATERAL pg_catalog.aclexplode(
         coalesce(d.datacl, pg_catalog.acldefault('d', d.datdba))) a
      JOIN mine ON mine.oid = a.grantee
     WHERE a.privilege_type IN ('CREATE', 'TEMPORARY')
       AND d.datname = current_database()
     ORDER BY 1, 2, 3
"""  # noqa: S608 - constants
# Functions that run with their owner's rights, those of dblink, and the server's own
# that only superusers may call until somebody gives them away.
MAY_CALL = f"""
    WITH {_MINE}
    SELECT 'definer', n.nspname || '.' || p.proname
      FROM pg_catalog.pg_proc p
      JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
     WHERE p.prosecdef AND {_OURS}
       AND pg_catalog.has_function_privilege(p.oid, 'EXECUTE')
    UNION
    SELECT 'dblink', n.nspname || '.' || p.proname
      FROM pg_catalog.pg_proc p
      JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
      JOIN pg_catalog.pg_depend d ON d.objid = p.oid AND d.deptype = 'e'
       AND d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass
      JOIN pg_catalog.pg_extension e ON e.oid = d.refobjid AND e.extname = 'dblink'
     WHERE pg_catalog.has_function_privilege(p.oid, 'EXECUTE')
    UNION
    SELECT 'guarded', p.proname::text
      FROM pg_catalog.pg_proc p
     CROSS JOIN LATERAL pg_catalog.aclexplode(p.proacl) a
      JOIN mine ON mine.oid = a.grantee AND mine.oid <> 0
     WHERE p.pronamespace = 'pg_catalog'::pg_catalog.regnamespace
       AND a.privilege_type = 'EXECUTE' AND a.grantee <> p.proowner
       AND NOT EXISTS (
           SELECT 1 FROM pg_catalog.pg_roles r
            WHERE r.oid = a.grantee AND r.rolname LIKE 'pg\\_%')
     ORDER BY 1, 2
"""  # noqa: S608 - constants
SERVERS = """
    SELECT s.srvname::text FROM pg_catalog.pg_foreign_server s
     WHERE pg_catalog.has_server_privilege(s.oid, 'USAGE') ORDER BY 1
"""

# --- MySQL and MariaDB ---------------------------------------------------------------

MYSQL_SAID = "SELECT coalesce(DATABASE(), ''), @@SESSION.sql_mode, @@version"
MYSQL_GRANTS = "SHOW GRANTS"
MYSQL_ROLE_GRANTS = "SHOW GRANTS FOR CURRENT_USER() USING {role}"
MARIA_ROLE = "SELECT CURRENT_ROLE()"
MARIA_SET_ROLE = "SET ROLE {role}"
MYSQL_CIPHER = "SHOW SESSION STATUS LIKE 'Ssl_cipher'"
MYSQL_LOGIN = "SELECT CURRENT_USER()"
