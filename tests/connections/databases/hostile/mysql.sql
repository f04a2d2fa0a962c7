-- Statements that must never run, one a line: mysql. See hostile.py.

-- writes
REPLACE INTO customers (id, name) VALUES (1, 'x')
INSERT INTO orders VALUES (9, 9, 9, now()) ON DUPLICATE KEY UPDATE total = 1
SELECT id INTO OUTFILE '/tmp/x' FROM customers
SELECT id FROM customers INTO OUTFILE '/tmp/x'
SELECT id FROM customers INTO DUMPFILE '/tmp/x'
SELECT 'x' INTO OUTFILE '/tmp/x' LINES TERMINATED BY 'y'
SELECT id INTO @a FROM customers LIMIT 1
SELECT id FROM customers LIMIT 1 INTO @a
SELECT 1 INTO @a
LOAD DATA INFILE '/etc/passwd' INTO TABLE customers
LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE customers
LOAD XML INFILE 'x' INTO TABLE customers
HANDLER customers OPEN
HANDLER customers READ FIRST
DO SLEEP(1)
DO RELEASE_LOCK('a')
SET @a = 1
SET GLOBAL general_log = 1
SET SESSION max_statement_time = 0
SET STATEMENT max_statement_time = 0 FOR SELECT 1
SET PASSWORD = 'x'
SET PASSWORD = PASSWORD('x')
ALTER USER CURRENT_USER() IDENTIFIED BY 'x'
SET NAMES gbk
SET sql_mode = ''
KILL 1
KILL QUERY 1
FLUSH TABLES
FLUSH TABLES WITH READ LOCK
LOCK TABLES customers WRITE
UNLOCK TABLES
RESET MASTER
PURGE BINARY LOGS TO 'x'
CHANGE MASTER TO MASTER_HOST = 'x'
INSTALL PLUGIN a SONAME 'b'
INSTALL SONAME 'x'
UNINSTALL PLUGIN a
CREATE FUNCTION sys_exec RETURNS int SONAME 'lib_mysqludf_sys.so'
CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO DELETE FROM orders
CREATE TRIGGER t BEFORE INSERT ON customers FOR EACH ROW SET NEW.id = 1
CREATE PROCEDURE p() SELECT 1
RENAME TABLE customers TO x
OPTIMIZE TABLE customers
REPAIR TABLE customers
CHECKSUM TABLE customers
CHECK TABLE customers
ANALYZE TABLE customers
ANALYZE FORMAT=JSON SELECT 1
DESCRIBE customers
DESC secrets
SHOW GRANTS
SHOW VARIABLES
SHOW CREATE TABLE secrets
SHOW COLUMNS FROM customers
SHOW PROCESSLIST
EXPLAIN customers
HELP 'x'
XA START 'a'
SHUTDOWN
BINLOG 'x'
SIGNAL SQLSTATE '45000'
PREPARE p FROM 'DELETE FROM orders'
EXECUTE IMMEDIATE 'DELETE FROM orders'
BEGIN NOT ATOMIC DELETE FROM orders; END
TABLE secrets
VALUES ROW(1)
VALUES (1)
SELECT id FROM customers PROCEDURE ANALYSE()
SELECT id FROM customers PROCEDURE ANALYSE(10, 2000)
DELETE c FROM customers c
UPDATE customers c, orders o SET c.name = 'x' WHERE c.id = o.id

-- locks
SELECT id FROM customers LOCK IN SHARE MODE
SELECT id FROM customers FOR UPDATE WAIT 5
SELECT GET_LOCK('a', 10)
SELECT RELEASE_LOCK('a')
SELECT IS_FREE_LOCK('a')
SELECT RELEASE_ALL_LOCKS()
SELECT IS_USED_LOCK('a')

