-- The queries of package identity.

-- Users. One who signed up is as old as the account, and nothing shows that the email
-- is theirs. One made by an operator's link, or whom a link has proved, is younger by
-- a second at least.
-- name: create_user
INSERT INTO users (account, handle, created_ns)
SELECT a.id, CAST($2 AS TEXT), CASE WHEN CAST($3 AS BIGINT) - a.created_ns > 1000000000 THEN CAST($3 AS BIGINT) ELSE a.created_ns + 1000000000 END
  FROM accounts a WHERE a.id = $1
    ON CONFLICT (account) DO NOTHING;

-- name: sign_up_user
INSERT INTO users (account, handle, created_ns)
SELECT a.id, CAST($2 AS TEXT), a.created_ns FROM accounts a WHERE a.id = $1;

-- A new handle ends the passkeys of the old one, also those being registered.
-- name: prove_user
UPDATE users
   SET name = '', password = '', totp = '', totp_step = 0, handle = $2,
       created_ns = (SELECT CASE WHEN CAST($3 AS BIGINT) - a.created_ns > 1000000000 THEN CAST($3 AS BIGINT) ELSE a.created_ns + 1000000000 END
                       FROM accounts a WHERE a.id = users.account)
 WHERE account = $1;

-- $1 account or 0, $2 the account's email or ''.
-- name: read_user
SELECT u.account, a.email, u.name, u.password, u.operator, u.totp, u.handle, u.created_ns, u.created_ns - a.created_ns < 1000000000, a.suspended_ns IS NOT NULL,
       (SELECT count(*) FROM passkeys p WHERE p.account = u.account)
  FROM users u JOIN accounts a ON a.id = u.account
 WHERE (CAST($1 AS BIGINT) <> 0 AND u.account = $1) OR (CAST($2 AS TEXT) <> '' AND a.email = $2);

-- name: put_password
UPDATE users SET password = $2 WHERE account = $1;

-- name: put_user_name
UPDATE users SET name = $2 WHERE account = $1 AND name <> $2 RETURNING account;

-- name: put_operator
UPDATE users SET operator = $2 WHERE account = $1 AND operator <> $2 RETURNING account;

-- Sessions.
-- name: create_session
INSERT INTO sessions (hash, account, client, created_ns, seen_ns, expires_ns, confirmed_ns, complete)
VALUES ($1, $2, $3, $4, $4, $5, $6, $7);

-- An account keeps its $2 newest sessions, of those that are complete and of the others:
-- who has the password alone must not end the owner's.
-- name: trim_sessions
DELETE FROM sessions
 WHERE account = $1 AND complete = $3
   AND id <= (SELECT id FROM sessions WHERE account = $1 AND complete = $3 ORDER BY id DESC LIMIT 1 OFFSET $2);

-- name: read_session
SELECT s.id, s.client, s.created_ns, s.seen_ns, s.expires_ns, s.confirmed_ns, s.complete, s.account
  FROM sessions s WHERE s.hash = $1 AND s.expires_ns > $2;

-- name: list_sessions
SELECT s.id, s.client, s.created_ns, s.seen_ns, s.expires_ns, s.confirmed_ns, s.complete, s.account
  FROM sessions s WHERE s.account = $1 AND s.expires_ns > $2 ORDER BY s.seen_ns DESC;

-- name: touch_session
UPDATE sessions SET seen_ns = $2, expires_ns = $3 WHERE id = $1;

-- name: confirm_session
UPDATE sessions SET confirmed_ns = $2 WHERE id = $1;

-- name: delete_session
DELETE FROM sessions WHERE account = $1 AND id = $2 RETURNING id;

-- name: delete_session_by_hash
DELETE FROM sessions WHERE hash = $1;

-- $2 is a session to keep, or 0.
-- name: delete_sessions
DELETE FROM sessions WHERE account = $1 AND id <> $2 RETURNING id;

-- Each sign-in deletes a few, so that one does not delete all those of a flood. The same
-- holds for links, attempts and challenges.
-- name: delete_expired_sessions
DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE expires_ns <= $1 LIMIT 100);

-- One-time links.
-- name: create_link
INSERT INTO links (hash, account, expires_ns) VALUES ($1, $2, $3);

-- name: read_link
SELECT l.account FROM links l WHERE l.hash = $1 AND l.expires_ns > $2;

-- name: delete_links
DELETE FROM links WHERE account = $1 OR hash IN (SELECT hash FROM links WHERE expires_ns <= $2 LIMIT 100);

-- name: use_link
DELETE FROM links WHERE hash = $1 AND expires_ns > $2 RETURNING account;

