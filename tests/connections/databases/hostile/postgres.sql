-- Statements that must never run, one a line: postgres. See hostile.py.

-- writes
WITH d AS (DELETE FROM customers RETURNING *) SELECT * FROM d
WITH d AS (DELETE FROM customers RETURNING id) SELECT id FROM d
WITH u AS (UPDATE customers SET name = 'x' RETURNING id) SELECT id FROM u
WITH i AS (INSERT INTO orders VALUES (9, 9, 9, now()) RETURNING id) SELECT id FROM i
WITH a AS (SELECT 1), d AS (DELETE FROM orders RETURNING id) SELECT * FROM a
SELECT * FROM (WITH d AS (DELETE FROM orders RETURNING id) SELECT id FROM d) q
MERGE INTO customers c USING orders o ON c.id = o.id WHEN MATCHED THEN DELETE
SELECT * INTO stolen FROM customers
SELECT id INTO TEMP stolen FROM customers
SELECT id INTO UNLOGGED stolen FROM customers
WITH q AS (SELECT 1 AS a) SELECT a INTO stolen FROM q
COPY customers TO STDOUT
COPY customers TO '/tmp/x'
COPY customers FROM '/etc/passwd'
COPY (SELECT 1) TO PROGRAM 'id'
COPY customers FROM PROGRAM 'id'
DO $$ BEGIN PERFORM 1; END $$
DO 'BEGIN DELETE FROM customers; END'
VACUUM
REINDEX TABLE customers
CLUSTER customers
LISTEN a
NOTIFY a, 'b'
UNLISTEN *
LOCK TABLE customers IN ACCESS EXCLUSIVE MODE
DISCARD ALL
CHECKPOINT
LOAD 'x'
SECURITY LABEL ON TABLE customers IS 'x'
COMMENT ON TABLE customers IS 'x'
REFRESH MATERIALIZED VIEW v
CREATE EXTENSION dblink
CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'
CREATE ROLE r SUPERUSER
ALTER ROLE CURRENT_USER SUPERUSER
ALTER USER CURRENT_USER PASSWORD 'x'
ALTER SYSTEM SET log_statement = 'all'
ALTER DATABASE postgres SET search_path = 'x'
SET ROLE postgres
SET SESSION AUTHORIZATION postgres
SET statement_timeout = 0
SET LOCAL statement_timeout = 0
DECLARE c CURSOR FOR SELECT 1
FETCH ALL FROM c
MOVE ALL FROM c
CLOSE ALL
IMPORT FOREIGN SCHEMA a FROM SERVER b INTO c
VALUES (1), (2)
TABLE secrets
TABLE pg_shadow
TABLE customers FOR UPDATE
EXPLAIN (ANALYZE, BUFFERS) DELETE FROM orders
SHOW ALL
SHOW config_file

-- locks
SELECT id FROM customers FOR NO KEY UPDATE
SELECT id FROM customers FOR KEY SHARE
SELECT id FROM customers c FOR UPDATE OF c
SELECT pg_advisory_lock(1)
SELECT pg_try_advisory_lock(1)
SELECT pg_advisory_xact_lock(1, 2)
SELECT pg_advisory_unlock_all()
SELECT pg_advisory_lock_shared(1)

