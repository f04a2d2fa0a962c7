"""What the bootstrap superuser runs, once; every statement may run again."""

from __future__ import annotations

ROLE_EXISTS = "SELECT 1 FROM pg_roles WHERE rolname = %s"
CREATE_ROLE = "CREATE ROLE {role} LOGIN"
SET_ROLE = """
    ALTER ROLE {role} WITH LOGIN NOSUPERUSER NOCREATEROLE NOREPLICATION NOBYPASSRLS
    {createdb} PASSWORD {password}
"""
READ_ONLY = "ALTER ROLE {role} SET default_transaction_read_only = on"

DATABASE_EXISTS = "SELECT 1 FROM pg_database WHERE datname = %s"
CREATE_DATABASE = "CREATE DATABASE {database} OWNER {owner} TEMPLATE {template}"
CLOSE_DATABASE = "REVOKE ALL ON DATABASE {database} FROM PUBLIC"
OPEN_DATABASE = "GRANT CONNECT ON DATABASE {database} TO {role}"
# Temporary tables: ingest compares what a run saw through a scratch table.
SCRATCH = "GRANT TEMPORARY ON DATABASE {database} TO {role}"

CREATE_EXTENSION = "CREATE EXTENSION IF NOT EXISTS {extension}"
UPDATE_EXTENSION = "ALTER EXTENSION {extension} UPDATE"
NO_DDL = "REVOKE CREATE ON SCHEMA public FROM PUBLIC, {app}, {reader}"
USE_SCHEMA = "GRANT USAGE ON SCHEMA public TO {app}, {reader}"
# What the owner's migrations make is the application's to read and write.
ON_TABLES = """
    ALTER DEFAULT PRIVILEGES FOR ROLE {owner} IN SCHEMA public
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {app}
"""
ON_SEQUENCES = """
    ALTER DEFAULT PRIVILEGES FOR ROLE {owner} IN SCHEMA public
    GRANT USAGE ON SEQUENCES TO {app}
"""
ON_FUNCTIONS = """
    ALTER DEFAULT PRIVILEGES FOR ROLE {owner} IN SCHEMA public
    GRANT EXECUTE ON FUNCTIONS TO {app}
"""
SCHEMA_RIGHTS = (NO_DDL, USE_SCHEMA, ON_TABLES, ON_SEQUENCES, ON_FUNCTIONS)