-- functions
SELECT LOAD_FILE('/etc/passwd')
SELECT load_file(0x2f6574632f706173737764)
SELECT `LOAD_FILE`('/etc/passwd')
SELECT LOAD_FILE /* x */ ('/etc/passwd')
SELECT LENGTH(LOAD_FILE('/etc/passwd'))
SELECT HEX(LOAD_FILE('/etc/passwd'))
SELECT SLEEP(5)
SELECT sleep(5) FROM customers
SELECT id FROM customers WHERE SLEEP(5)
SELECT id FROM customers ORDER BY SLEEP(1)
SELECT IF(1 = 1, SLEEP(5), 0)
SELECT id FROM customers WHERE id = 1 AND (SELECT SLEEP(5))
SELECT id FROM customers WHERE id = 1 OR SLEEP(5) = 0 LIMIT 1
SELECT 1 FROM (SELECT SLEEP(5)) a
SELECT BENCHMARK(100000000, MD5('a'))
SELECT benchmark(10000000, sha1('test'))
SELECT BENCHMARK(5, (SELECT count(*) FROM customers))
SELECT MASTER_POS_WAIT('a', 1, 1)
SELECT MASTER_GTID_WAIT('0-1-1', 1)
SELECT SYS_EXEC('id')
SELECT SYS_EVAL('id')
SELECT UPDATEXML(1, CONCAT(0x7e, (SELECT VERSION())), 1)
SELECT EXTRACTVALUE(1, CONCAT('~', (SELECT token FROM secrets LIMIT 1)))
SELECT EXTRACTVALUE(1, '/a')
SELECT LAST_INSERT_ID()
SELECT LAST_INSERT_ID(5)
SELECT ROW_COUNT()
SELECT FOUND_ROWS()
SELECT USER()
SELECT CURRENT_USER()
SELECT CURRENT_USER
SELECT SESSION_USER()
SELECT SYSTEM_USER()
SELECT CURRENT_ROLE()
SELECT VERSION()
SELECT DATABASE()
SELECT SCHEMA()
SELECT CONNECTION_ID()
SELECT UUID()
SELECT UUID_SHORT()
SELECT NAME_CONST('a', 1)
SELECT CHARSET('a')
SELECT COERCIBILITY('a')
SELECT DEFAULT(password) FROM customers
SELECT VALUES(password) FROM customers
SELECT AES_DECRYPT('a', 'b')
SELECT DES_DECRYPT('a')
SELECT PASSWORD('a')
SELECT ENCRYPT('a')
SELECT COMPRESS('a')
SELECT UNCOMPRESS('a')
SELECT FROM_BASE64('YQ==')
SELECT UNHEX('61')
SELECT NEXTVAL(s)
SELECT NEXT VALUE FOR s
SELECT LASTVAL(s)
SELECT SETVAL(s, 1)
SELECT shop.leak()
SELECT leak()
SELECT `leak`()
SELECT wipe()
SELECT `shop`.`wipe`()
SELECT GTID_SUBSET('a', 'b')
SELECT WAIT_FOR_EXECUTED_GTID_SET('a')
SELECT ST_GEOMFROMTEXT('POINT(0 0)')
SELECT LINESTRING(1, 2)
SELECT GEOMETRYCOLLECTION((SELECT 1))
SELECT POLYGON((SELECT * FROM (SELECT * FROM (SELECT USER()) a) b))
SELECT EXP(~(SELECT * FROM (SELECT USER()) a))
SELECT JSON_TABLE('[]', '$[*]' COLUMNS (a INT PATH '$'))
SELECT * FROM JSON_TABLE('[]', '$[*]' COLUMNS (a INT PATH '$')) j
SELECT MATCH (password) AGAINST ('x') FROM customers
SELECT name SOUNDS LIKE password FROM customers
SELECT ROW(1, 2) > (SELECT count(*), concat(version(), 0x3a) x FROM customers GROUP BY x)
SELECT FORMAT_BYTES(1)
SELECT INET_NTOA(1)
SELECT STATEMENT_DIGEST('a')
SELECT PS_THREAD_ID(1)

-- variables
SELECT @a
SELECT @a := 5
SELECT @a := password FROM customers
SELECT @@version
SELECT @@global.secure_file_priv
SELECT @@session.sql_mode
SELECT @@datadir
SELECT @@hostname, @@port
SELECT id FROM customers WHERE id = @a
SELECT (@a := id) FROM customers
SELECT id, @r := @r + 1 FROM customers, (SELECT @r := 0) q
SELECT id FROM customers WHERE name = @@version
SELECT ?
SELECT id FROM customers WHERE id = ?
SELECT :a
SELECT %s
SELECT @`a`
SELECT @'a'
SELECT id FROM customers LIMIT ?