-- Attempts: locks a bucket, which it makes if there is none, and returns its state.
-- name: lock_attempt
INSERT INTO attempts (subject, tat_ns) VALUES ($1, 0)
    ON CONFLICT (subject) DO UPDATE SET tat_ns = attempts.tat_ns
RETURNING tat_ns;

-- name: put_attempt
UPDATE attempts SET tat_ns = $2 WHERE subject = $1;

-- Second factors.
-- Locks a user's row, so that what is counted next stays.
-- name: lock_user
UPDATE users SET account = account WHERE account = $1;

-- name: put_totp
UPDATE users SET totp = $2, totp_step = $3 WHERE account = $1;

-- $2 the time step of a code, $3 the secret as it is stored from now on.
-- name: use_totp
UPDATE users SET totp_step = $2, totp = $3 WHERE account = $1 AND totp_step < $2 RETURNING account;

-- Secrets that are not sealed with the key whose prefix is $2, of accounts after $1.
-- name: list_unsealed_totp
SELECT account, totp FROM users
 WHERE account > $1 AND totp <> '' AND substr(totp, 1, length(CAST($2 AS TEXT))) <> $2 ORDER BY account LIMIT $3;

-- name: reseal_totp
UPDATE users SET totp = $3 WHERE account = $1 AND totp = $2;

-- How many secrets there are by the ID of their key, see package store's Sealer.
-- name: count_secrets
SELECT CASE WHEN substr(s.secret, 1, 8) = 'sealed1.' THEN substr(s.secret, 9, 8) ELSE '' END AS id, count(*)
  FROM (SELECT totp AS secret FROM users UNION ALL SELECT secret FROM webhooks UNION ALL SELECT previous FROM webhooks) s
 WHERE s.secret <> ''
 GROUP BY id ORDER BY id;

-- name: create_recovery_code
INSERT INTO recovery_codes (account, hash) VALUES ($1, $2);

-- name: count_recovery_codes
SELECT count(*) FROM recovery_codes WHERE account = $1;

-- name: use_recovery_code
DELETE FROM recovery_codes WHERE account = $1 AND hash = $2 RETURNING account;

-- name: delete_recovery_codes
DELETE FROM recovery_codes WHERE account = $1;

-- Passkeys. $6 is how many an account may have.
-- name: create_passkey
INSERT INTO passkeys (id, account, name, credential, created_ns, used_ns)
SELECT CAST($1 AS TEXT), CAST($2 AS BIGINT), CAST($3 AS TEXT), CAST($4 AS TEXT), CAST($5 AS BIGINT), 0
 WHERE (SELECT count(*) FROM passkeys WHERE account = $2) < $6
    ON CONFLICT (id) DO NOTHING
RETURNING account;

-- name: list_passkeys
SELECT id, name, credential, created_ns, used_ns FROM passkeys WHERE account = $1 ORDER BY created_ns, id;

-- name: read_passkey
SELECT account FROM passkeys WHERE id = $1;

-- name: use_passkey
UPDATE passkeys SET credential = $3, used_ns = $4 WHERE account = $1 AND id = $2 RETURNING account;

-- name: delete_passkey
DELETE FROM passkeys WHERE account = $1 AND id = $2 RETURNING name;

-- name: delete_passkeys
DELETE FROM passkeys WHERE account = $1;

-- Identities at OpenID providers. $5 is how many an account may have.
-- name: create_identity
INSERT INTO identities (issuer, subject, account, created_ns)
SELECT CAST($1 AS TEXT), CAST($2 AS TEXT), CAST($3 AS BIGINT), CAST($4 AS BIGINT)
 WHERE (SELECT count(*) FROM identities WHERE account = $3) < $5
    ON CONFLICT (issuer, subject) DO NOTHING
RETURNING account;

-- name: read_identity
SELECT account FROM identities WHERE issuer = $1 AND subject = $2;

-- name: list_identities
SELECT issuer, subject, created_ns FROM identities WHERE account = $1 ORDER BY created_ns, subject;

-- name: delete_identity
DELETE FROM identities WHERE account = $1 AND issuer = $2 AND subject = $3 RETURNING account;

-- name: delete_identities
DELETE FROM identities WHERE account = $1;

-- Challenges.
-- name: create_challenge
INSERT INTO challenges (hash, data, expires_ns) VALUES ($1, $2, $3);

-- name: take_challenge
DELETE FROM challenges WHERE hash = $1 AND expires_ns > $2 RETURNING data;

-- name: delete_expired_challenges
DELETE FROM challenges WHERE hash IN (SELECT hash FROM challenges WHERE expires_ns <= $1 LIMIT 100);
