"""Statements that the runner sends besides the one that was asked for."""

# All in one: it takes a snapshot, after which nothing makes the transaction writable.
# A database without an encoding refuses to send as UTF-8 what is none.
POSTGRES_SEAL = """
    SELECT current_setting('is_superuser') = 'on',
           set_config('default_transaction_read_only', 'on', false),
           set_config('search_path', %(path)s, true),
           set_config('statement_timeout', %(statement)s, true),
           set_config('lock_timeout', %(lock)s, true),
           set_config('idle_in_transaction_session_timeout', %(statement)s, true),
           set_config('work_mem', '32MB', true),
           set_config('max_parallel_workers_per_gather', '2', true),
           set_config('client_encoding', CASE current_setting('server_encoding')
               WHEN 'SQL_ASCII' THEN 'SQL_ASCII' ELSE 'UTF8' END, true),
           set_config('standard_conforming_strings', 'on', true),
           set_config('DateStyle', 'ISO', true),
           set_config('IntervalStyle', 'postgres', true),
           set_config('bytea_output', 'hex', true),
           set_config('extra_float_digits', '1', true)
"""
# Each is of newer versions only: the whole transaction's time, and a look every second
# whether the client is still there, which ends the statement of a process killed.
POSTGRES_SEAL_NEWER = (
    (14_00_00, "SELECT set_config('client_connection_check_interval', '1s', true)"),
    (17_00_00, "SELECT set_config('transaction_timeout', %(statement)s, true)"),
)
POSTGRES_BEGIN = "BEGIN TRANSACTION READ ONLY"
POSTGRES_FETCH = "FETCH FORWARD %s FROM fabric_rows"
POSTGRES_EXPLAIN = "EXPLAIN (FORMAT JSON) "

MYSQL_SEAL = (
    "SET SESSION sql_mode = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,"
    "NO_ENGINE_SUBSTITUTION'",
    "SET SESSION lock_wait_timeout = %(lock)s",
    "SET SESSION innodb_lock_wait_timeout = %(lock)s",
    # Of a process killed, the server's side ends by itself.
    "SET SESSION wait_timeout = 60",
    "SET SESSION net_write_timeout = 20",
)
MYSQL_MODE_GROUPS = (
    "SET SESSION sql_mode = CONCAT(@@SESSION.sql_mode, ',ONLY_FULL_GROUP_BY')"
)
MARIADB_TIMEOUT = "SET SESSION max_statement_time = %(seconds)s"
MYSQL_TIMEOUT = "SET SESSION max_execution_time = %(milliseconds)s"
# The session's too: what ends the transaction finds the next one read only as well.
MYSQL_BEGIN = (
    "SET SESSION TRANSACTION READ ONLY",
    "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
)
MYSQL_SELF = """
    SELECT CONNECTION_ID(), EXISTS (
        SELECT 1 FROM information_schema.USER_PRIVILEGES held
         WHERE held.PRIVILEGE_TYPE = 'SUPER'
           AND held.GRANTEE = CONCAT(
               QUOTE(SUBSTRING_INDEX(CURRENT_USER(), '@', 1)), '@',
               QUOTE(SUBSTRING_INDEX(CURRENT_USER(), '@', -1))))
"""
# Only a query fits between the parentheses: no SET, DO, CALL, HANDLER, DDL, and no
# SELECT that writes a file or a variable, all of which a read-only transaction lets by.
# EXPLAIN runs nothing.
MYSQL_PROBE = "EXPLAIN SELECT EXISTS (", "\n)"
MYSQL_EXPLAIN = "EXPLAIN "
MYSQL_KILL = "KILL %(thread)s"
