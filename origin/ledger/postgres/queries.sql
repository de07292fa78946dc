-- The ledger's queries for PostgreSQL. sqlite/queries.sql has the same names in
-- the same order, so that a diff shows dialect alone. Lists come as JSON.

-- name: ping
SELECT count(*) FROM plans;

-- Reads of a batch: $1 hashes of secrets, $2 accounts.
-- name: lock_accounts
SELECT a.id, a.month, a.used, a.tat_ns,
       coalesce(a.points, p.points), coalesce(a.rate, p.rate), p.overage
  FROM accounts a JOIN plans p ON p.name = a.plan
 WHERE a.id IN (SELECT k.account FROM keys k WHERE k.hash IN (SELECT jsonb_array_elements_text($1::jsonb))
                UNION SELECT jsonb_array_elements_text($2::jsonb)::bigint)
 ORDER BY a.id -- the same order in every replica, or they would deadlock
   FOR NO KEY UPDATE OF a;

-- name: read_keys
SELECT k.hash, k.id, k.account, k.revoked_ns IS NOT NULL
  FROM keys k
 WHERE k.hash IN (SELECT jsonb_array_elements_text($1::jsonb));

-- name: read_holds
SELECT h.account, h.id, h.body, h.owner, h.lease_ns, h.expires_ns,
       h.answer IS NOT NULL, h.answer, h.key, h.points, h.month, h.day
  FROM jsonb_array_elements($1::jsonb) w
  JOIN holds h ON h.id = w.value->>'id'
              AND h.account = coalesce((w.value->>'account')::bigint,
                                       (SELECT k.account FROM keys k WHERE k.hash = w.value->>'key'));

-- Writes of a batch.
-- name: put_account
UPDATE accounts SET month = $2, used = $3, tat_ns = $4 WHERE id = $1;

-- name: add_usage
INSERT INTO usage (account, key, day, points, requests, errors)
VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (account, day, key) DO UPDATE
   SET points   = usage.points + excluded.points,
       requests = usage.requests + excluded.requests,
       errors   = usage.errors + excluded.errors;

-- name: put_hold
INSERT INTO holds (account, id, body, owner, lease_ns, expires_ns, answer, key, points, month, day)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
    ON CONFLICT (account, id) DO UPDATE
   SET body = excluded.body, owner = excluded.owner,
       lease_ns = excluded.lease_ns, expires_ns = excluded.expires_ns, answer = excluded.answer,
       key = excluded.key, points = excluded.points, month = excluded.month, day = excluded.day;

-- name: drop_hold
DELETE FROM holds WHERE account = $1 AND id = $2;

-- name: purge_holds
DELETE FROM holds
 WHERE (account, id) IN (SELECT account, id FROM holds
                          WHERE expires_ns <= $1 AND answer IS NOT NULL LIMIT $2);

-- name: list_lapsed
SELECT account, id FROM holds WHERE lease_ns <= $1 AND answer IS NULL LIMIT $2;

-- Plans.
-- name: put_plans
INSERT INTO plans (name, rate, points, overage)
SELECT w.value->>'name', (w.value->>'rate')::bigint, (w.value->>'points')::bigint, (w.value->>'overage')::boolean
  FROM jsonb_array_elements($1::jsonb) w WHERE true
    ON CONFLICT (name) DO UPDATE
   SET rate = excluded.rate, points = excluded.points, overage = excluded.overage;

-- name: list_plans
SELECT name, rate, points, overage FROM plans ORDER BY name;

-- Accounts.
-- name: create_account
INSERT INTO accounts (email, plan, rate, points, created_ns)
SELECT CAST($1 AS TEXT), p.name, CAST($3 AS BIGINT), CAST($4 AS BIGINT), CAST($5 AS BIGINT)
  FROM plans p WHERE p.name = $2
    ON CONFLICT (email) DO NOTHING
RETURNING id;

-- name: change_account
UPDATE accounts SET plan = $2, rate = $3, points = $4 WHERE id = $1 RETURNING id;

-- name: list_accounts
SELECT a.id, a.email, a.plan, coalesce(a.rate, p.rate), coalesce(a.points, p.points), p.overage,
       a.month, a.used, a.created_ns
  FROM accounts a JOIN plans p ON p.name = a.plan
 WHERE (CAST($1 AS TEXT) = '' OR a.email = $1) AND a.id > $2
 ORDER BY a.id LIMIT $3;

-- Keys.
-- name: create_key
INSERT INTO keys (account, name, hash, hint, created_ns)
SELECT a.id, CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS TEXT), CAST($5 AS BIGINT)
  FROM accounts a WHERE a.id = $1
RETURNING id;

-- name: list_keys
SELECT k.id, k.account, k.name, k.hint, k.created_ns, coalesce(k.revoked_ns, 0),
       coalesce((SELECT max(u.day) FROM usage u WHERE u.account = k.account AND u.key = k.id), 0)
  FROM keys k WHERE k.account = $1 ORDER BY k.id;

-- name: revoke_key
UPDATE keys SET revoked_ns = coalesce(revoked_ns, CAST($3 AS BIGINT)) WHERE account = $1 AND id = $2 RETURNING id;

-- Usage history: $1 account or 0 for all, $2 and $3 first and last day.
-- name: read_usage
SELECT u.account, u.key, u.day, u.points, u.requests, u.errors
  FROM usage u
 WHERE (CAST($1 AS BIGINT) = 0 OR u.account = $1) AND u.day BETWEEN $2 AND $3
 ORDER BY u.account, u.day, u.key;
