-- Statements that must never run, one a line: on both engines. See hostile.py.

-- stacked
SELECT 1; DROP TABLE customers
SELECT 1; SELECT 2
SELECT id FROM customers; DELETE FROM customers
SELECT 1; COMMIT; DROP TABLE orders
SELECT 'a'; UPDATE customers SET name = 'x'
; DROP TABLE customers
SELECT id FROM customers WHERE name = ''; DROP TABLE orders; --'
SELECT 1;;;SELECT 2
BEGIN; DELETE FROM orders; COMMIT
SELECT 1; SET autocommit = 1

-- writes
DELETE FROM customers
DELETE FROM customers WHERE id = 1
UPDATE customers SET name = 'x'
UPDATE customers SET password = 'x' WHERE id = 1
INSERT INTO customers (id, name) VALUES (99, 'x')
INSERT INTO orders SELECT id, id, 1, NULL FROM customers
DROP TABLE customers
DROP TABLE IF EXISTS orders
DROP DATABASE shop
DROP VIEW v
TRUNCATE TABLE customers
TRUNCATE customers
CREATE TABLE t (a int)
CREATE TABLE t AS SELECT * FROM customers
CREATE TEMPORARY TABLE t (a int)
CREATE VIEW v AS SELECT 1
CREATE INDEX i ON customers (name)
CREATE SCHEMA s
CREATE USER u
ALTER TABLE customers ADD COLUMN x int
ALTER TABLE customers DROP COLUMN password
GRANT ALL ON customers TO PUBLIC
REVOKE ALL ON customers FROM PUBLIC
CALL p()
COMMIT
ROLLBACK
BEGIN
START TRANSACTION
SAVEPOINT a
SET TRANSACTION READ WRITE
SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE
RESET ALL
PREPARE p AS DELETE FROM customers
EXECUTE p
DEALLOCATE PREPARE p
EXPLAIN SELECT 1
EXPLAIN ANALYZE SELECT 1
EXPLAIN ANALYZE DELETE FROM customers
ANALYZE customers
SHOW TABLES
USE mysql

-- locks
SELECT id FROM customers FOR UPDATE
SELECT id FROM customers FOR SHARE
SELECT id FROM customers WHERE id = 1 FOR UPDATE NOWAIT
SELECT id FROM customers FOR UPDATE SKIP LOCKED
SELECT id FROM (SELECT id FROM customers FOR UPDATE) q
WITH q AS (SELECT id FROM customers FOR UPDATE) SELECT id FROM q
SELECT id FROM customers WHERE id IN (SELECT id FROM orders FOR UPDATE)