-- text
SELECT /*!50000 SLEEP(5) */
SELECT /*! password */ FROM customers
SELECT 1 /*!50000 UNION SELECT token FROM secrets */
SELECT 1 /*M!100100 UNION SELECT token FROM secrets */
SELECT 1 /*m!100100 UNION SELECT token FROM secrets */
SELECT/*!99999 1*/ 2
SELECT 1 /*!32302 AND 1 = 0 */
SELECT /*+ MAX_EXECUTION_TIME(0) */ id FROM customers
SELECT /*+ SET_VAR(max_execution_time = 0) */ id FROM customers
SELECT SQL_NO_CACHE id FROM customers
SELECT SQL_CALC_FOUND_ROWS id FROM customers
SELECT HIGH_PRIORITY id FROM customers
SELECT SQL_BUFFER_RESULT id FROM customers
SELECT STRAIGHT_JOIN id FROM customers
SELECT id FROM customers USE INDEX (a)
SELECT id FROM customers FORCE INDEX (PRIMARY)
SELECT id FROM customers IGNORE INDEX (a)
SELECT id FROM customers PARTITION (p0)
SELECT 0x70617373776f7264
SELECT X'70'
SELECT b'01'
SELECT 0b01
SELECT _utf8'a'
SELECT _latin1 0xC3
SELECT N'a'
SELECT 'a\' OR 1=1 #'
SELECT "a\" UNION SELECT 1"
SELECT 'a\'' FROM customers
SELECT id AS `a``b` FROM customers
SELECT `pass``word` FROM customers
SELECT id FROM customers WHERE id = 1 -- ' UNION \' SELECT
SELECT id FROM customers WHERE name = '\'' OR 1 = 1

-- hidden
SELECT `password` FROM customers
SELECT `PASSWORD` FROM customers
SELECT PassWord FROM customers
SELECT shop.customers.password FROM shop.customers
SELECT `shop`.`customers`.`password` FROM `shop`.`customers`
SELECT GROUP_CONCAT(password) FROM customers
SELECT GROUP_CONCAT(id ORDER BY password) FROM customers
SELECT GROUP_CONCAT(id SEPARATOR (SELECT token FROM secrets)) FROM customers
SELECT id FROM customers WHERE password REGEXP '^a'
SELECT id FROM customers WHERE password RLIKE 'a'
SELECT id FROM customers WHERE BINARY password = 'a'
SELECT id FROM customers WHERE password <=> 'a'
SELECT id FROM customers HAVING password > 'm'
SELECT id AS a FROM customers HAVING a > 0 AND password > 'm'
SELECT id FROM customers NATURAL JOIN (SELECT 'x' AS password) p
SELECT id FROM customers JOIN (SELECT 'x' AS password) p USING (password)
SELECT count(*) FROM customers JOIN secrets USING (id)
SELECT IF(password > 'm', 1, 0) FROM customers
SELECT IFNULL(password, '') FROM customers
SELECT ELT(1, password) FROM customers
SELECT ORD(MID(password, 1, 1)) FROM customers
SELECT ASCII(SUBSTR(password, 1, 1)) FROM customers
SELECT FIND_IN_SET('a', password) FROM customers
SELECT JSON_OBJECT('a', password) FROM customers
SELECT JSON_ARRAYAGG(password) FROM customers
SELECT CAST(password AS CHAR) FROM customers
SELECT CONVERT(password USING utf8mb4) FROM customers
SELECT password COLLATE utf8mb4_bin FROM customers
SELECT password DIV 1 FROM customers
SELECT -password FROM customers
SELECT id FROM customers WHERE NOT password
SELECT id FROM customers WHERE !password
SELECT id FROM customers XOR password
SELECT id FROM SECRETS
SELECT id FROM Shop.Secrets
SELECT id FROM customers GROUP BY password WITH ROLLUP
SELECT id + 1 AS a FROM customers ORDER BY a + password
SELECT email AS e FROM customers HAVING e > 'm'
SELECT email AS e FROM customers ORDER BY e + 0
SELECT GROUP_CONCAT(email) FROM customers
SELECT email COLLATE utf8mb4_bin FROM customers
SELECT JSON_ARRAYAGG(salary) FROM customers
SELECT salary AS s FROM customers HAVING s > 1

-- catalogues
SELECT user, password FROM mysql.user
SELECT * FROM `mysql`.`user`
SELECT * FROM MYSQL.USER
SELECT * FROM mysql.db
SELECT * FROM mysql.global_priv
SELECT * FROM information_schema.processlist
SELECT * FROM information_schema.user_privileges
SELECT * FROM `information_schema`.`columns`
SELECT * FROM information_schema.`tables`
SELECT * FROM performance_schema.events_statements_history
SELECT * FROM sys.session
SELECT * FROM information_schema.innodb_trx
SELECT * FROM mysql.proc
SELECT * FROM mysql.innodb_table_stats

-- bombs
SELECT SPACE(1000000000)
SELECT RPAD('a', 4294967295, 'b')
SELECT CONCAT(REPEAT('a', 10001), 'b')
SELECT CAST('a' AS CHAR(1000000000))
SELECT id FROM customers LIMIT 18446744073709551615 OFFSET 100001
SELECT id FROM customers LIMIT 100000001, 10
SELECT REPEAT(SPACE(100), 100)