-- functions
SELECT pg_read_file('/etc/passwd')
SELECT pg_catalog.pg_read_file('/etc/passwd')
SELECT "pg_read_file"('/etc/passwd')
SELECT PG_READ_FILE('/etc/passwd')
SELECT "pg_catalog"."pg_read_file"('/etc/passwd')
SELECT pg_read_file /* x */ ('/etc/passwd')
SELECT length(pg_read_file('/etc/passwd'))
SELECT id FROM customers WHERE pg_read_file('/etc/passwd') LIKE 'root%'
SELECT id FROM customers ORDER BY pg_sleep(1)
SELECT id FROM customers GROUP BY id, pg_sleep(1)
SELECT id FROM customers LIMIT pg_sleep(1)
SELECT f FROM pg_ls_dir('/') f
SELECT * FROM pg_ls_dir('/') AS f(name)
SELECT * FROM customers, LATERAL pg_ls_dir('/') f
SELECT * FROM customers c LEFT JOIN LATERAL pg_ls_dir('/') f ON true
SELECT * FROM ROWS FROM (pg_ls_dir('/')) AS f
SELECT * FROM pg_stat_file('/etc/passwd')
SELECT pg_read_binary_file('/etc/passwd')
SELECT pg_ls_logdir()
SELECT pg_ls_waldir()
SELECT pg_ls_tmpdir()
SELECT pg_sleep(60)
SELECT pg_sleep_for('1 minute')
SELECT pg_sleep_until('2099-01-01')
SELECT CASE WHEN (SELECT count(*) FROM orders) > 0 THEN pg_sleep(9) END
SELECT count(*) FILTER (WHERE pg_sleep(1) IS NULL) FROM orders
SELECT sum(id) OVER (ORDER BY pg_sleep(1)) FROM orders
SELECT lo_import('/etc/passwd')
SELECT lo_export(1, '/tmp/x')
SELECT lo_get(1)
SELECT lo_create(0)
SELECT lo_creat(-1)
SELECT lo_unlink(1)
SELECT lo_from_bytea(0, '')
SELECT lo_put(1, 0, '')
SELECT loread(lo_open(1, 1), 10)
SELECT dblink('host=127.0.0.1', 'SELECT 1')
SELECT dblink_connect('host=127.0.0.1 user=postgres')
SELECT dblink_exec('dbname=x', 'DELETE FROM customers')
SELECT * FROM dblink('dbname=x', 'SELECT token FROM secrets') AS t(token text)
SELECT dblink_send_query('a', 'b')
SELECT query_to_xml('SELECT * FROM secrets', true, true, '')
SELECT query_to_xml('DELETE FROM orders', true, true, '')
SELECT table_to_xml('secrets', true, true, '')
SELECT schema_to_xml('public', true, true, '')
SELECT database_to_xml(true, true, '')
SELECT cursor_to_xml('c', 1, true, true, '')
SELECT query_to_xml_and_xmlschema('SELECT 1', true, true, '')
SELECT xpath('/a', '<a/>')
SELECT xmlparse(document '<a/>')
SELECT ts_stat('SELECT token FROM secrets')
SELECT * FROM ts_stat('SELECT to_tsvector(token) FROM secrets')
SELECT ts_rewrite('a', 'SELECT token FROM secrets')
SELECT set_config('statement_timeout', '0', false)
SELECT set_config('search_path', 'x', true)
SELECT set_config('role', 'postgres', false)
SELECT current_setting('data_directory')
SELECT current_setting('is_superuser')
SELECT pg_notify('a', 'b')
SELECT pg_terminate_backend(pg_backend_pid())
SELECT pg_cancel_backend(1)
SELECT pg_reload_conf()
SELECT pg_rotate_logfile()
SELECT pg_switch_wal()
SELECT pg_create_restore_point('x')
SELECT pg_export_snapshot()
SELECT pg_logical_emit_message(true, 'a', 'b')
SELECT pg_create_logical_replication_slot('a', 'pgoutput')
SELECT pg_drop_replication_slot('a')
SELECT pg_import_system_collations('public')
SELECT pg_stat_reset()
SELECT pg_get_viewdef('v')
SELECT pg_get_functiondef(1)
SELECT pg_relation_filepath('customers')
SELECT pg_table_size('secrets')
SELECT pg_relation_size('secrets')
SELECT has_table_privilege('secrets', 'select')
SELECT has_column_privilege('customers', 'password', 'select')
SELECT col_description(1, 1)
SELECT obj_description(1)
SELECT to_regclass('secrets')
SELECT nextval('s')
SELECT setval('s', 1)
SELECT currval('s')
SELECT lastval()
SELECT txid_current()
SELECT pg_current_xact_id()
SELECT inet_server_addr()
SELECT inet_client_addr()
SELECT version()
SELECT "version"()
SELECT pg_catalog.version()
SELECT current_user
SELECT session_user
SELECT user
SELECT current_role
SELECT current_catalog
SELECT current_database()
SELECT current_schema
SELECT current_schemas(true)
SELECT system_user
SELECT pg_backend_pid()
SELECT pg_postmaster_start_time()
SELECT pg_conf_load_time()
SELECT pg_my_temp_schema()
SELECT pg_column_size(c) FROM customers c
SELECT pg_typeof(1)
SELECT leak()
SELECT public.leak()
SELECT "leak"()
SELECT * FROM leak()
SELECT * FROM public.leak() AS l
SELECT c.leak_row FROM customers c
SELECT leak_row(c) FROM customers c
SELECT (c).leak_row FROM customers c
SELECT wipe()
SELECT * FROM wipe() w
SELECT convert_from('a', 'UTF8')
SELECT decode('YQ==', 'base64')
SELECT encode('a', 'hex')
SELECT setseed(0.5)
SELECT gen_random_uuid()
SELECT pg_size_pretty(1)
SELECT brin_summarize_new_values('i')
SELECT gin_clean_pending_list('i')
SELECT 1 OPERATOR(pg_catalog.+) 1
SELECT name OPERATOR(public.~~~) 'a' FROM customers
SELECT json_populate_record(NULL::customers, '{}')
SELECT * FROM json_to_recordset('[]') AS x(a int)
SELECT * FROM json_populate_recordset(NULL::customers, '[]')
SELECT "Lower"('A')
SELECT "COUNT"(*) FROM customers
SELECT crosstab('SELECT token, 1, 1 FROM secrets')
SELECT * FROM crosstab('SELECT 1') AS t(a int)
SELECT xmlelement(name a)