-- hidden
SELECT password FROM customers
SELECT PASSWORD FROM customers
SELECT c.password FROM customers c
SELECT customers.password FROM customers
SELECT id FROM customers WHERE password LIKE 'a%'
SELECT id FROM customers WHERE customers.password = 'x'
SELECT id FROM customers ORDER BY password
SELECT count(*) FROM customers GROUP BY password
SELECT max(id) FROM customers GROUP BY name HAVING max(password) > 'm'
SELECT count(password) FROM customers
SELECT min(password) FROM customers
SELECT max(note) FROM customers
SELECT length(password) FROM customers
SELECT substring(password, 1, 1) FROM customers
SELECT CASE WHEN password LIKE 'a%' THEN 1 ELSE 0 END FROM customers
SELECT id FROM customers WHERE (SELECT password FROM customers c2 LIMIT 1) LIKE 'a%'
SELECT (SELECT password FROM customers WHERE id = 1)
SELECT (SELECT max(password) FROM customers) FROM orders
SELECT id FROM orders WHERE EXISTS (SELECT 1 FROM customers WHERE password > 'm')
SELECT o.id FROM orders o JOIN customers c ON c.password = 'x'
SELECT o.id FROM orders o JOIN customers c ON o.customer_id = c.id AND c.password > 'm'
SELECT * FROM customers a JOIN customers b USING (password)
SELECT x.a FROM (SELECT password AS a FROM customers) x
WITH q AS (SELECT password AS a FROM customers) SELECT a FROM q
WITH q (a) AS (SELECT password FROM customers) SELECT a FROM q
SELECT id FROM customers UNION SELECT password FROM customers
SELECT name FROM customers UNION ALL SELECT password FROM customers
SELECT name FROM customers INTERSECT SELECT password FROM customers
SELECT count(*) OVER (PARTITION BY password) FROM customers
SELECT rank() OVER (ORDER BY password) FROM customers
SELECT lag(password) OVER (ORDER BY id) FROM customers
SELECT count(*) OVER w FROM customers WINDOW w AS (PARTITION BY password)
SELECT DISTINCT password FROM customers
SELECT id AS password FROM customers WHERE password = 'x'
SELECT id FROM customers WHERE id IN (SELECT id FROM customers WHERE note LIKE 'a%')
SELECT concat(name, password) FROM customers
SELECT coalesce(password, name) FROM customers
SELECT nullif(password, '') FROM customers
SELECT password, id FROM customers LIMIT 1
SELECT id FROM customers WHERE note IS NULL
SELECT id FROM customers WHERE id = 1 AND password BETWEEN 'a' AND 'm'
SELECT id FROM customers WHERE (id, password) = (1, 'x')
SELECT id FROM customers WHERE 'x' IN (password, name)
SELECT replace(password, 'a', 'b') FROM customers
SELECT c.id FROM customers c, orders o WHERE c.id = o.customer_id AND c.password > o.id
SELECT (SELECT c.password FROM orders LIMIT 1) FROM customers c
SELECT (SELECT max(password) FROM customers c) FROM (SELECT 'x' AS password) c
SELECT (SELECT max(c.password) FROM customers c) FROM (SELECT 'x' AS password) c
SELECT id FROM orders c WHERE EXISTS (SELECT 1 FROM customers c WHERE c.total > 'm')
WITH b AS (SELECT name AS e FROM customers) SELECT * FROM (WITH RECURSIVE a AS (SELECT upper(e) AS u FROM b), b AS (SELECT email AS e FROM customers) SELECT u FROM a) q
WITH q AS (SELECT id FROM customers), q AS (SELECT id FROM secrets) SELECT id FROM q
SELECT (SELECT count(*) FROM customers a, orders b JOIN orders d ON a.password = d.id) FROM (SELECT 1 AS password) a
SELECT id FROM secrets
SELECT token FROM secrets
SELECT * FROM secrets
SELECT count(*) FROM secrets
SELECT s.token FROM secrets s
SELECT id FROM customers WHERE id IN (SELECT id FROM secrets)
SELECT id FROM customers UNION SELECT id FROM secrets
SELECT EXISTS (SELECT 1 FROM secrets WHERE token LIKE 'a%')
WITH secrets2 AS (SELECT * FROM secrets) SELECT * FROM secrets2
SELECT c.id FROM customers c JOIN secrets s ON s.id = c.id
SELECT * FROM customers NATURAL JOIN secrets
SELECT (SELECT token FROM secrets LIMIT 1) AS t

-- masked
SELECT upper(email) FROM customers
SELECT concat(email, '') FROM customers
SELECT id FROM customers WHERE email LIKE 'a%'
SELECT id FROM customers WHERE email = 'a@b.c'
SELECT id FROM customers ORDER BY email
SELECT email FROM customers ORDER BY 1
SELECT email AS e FROM customers ORDER BY e
SELECT email, count(*) FROM customers GROUP BY email
SELECT email, count(*) FROM customers GROUP BY 1
SELECT min(email) FROM customers
SELECT max(email) FROM customers
SELECT (SELECT email FROM customers WHERE id = 1)
SELECT id FROM customers WHERE 'a@b.c' IN (SELECT email FROM customers)
SELECT upper(e) FROM (SELECT email AS e FROM customers) q
WITH q AS (SELECT email AS e FROM customers) SELECT substring(e, 1, 3) FROM q
WITH q AS (SELECT email AS e FROM customers) SELECT e FROM q WHERE e > 'm'
WITH q (e) AS (SELECT email FROM customers) SELECT length(e) FROM q
SELECT email FROM customers UNION SELECT 'a@b.c'
SELECT email FROM customers UNION ALL SELECT 'a@b.c'
SELECT email FROM customers INTERSECT SELECT 'a@b.c'
SELECT email FROM customers EXCEPT SELECT 'a@b.c'
SELECT a.id FROM customers a JOIN customers b ON a.email = b.email
SELECT a.id FROM customers a JOIN customers b USING (email)
SELECT count(*) OVER (PARTITION BY email) FROM customers
SELECT CASE WHEN email IS NULL THEN 0 ELSE 1 END FROM customers
SELECT count(CASE WHEN email LIKE 'a%' THEN 1 END) FROM customers
SELECT name FROM customers GROUP BY name HAVING min(email) > 'm'
SELECT coalesce(email, '') FROM customers
SELECT email = 'a@b.c' FROM customers
SELECT (SELECT q.e FROM (SELECT email AS e FROM customers) q LIMIT 1)
SELECT lag(email) OVER (ORDER BY id) FROM customers

