-- The rows of an account go with it. This changes what the tables' definitions say about
-- deletions, and nothing that is stored, so no row is copied: www.sqlite.org/lang_altertable.html,
-- section 7.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema
   SET sql = replace(replace(replace(sql,
       'REFERENCES accounts (id)', 'REFERENCES accounts (id) ON DELETE CASCADE'),
       'REFERENCES users (account)', 'REFERENCES users (account) ON DELETE CASCADE'),
       'REFERENCES keys (id)', 'REFERENCES keys (id) ON DELETE CASCADE')
 WHERE type = 'table';
PRAGMA writable_schema = RESET; -- and read the definitions again

-- Makes other connections read them again, because it raises the schema's number.
CREATE TABLE changed (schema INTEGER) STRICT;
DROP TABLE changed;
