-- A new table: the address as typed, and the mailbox.
CREATE TABLE users (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  email text NOT NULL,
  canonical text COLLATE "C" UNIQUE
);

-- A new account. No row comes back if the mailbox has one.
INSERT INTO users (email, canonical) VALUES ($1, $2)
ON CONFLICT (canonical) DO NOTHING RETURNING id;

-- The account of a mailbox.
SELECT id, email FROM users WHERE canonical = $1;

-- A change of email. Error 23505 if another account has the mailbox.
UPDATE users SET email = $1, canonical = $2 WHERE id = $3;

-- A table with accounts: add the column, and fill it from the program.
ALTER TABLE users ADD COLUMN canonical text COLLATE "C";
UPDATE users SET canonical = $1 WHERE id = $2;

-- Who shares a mailbox already.
SELECT canonical, count(*) FROM users WHERE canonical IS NOT NULL
GROUP BY canonical HAVING count(*) > 1;

-- They keep their accounts. The oldest has the mailbox.
UPDATE users SET canonical = NULL
WHERE id NOT IN (SELECT min(id) FROM users GROUP BY canonical);
CREATE UNIQUE INDEX users_canonical ON users (canonical);
