-- The functions as a user sees them. The tests of the project compare all results with
-- those of the other packages.
CREATE EXTENSION addrspec;
\pset null null
\set SHOW_CONTEXT never

SELECT p.proname, pg_get_function_arguments(p.oid) AS arguments, provolatile AS volatile, proisstrict AS strict, proparallel AS parallel
FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'addrspec'
ORDER BY p.proname COLLATE "C";

SELECT address, addrspec_valid(address), addrspec_normalized(address), addrspec_canonical(address)
FROM (VALUES ('Jane.Doe+news@Googlemail.com'), ('"jane"@EXAMPLE.org'), ('jane@example.org (home)'), ('jose@B' || chr(252) || 'cher.example'),
             ('jane.@example.org'), ('jane'), (''), (NULL)) AS t (address);

SELECT addrspec('jane.doe+news@hotmial.com');
SELECT addrspec('jane.doe+news@hotmial.com', full_suggestion => true) ->> 'typo_suggestion' AS suggestion;
SELECT addrspec('jane.@example.org', details => true) -> 'details' -> 'refusal' AS refusal;
SELECT addrspec(NULL), addrspec('jane@example.org', NULL);
SELECT f.* FROM json_to_record(addrspec('support@gmail.com')) AS f (valid boolean, role text, gibberish_score numeric, public boolean);
SELECT json_object_keys(addrspec_version());

-- A constraint says why, and clients find it by its name.
CREATE TABLE customers (id int PRIMARY KEY, email email_address, backup text CONSTRAINT backup_valid CHECK (addrspec_require(backup, 'backup_valid')));
CREATE UNIQUE INDEX customers_email ON customers (addrspec_normalized(email));
INSERT INTO customers VALUES (1, 'Jane@Example.org', NULL), (2, NULL, 'joe@example.org');
INSERT INTO customers VALUES (3, 'jane.@example.org', NULL);
INSERT INTO customers VALUES (3, 'joe@example.org', 'joe');
INSERT INTO customers VALUES (3, 'joe@example.org', 'joe@' || repeat('x', 64) || '.org');
INSERT INTO customers VALUES (3, '"jane"@example.ORG', NULL);
UPDATE customers SET email = 'jane@example@org' WHERE id = 1;
SELECT addrspec_require('jane@example'), addrspec_require(NULL), addrspec_require('jane@@example.org');
SELECT 'jane'::email_address;
DO $$
DECLARE name text;
BEGIN
    INSERT INTO customers VALUES (3, 'jane', NULL);
EXCEPTION WHEN check_violation THEN
    GET STACKED DIAGNOSTICS name = CONSTRAINT_NAME;
    RAISE NOTICE '%, %', SQLSTATE, name;
END $$;

-- Only an immutable function may be part of an index.
CREATE INDEX ON customers (addrspec_canonical(email));
CREATE TABLE generated (email text, normalized text GENERATED ALWAYS AS (addrspec_normalized(email)) STORED);
INSERT INTO generated VALUES ('JANE@EXAMPLE.ORG'), ('jane');
SELECT * FROM generated;

-- A policy.
SELECT addrspec_verdict(address, '{"block": {"domains": ["spam.example"], "reasons": ["gibberish"]}, "review": {"reasons": ["no_mx", "role"]}}')
FROM (VALUES ('jane@example.org'), ('info@example.org'), ('jane@spam.example'), ('jane'), (NULL)) AS t (address);
SELECT addrspec_verdict('jane@example.org', '{"block": {"reasons": ["disposible"]}}');
SELECT addrspec_verdict('jane@example.org', '[]');
SELECT addrspec_verdict('jane@example.org', ('{"block": {"reasons": ["' || repeat('x', 5000000) || '"]}}')::json);

-- An address of any length: not valid, and no error.
SELECT length(address), addrspec_valid(address), addrspec_normalized(address), addrspec_canonical(address),
       length(addrspec(address)::text) > 1000000 AS long, addrspec_verdict(address, '{}')
FROM (VALUES (repeat('x', 3000000) || '@example.org'), (repeat(chr(252), 1000000) || '@example.org')) AS t (address);
SELECT addrspec_require(repeat('x', 3000000) || '@example.org');

-- Lists that cannot be read are an error, but not where lists do not matter.
SET addrspec.lists = '/nonexistent/lists.blob';
SELECT addrspec('jane@example.org');
SELECT addrspec_valid('jane@example.org'), addrspec_normalized('Jane@example.org'), addrspec_require('jane@example.org');
RESET addrspec.lists;
SELECT addrspec_canonical('Jane@example.org');
CREATE ROLE regress_addrspec;
SET ROLE regress_addrspec;
SET addrspec.lists = '/nonexistent/lists.blob';
SELECT addrspec_valid('jane@example.org');
RESET ROLE;
DROP ROLE regress_addrspec;

DROP TABLE customers, generated;
DROP EXTENSION addrspec;
