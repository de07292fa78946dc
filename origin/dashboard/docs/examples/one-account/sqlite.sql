-- A new table: the address as typed, and the mailbox.
CREATE TABLE users (
  id INTEGER PRIMARY KEY,
  email TEXT NOT NULL,
  canonical TEXT UNIQUE
);

-- A new account. No row comes back if the mailbox has one.
INSERT INTO users (email, canonical) VALUES (?, ?)
ON CONFLICT (canonical) DO NOTHING RETURNING id;

-- The account of a mailbox.
SELECT id, email FROM users WHERE canonical = ?;

-- A change of email. Error SQLITE_CONSTRAINT_UNIQUE if another account has the mailbox.
UPDATE users SET email = ?, canonical = ? WHERE id = ?;

-- A table with accounts: add the column, and fill it from the program.
ALTER TABLE users ADD COLUMN canonical TEXT;
UPDATE users SET canonical = ? WHERE id = ?;

-- Who shares a mailbox already.
SELECT canonical, count(*) FROM users WHERE canonical IS NOT NULL
GROUP BY canonical HAVING count(*) > 1;

-- They keep their accounts. The oldest has the mailbox.
UPDATE users SET canonical = NULL
WHERE id NOT IN (SELECT min(id) FROM users GROUP BY canonical);
CREATE UNIQUE INDEX users_canonical ON users (canonical);