-- figures
SELECT salary FROM customers
SELECT id, salary FROM customers
SELECT min(salary) FROM customers
SELECT max(salary) FROM customers
SELECT id FROM customers WHERE salary > 100
SELECT id FROM customers ORDER BY salary
SELECT id FROM customers ORDER BY avg(salary)
SELECT salary, count(*) FROM customers GROUP BY salary
SELECT sum(salary * 2) FROM customers
SELECT sum(CASE WHEN id = 1 THEN salary END) FROM customers
SELECT sum(salary) OVER (PARTITION BY id) FROM customers
SELECT avg(salary) OVER (ORDER BY id ROWS 1 PRECEDING) FROM customers
SELECT a.id FROM customers a JOIN customers b ON a.salary = b.salary
SELECT a.id FROM customers a JOIN customers b USING (salary)
SELECT q.s FROM (SELECT salary AS s FROM customers) q
WITH q AS (SELECT salary AS s FROM customers) SELECT s FROM q
SELECT salary FROM customers UNION SELECT 1
SELECT (SELECT salary FROM customers WHERE id = 1)
SELECT stddev(salary) FROM customers
SELECT avg(abs(salary)) FROM customers
SELECT (SELECT sum(c.salary) FROM orders) FROM customers c
SELECT salary + 0 FROM customers

-- catalogues
SELECT table_name FROM information_schema.tables
SELECT column_name FROM information_schema.columns
SELECT * FROM INFORMATION_SCHEMA.SCHEMATA
SELECT id FROM customers UNION SELECT table_name FROM information_schema.tables
SELECT (SELECT count(*) FROM information_schema.tables)
SELECT * FROM other.customers
SELECT * FROM mysql.user
SELECT * FROM performance_schema.threads
SELECT * FROM sys.version
SELECT * FROM a.b.customers
SELECT id FROM def.shop.customers
SELECT a.b.c.d FROM customers
SELECT * FROM nothing
SELECT * FROM "customers"."password"

-- whole rows
SELECT customers FROM customers
SELECT c FROM customers c
SELECT c.* + 1 FROM customers c
SELECT count(c) FROM customers c
SELECT count(c.*) FROM customers c
SELECT c IS NULL FROM customers c
SELECT c = c FROM customers c
SELECT id FROM customers c ORDER BY c
SELECT id FROM customers c WHERE c = c
SELECT count(*) FROM customers c GROUP BY c
SELECT coalesce(c) FROM customers c
SELECT concat(c) FROM customers c
SELECT (c).password FROM customers c
SELECT (SELECT c) FROM customers c
SELECT length(c) FROM customers c

-- bombs
SELECT a.id FROM customers a, customers b
SELECT count(*) FROM customers a, customers b, customers c, orders d
SELECT count(*) FROM customers a CROSS JOIN customers b
SELECT count(*) FROM customers a JOIN customers b ON 1 = 1
SELECT count(*) FROM customers a JOIN customers b ON a.id = a.id
SELECT count(*) FROM customers a JOIN customers b ON true
SELECT repeat('a', 1000000000)
SELECT repeat(repeat('a', 1000), 1000)
SELECT repeat(name, id) FROM customers
SELECT lpad('a', 1000000000, 'b')
SELECT rpad('a', 100000, 'b')
SELECT replace(repeat('a', 10000), 'a', 'bbbbbbbbbbbbbbbbbbbb')
SELECT md5(repeat('a', 99999999))
SELECT id FROM customers OFFSET 1000000000
SELECT id FROM customers LIMIT 10 OFFSET 100000001
SELECT id FROM customers LIMIT (SELECT 1)
SELECT id FROM customers LIMIT -1
SELECT id FROM customers LIMIT 1 + 1
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT n FROM r
