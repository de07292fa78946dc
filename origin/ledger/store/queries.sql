-- The ledger's queries that both databases understand. Those that differ are in
-- sqlite/queries.sql and postgres/queries.sql.

-- name: ping
SELECT count(*) FROM plans;

-- Writes of a commit group.
-- name: put_account
UPDATE accounts SET month = $2, used = $3, tat_ns = $4, stored = $5 WHERE id = $1;

-- name: put_key
UPDATE keys SET month = $2, used = $3, tat_ns = $4 WHERE id = $1;

-- name: add_usage
INSERT INTO usage (account, key, day, points, requests, errors,
                   valid, invalid, disposable, public, relay, role, gibberish, typo, lookup_errors)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
    ON CONFLICT (account, day, key) DO UPDATE
   SET points = usage.points + excluded.points,
       requests = usage.requests + excluded.requests,
       errors = usage.errors + excluded.errors,
       valid = usage.valid + excluded.valid,
       invalid = usage.invalid + excluded.invalid,
       disposable = usage.disposable + excluded.disposable,
       public = usage.public + excluded.public,
       relay = usage.relay + excluded.relay,
       role = usage.role + excluded.role,
       gibberish = usage.gibberish + excluded.gibberish,
       typo = usage.typo + excluded.typo,
       lookup_errors = usage.lookup_errors + excluded.lookup_errors;

-- name: put_answer
INSERT INTO answers (account, id, body, answer, size, expires_ns) VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (account, id) DO UPDATE
   SET body = excluded.body, answer = excluded.answer, size = excluded.size, expires_ns = excluded.expires_ns;

-- name: delete_answer
DELETE FROM answers WHERE account = $1 AND id = $2;

-- name: probe
UPDATE plans SET rate = rate WHERE name = (SELECT min(name) FROM plans);

-- name: list_expired_answers
SELECT account, id, size FROM answers WHERE expires_ns <= $1 ORDER BY expires_ns LIMIT $2;

-- Plans.
-- name: list_plans
SELECT name, rate, points, overage, stored FROM plans ORDER BY name;

-- Accounts.
-- name: change_account
UPDATE accounts SET plan = $2, rate = $3, points = $4, overage = $5 WHERE id = $1 RETURNING id;

-- $2 is when, or NULL to resume the account.
-- name: suspend_account
UPDATE accounts SET suspended_ns = CAST($2 AS BIGINT) WHERE id = $1;

-- Keys. The key of the dashboard does not count.
-- name: count_keys
SELECT (SELECT count(*) FROM keys k WHERE k.account = a.id AND NOT k.dashboard),
       (SELECT count(*) FROM keys k WHERE k.account = a.id AND NOT k.dashboard AND k.revoked_ns IS NULL)
  FROM accounts a WHERE a.id = $1;

-- name: create_key
INSERT INTO keys (account, name, hint, created_ns, expires_ns, budget, rate, origins, policy, test)
SELECT a.id, CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS BIGINT), CAST($5 AS BIGINT), CAST($6 AS BIGINT), CAST($7 AS BIGINT), CAST($8 AS TEXT), CAST($9 AS TEXT), CAST($10 AS BOOLEAN)
  FROM accounts a WHERE a.id = $1
RETURNING id;

-- name: read_dashboard_key
SELECT id FROM keys WHERE account = $1 AND dashboard;

-- name: revoke_key
UPDATE keys SET revoked_ns = $2 WHERE id = $1;

-- name: revoke_keys_before
UPDATE keys SET revoked_ns = $3 WHERE account = $1 AND created_ns < $2 AND revoked_ns IS NULL AND NOT dashboard;

-- name: put_hint
UPDATE keys SET hint = $2 WHERE id = $1;

-- Policies of an account.
-- name: list_policies
SELECT name, version, changed_ns, octet_length(document) FROM policies WHERE account = $1 ORDER BY name;

-- name: read_policy
SELECT document, version, changed_ns FROM policies WHERE account = $1 AND name = $2;

