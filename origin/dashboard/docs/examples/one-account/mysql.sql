-- A new table: the address as typed, and the mailbox. The usual collations take é for e.
CREATE TABLE users (
  id bigint AUTO_INCREMENT PRIMARY KEY,
  email varchar(320) NOT NULL,
  canonical varchar(254) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL UNIQUE
);

-- A new account. Error 1062 if the mailbox has one.
INSERT INTO users (email, canonical) VALUES (?, ?);

-- The account of a mailbox.
SELECT id, email FROM users WHERE canonical = ?;

-- A change of email. Error 1062 if another account has the mailbox.
UPDATE users SET email = ?, canonical = ? WHERE id = ?;

-- A table with accounts: add the column, and fill it from the program.
ALTER TABLE users ADD COLUMN canonical varchar(254) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL;
UPDATE users SET canonical = ? WHERE id = ?;

-- Who shares a mailbox already.
SELECT canonical, count(*) FROM users WHERE canonical IS NOT NULL
GROUP BY canonical HAVING count(*) > 1;

-- They keep their accounts. The oldest has the mailbox.
UPDATE users SET canonical = NULL
WHERE id NOT IN (SELECT id FROM (SELECT min(id) AS id FROM users GROUP BY canonical) AS oldest);
CREATE UNIQUE INDEX users_canonical ON users (canonical);