-- casts
SELECT 'secrets'::regclass
SELECT CAST('secrets' AS regclass)
SELECT regclass 'secrets'
SELECT 'postgres'::regrole
SELECT 'pg_sleep'::regproc
SELECT 'public'::regnamespace
SELECT 1::oid
SELECT '<a/>'::xml
SELECT c::text FROM customers c
SELECT CAST(c AS text) FROM customers c
SELECT (c.*)::text FROM customers c
SELECT 'a'::name
SELECT NULL::customers
SELECT (NULL::customers).password
SELECT NULL::public.customers
SELECT '\x00'::bytea
SELECT 'a'::char(1000000000)
SELECT '{1}'::regclass[]
SELECT 'a'::tsvector
SELECT '1'::pg_lsn
SELECT 'a'::"char"

-- whole rows
SELECT row_to_json(c) FROM customers c
SELECT to_json(c) FROM customers c
SELECT to_jsonb(c) FROM customers c
SELECT json_agg(c) FROM customers c
SELECT array_agg(c) FROM customers c
SELECT jsonb_agg(customers) FROM customers
SELECT row_to_json(customers.*) FROM customers
SELECT to_jsonb(c.*) FROM customers c
SELECT ROW(c.*) FROM customers c
SELECT ARRAY[c] FROM customers c
SELECT (c.*) FROM customers c
SELECT (SELECT c FROM customers c LIMIT 1)
SELECT (SELECT row_to_json(q) FROM (SELECT * FROM secrets) q)
SELECT q FROM (SELECT id FROM customers) q
SELECT row_to_json(q) FROM (SELECT id FROM customers) q
SELECT json_build_object('a', c) FROM customers c
SELECT c.ctid FROM customers c
SELECT ctid FROM customers
SELECT xmin FROM customers
SELECT tableoid FROM customers
SELECT cmax FROM customers
SELECT tableoid::regclass FROM customers
SELECT c.name.x FROM customers c
SELECT name(c) FROM customers c
SELECT password(c) FROM customers c
SELECT customers.password(c) FROM customers c
SELECT c.length FROM customers c
SELECT c IS DISTINCT FROM NULL FROM customers c
SELECT max(c::text) FROM customers c
SELECT unnest(ARRAY[c]) FROM customers c
SELECT string_agg(c::text, ',') FROM customers c
SELECT jsonb_each(to_jsonb(c)) FROM customers c
SELECT DISTINCT ON (c) id FROM customers c
SELECT u.f FROM customers u(a, b, c, d, e, f)
SELECT f FROM customers AS u(a, b, c, d, e, f, g)
SELECT a FROM customers u(a)