-- A key that is not revoked with the policy as its default.
-- name: find_policy_key
SELECT id FROM keys WHERE account = $1 AND policy = $2 AND revoked_ns IS NULL ORDER BY id LIMIT 1;

-- name: count_policy_change
UPDATE accounts SET policies = policies + 1 WHERE id = $1;

-- $3 the document, $4 now. It follows count_policy_change.
-- name: put_policy
INSERT INTO policies (account, name, document, version, changed_ns)
SELECT a.id, CAST($2 AS TEXT), CAST($3 AS TEXT), a.policies, CAST($4 AS BIGINT) FROM accounts a WHERE a.id = $1
    ON CONFLICT (account, name) DO UPDATE
   SET document = excluded.document, version = excluded.version, changed_ns = excluded.changed_ns;

-- name: delete_policy
DELETE FROM policies WHERE account = $1 AND name = $2;

-- Secrets. One that was replaced has an expiry, and so have those of hooks.
-- name: create_secret
INSERT INTO secrets (hash, key, expires_ns) VALUES ($1, $2, $3);

-- name: replace_secrets
UPDATE secrets SET expires_ns = $2 WHERE key = $1;

-- name: delete_replaced_secrets
DELETE FROM secrets WHERE key = $1 AND expires_ns IS NOT NULL;

-- name: delete_secrets
DELETE FROM secrets WHERE key = $1;

-- $2 is now.
-- name: delete_expired_secrets
DELETE FROM secrets WHERE key = $1 AND expires_ns <= $2;

-- Of a key's secrets that expire, it keeps the $2 that expire last.
-- name: trim_secrets
DELETE FROM secrets WHERE key = $1 AND expires_ns IS NOT NULL
   AND hash NOT IN (SELECT s.hash FROM secrets s WHERE s.key = $1 AND s.expires_ns IS NOT NULL ORDER BY s.expires_ns DESC LIMIT $2);

-- Deletion of an account, see ledger/book/accounts.go. What refers to a row goes with it. $2 is how
-- many rows at a time.
-- name: drop_secrets
DELETE FROM secrets WHERE key IN (SELECT k.id FROM keys k WHERE k.account = $1);

-- name: drop_user
DELETE FROM users WHERE account = $1;

-- name: drop_answers
DELETE FROM answers WHERE account = $1 AND id IN (SELECT x.id FROM answers x WHERE x.account = $1 LIMIT $2) RETURNING size;

-- name: drop_usage
DELETE FROM usage WHERE account = $1
   AND (day, key) IN (SELECT u.day, u.key FROM usage u WHERE u.account = $1 ORDER BY u.day, u.key LIMIT $2) RETURNING key;

-- name: drop_keys
DELETE FROM keys WHERE id IN (SELECT k.id FROM keys k WHERE k.account = $1 ORDER BY k.id LIMIT $2) RETURNING id;

-- name: drop_account
DELETE FROM accounts WHERE id = $1;

-- Usage history: $1 account or 0 for all, $2 and $3 the first and last day.
-- name: read_usage
SELECT u.account, coalesce(a.email, ''), u.key, coalesce(k.name, ''), u.day, u.points, u.requests, u.errors,
       u.valid, u.invalid, u.disposable, u.public, u.relay, u.role, u.gibberish, u.typo, u.lookup_errors
  FROM usage u LEFT JOIN accounts a ON a.id = u.account LEFT JOIN keys k ON k.id = u.key
 WHERE (CAST($1 AS BIGINT) = 0 OR u.account = $1) AND u.day BETWEEN $2 AND $3
 ORDER BY u.account, u.day, u.key;