-- hidden
SELECT id FROM ONLY customers WHERE password = 'x'
SELECT id FROM ONLY secrets
SELECT id FROM secrets TABLESAMPLE SYSTEM (100)
SELECT id FROM customers TABLESAMPLE SYSTEM (100)
SELECT "password" FROM customers
SELECT "customers"."password" FROM "customers"
SELECT public.customers.password FROM public.customers
SELECT id FROM customers NATURAL JOIN (SELECT 'x' AS password) p
SELECT id FROM customers JOIN (SELECT 'x' AS password) p USING (password)
SELECT DISTINCT ON (password) id FROM customers
SELECT array(SELECT password FROM customers)
SELECT ARRAY(SELECT token FROM secrets)
SELECT id FROM customers WHERE 'x' = ANY (SELECT password FROM customers)
SELECT id FROM customers WHERE 'x' = ALL (SELECT token FROM secrets)
SELECT string_agg(password, ',') FROM customers
SELECT count(*) FILTER (WHERE password LIKE 'a%') FROM customers
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY password) FROM customers
SELECT mode() WITHIN GROUP (ORDER BY password) FROM customers
SELECT array_agg(id ORDER BY password) FROM customers
SELECT id FROM customers WHERE password ~ '^a'
SELECT id FROM customers WHERE password ILIKE 'a%'
SELECT id FROM customers WHERE password SIMILAR TO 'a%'
SELECT password || '' FROM customers
SELECT l.p FROM customers c, LATERAL (SELECT c.password AS p) l
SELECT l.p FROM customers c CROSS JOIN LATERAL (SELECT c.password AS p) l
SELECT (VALUES ((SELECT password FROM customers LIMIT 1)))
SELECT v.a FROM (VALUES ((SELECT token FROM secrets LIMIT 1))) v(a)
SELECT id FROM customers GROUP BY GROUPING SETS ((password), (id))
SELECT id FROM customers GROUP BY ROLLUP (id, password)
SELECT id FROM customers FETCH FIRST 1 ROWS WITH TIES
SELECT extract(epoch FROM password::timestamp) FROM customers
SELECT id FROM customers WHERE id = (TABLE secrets)
SELECT * FROM Customers."password"
SELECT * FROM "Customers"
SELECT "Name" FROM customers
SELECT id FROM customers c WHERE EXISTS (SELECT 1 FROM orders c WHERE c.password = 'x')
SELECT count(*) AS password FROM customers GROUP BY customers.password
SELECT l.unnest FROM customers c, unnest(ARRAY[c.password]) l
SELECT * FROM customers c, generate_series(1, length(c.password)) g
WITH RECURSIVE r AS (SELECT 1 AS n UNION SELECT length(password) FROM customers, r WHERE id = n) SELECT n FROM r
WITH customers AS (SELECT * FROM secrets) SELECT * FROM customers
WITH RECURSIVE customers AS (SELECT password FROM public.customers) SELECT * FROM customers
SELECT avg(salary) FILTER (WHERE id = 1) FROM customers
SELECT json_object_agg(id, salary) FROM customers
SELECT array_agg(email) FROM customers
SELECT email::text FROM customers
SELECT DISTINCT ON (email) id FROM customers
SELECT string_agg(email, ',') FROM customers

-- catalogues
SELECT relname FROM pg_class
SELECT * FROM pg_catalog.pg_class
SELECT * FROM pg_user
SELECT * FROM pg_shadow
SELECT rolpassword FROM pg_authid
SELECT * FROM pg_stat_activity
SELECT query FROM pg_catalog.pg_stat_activity
SELECT * FROM pg_settings
SELECT * FROM pg_hba_file_rules
SELECT * FROM pg_stats
SELECT most_common_vals FROM pg_stats WHERE attname = 'password'
SELECT * FROM pg_largeobject
SELECT prosrc FROM pg_proc
SELECT * FROM pg_roles
SELECT * FROM pg_tables
SELECT * FROM "pg_catalog"."pg_tables"
SELECT * FROM PG_CATALOG.PG_TABLES
SELECT * FROM pg_toast.pg_toast_1
SELECT * FROM pg_temp.x
SELECT * FROM postgres.public.customers
SELECT * FROM pg_user_mappings
SELECT * FROM pg_foreign_server
SELECT datname FROM pg_database
SELECT 1 FROM pg_sleep(1)

-- bombs
SELECT format('%1000000000s', 'a')
SELECT generate_series(1, 1000000000)
SELECT * FROM generate_series(1, 10000000) g
SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b
SELECT * FROM generate_series(1, (SELECT max(id) FROM customers)) g
SELECT * FROM generate_series(1, 10, 0) g
SELECT * FROM generate_series('1000-01-01'::date, '9999-01-01', '1 second') g
SELECT * FROM generate_series('1000-01-01'::timestamp, '9999-12-31', '1 hour') g
SELECT * FROM generate_series('-infinity'::timestamp, 'infinity', '1 day') g
SELECT * FROM generate_series(1::bigint, 9223372036854775807) g
SELECT factorial(100000)
SELECT regexp_replace(repeat('a', 9999), 'a', repeat('b', 9999), 'g')
SELECT string_agg(repeat('a', 100000000), '') FROM customers
SELECT array_fill(1, ARRAY[100000000])
SELECT rpad('', 2000000000)
SELECT id FROM customers LIMIT ALL OFFSET 99999999

-- text
SELECT E'\x70'
SELECT E'a\'b'
SELECT e'a'
SELECT U&'\0070assword' FROM customers
SELECT U&"\0070assword" FROM customers
SELECT U&"p\0061ssword" FROM customers
SELECT U&"!0070assword" UESCAPE '!' FROM customers
SELECT $$a$$
SELECT $x$pg_sleep$x$
SELECT $1
SELECT :a
SELECT :'a'
SELECT %s
SELECT %(a)s
SELECT ?
SELECT B'01'
SELECT X'1F'
SELECT 'a\' OR 1=1 --'
SELECT 'a\''
SELECT "pass" "word" FROM customers
SELECT id AS "a""b" FROM customers
SELECT id AS "a\b" FROM customers
SELECT id FROM customers WHERE name = N'x'
\copy customers to '/tmp/x'
\! id
SELECT 1 \g /tmp/x