-- Usage of one account: $1 account, $2 and $3 the first and last day, $4 a key or 0
-- for all. The rows come newest day and key first; $5 and $6 are the day and key of
-- the last row before the page, $7 is how many.
-- name: read_usage_rows
SELECT u.key, u.day, u.points, u.requests, u.errors,
       u.valid, u.invalid, u.disposable, u.public, u.relay, u.role, u.gibberish, u.typo, u.lookup_errors,
       k.name, k.hint, k.dashboard, k.revoked_ns IS NOT NULL
  FROM usage u JOIN keys k ON k.id = u.key
 WHERE u.account = $1 AND u.day BETWEEN $2 AND $3
   AND (CAST($4 AS BIGINT) = 0 OR u.key = $4) AND (u.day, u.key) < ($5, $6)
 ORDER BY u.day DESC, u.key DESC LIMIT $7;

-- name: sum_usage
SELECT count(*), CAST(coalesce(sum(u.points), 0) AS BIGINT), CAST(coalesce(sum(u.requests), 0) AS BIGINT), CAST(coalesce(sum(u.errors), 0) AS BIGINT),
       CAST(coalesce(sum(u.valid), 0) AS BIGINT), CAST(coalesce(sum(u.invalid), 0) AS BIGINT), CAST(coalesce(sum(u.disposable), 0) AS BIGINT),
       CAST(coalesce(sum(u.public), 0) AS BIGINT), CAST(coalesce(sum(u.relay), 0) AS BIGINT), CAST(coalesce(sum(u.role), 0) AS BIGINT),
       CAST(coalesce(sum(u.gibberish), 0) AS BIGINT), CAST(coalesce(sum(u.typo), 0) AS BIGINT), CAST(coalesce(sum(u.lookup_errors), 0) AS BIGINT)
  FROM usage u
 WHERE u.account = $1 AND u.day BETWEEN $2 AND $3 AND (CAST($4 AS BIGINT) = 0 OR u.key = $4);

-- The $4 keys with the most points.
-- name: list_used_keys
SELECT k.id, k.name, k.hint, k.dashboard, k.revoked_ns IS NOT NULL, t.points
  FROM (SELECT u.key, CAST(sum(u.points) AS BIGINT) AS points
          FROM usage u WHERE u.account = $1 AND u.day BETWEEN $2 AND $3
         GROUP BY u.key ORDER BY 2 DESC, u.key LIMIT $4) t
  JOIN keys k ON k.id = t.key
 ORDER BY t.points DESC, k.id;

-- What all accounts did on each day from $1 to $2. The CROSS JOIN makes SQLite seek the days of each
-- account in the primary key, so that it reads no row of an earlier day, and "a.id > 0" in its order.
-- name: sum_usage_of_all
SELECT u.day, CAST(sum(u.points) AS BIGINT), CAST(sum(u.requests) AS BIGINT), CAST(sum(u.errors) AS BIGINT)
  FROM accounts a CROSS JOIN usage u
 WHERE a.id > 0 AND u.account = a.id AND u.day BETWEEN $1 AND $2
 GROUP BY u.day ORDER BY u.day;

-- The $2 accounts that used most in the month $1. The columns are those of list_accounts.
-- name: list_top_accounts
SELECT a.id, a.email, a.plan, coalesce(a.rate, p.rate), coalesce(a.points, p.points), coalesce(a.overage, p.overage),
       a.month, a.used, a.created_ns, coalesce(a.suspended_ns, 0),
       a.rate, a.points, a.overage
  FROM accounts a JOIN plans p ON p.name = a.plan
 WHERE a.month >= $1 AND a.used > 0
 ORDER BY a.used DESC, a.id LIMIT $2;

-- The audit log.
-- name: add_audit
INSERT INTO audit (account, at_ns, actor, action, subject) VALUES ($1, $2, $3, $4, $5);

-- $1 account, $2 lines before this one, $3 how many.
-- name: list_audit
SELECT id, at_ns, actor, action, subject FROM audit WHERE account = $1 AND id < $2 ORDER BY id DESC LIMIT $3;

-- An account keeps the $3 newest lines of each action.
-- name: trim_audit
DELETE FROM audit WHERE account = $1 AND action = $2
   AND id <= (SELECT id FROM audit WHERE account = $1 AND action = $2 ORDER BY id DESC LIMIT 1 OFFSET $3);
