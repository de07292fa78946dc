-- The ledger's queries for PostgreSQL. sqlite/queries.sql has the same names in
-- the same order, so a diff shows only the dialects. Lists are JSON arguments.
--
-- The planner expects 100 elements in a list, whatever it has. To join them it
-- hashes whole tables, and for one charge this took more time than all else. So the
-- reads of requests and commit groups look each element up: by a LATERAL query
-- with a LIMIT, which it cannot turn into such a join, or by = ANY (ARRAY (...)).

-- name: ping
SELECT count(*) FROM plans;

-- name: read_last_month
SELECT coalesce(max(month), 0) FROM accounts;

-- Reads of views. $1 lists pairs of a secret's hash and the id of an idempotency
-- record, or zeros for no record.
-- name: read_view
SELECT s.hash, w.value->>1, coalesce(s.expires_ns, 0), k.id, k.revoked_ns IS NOT NULL, coalesce(k.expires_ns, 0), coalesce(k.budget, -1), coalesce(k.rate, -1), k.origins,
       k.month, k.used, k.tat_ns,
       a.id, a.month, a.used, a.tat_ns, a.stored, a.suspended_ns IS NOT NULL,
       coalesce(a.points, p.points), coalesce(a.rate, p.rate), coalesce(a.overage, p.overage), p.stored,
       x.body, x.answer, coalesce(x.expires_ns, 0)
  FROM jsonb_array_elements($1::jsonb) w
  JOIN LATERAL (SELECT * FROM secrets WHERE hash = w.value->>0 LIMIT 1) s ON true
  JOIN LATERAL (SELECT * FROM keys WHERE id = s.key LIMIT 1) k ON true
  JOIN LATERAL (SELECT * FROM accounts WHERE id = k.account LIMIT 1) a ON true
  JOIN LATERAL (SELECT * FROM plans WHERE name = a.plan LIMIT 1) p ON true
  LEFT JOIN LATERAL (SELECT * FROM answers WHERE account = a.id AND id = w.value->>1 LIMIT 1) x ON true;

-- Reads of a commit group. $1 lists triples of an account, one of its keys or
-- 0, and the hash of one of the key's secrets or "". The rows that belong to an
-- account are written only under the lock of the account's row, and read after
-- it was acquired: a statement that waits for a lock sees other tables as they
-- were before the wait.
-- name: lock_accounts
SELECT a.id FROM accounts a
 WHERE a.id = ANY (ARRAY (SELECT (w.value->>0)::bigint FROM jsonb_array_elements($1::jsonb) w))
 ORDER BY a.id -- the same order in every replica prevents deadlocks
   FOR NO KEY UPDATE;

-- name: read_rows
SELECT a.id, a.month, a.used, a.tat_ns, a.stored, a.suspended_ns IS NOT NULL,
       coalesce(a.points, p.points), coalesce(a.rate, p.rate), coalesce(a.overage, p.overage), p.stored,
       coalesce(k.id, 0), k.revoked_ns IS NOT NULL, coalesce(k.expires_ns, 0), coalesce(k.budget, -1), coalesce(k.rate, -1), coalesce(k.origins, ''),
       coalesce(k.month, 0), coalesce(k.used, 0), coalesce(k.tat_ns, 0),
       coalesce(s.hash, ''), coalesce(s.expires_ns, 0)
  FROM jsonb_array_elements($1::jsonb) w
  JOIN LATERAL (SELECT * FROM accounts WHERE id = (w.value->>0)::bigint LIMIT 1) a ON true
  JOIN LATERAL (SELECT * FROM plans WHERE name = a.plan LIMIT 1) p ON true
  LEFT JOIN LATERAL (SELECT * FROM keys WHERE id = (w.value->>1)::bigint AND account = a.id LIMIT 1) k ON true
  LEFT JOIN LATERAL (SELECT * FROM secrets WHERE hash = w.value->>2 AND key = k.id LIMIT 1) s ON true;

-- $1 lists pairs of an account and the id of a record.
-- name: read_answers
SELECT x.account, x.id, x.body, x.answer, x.size, x.expires_ns
  FROM jsonb_array_elements($1::jsonb) w
  JOIN LATERAL (SELECT * FROM answers WHERE account = (w.value->>0)::bigint AND id = w.value->>1 LIMIT 1) x ON true;

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
-- name: put_plans
INSERT INTO plans (name, rate, points, overage, stored)
SELECT w.value->>0, (w.value->>1)::bigint, (w.value->>2)::bigint, (w.value->>3)::boolean, (w.value->>4)::bigint
  FROM jsonb_array_elements($1::jsonb) w WHERE true
    ON CONFLICT (name) DO UPDATE
   SET rate = excluded.rate, points = excluded.points, overage = excluded.overage, stored = excluded.stored;

-- name: list_plans
SELECT name, rate, points, overage, stored FROM plans ORDER BY name;

-- Accounts.
-- name: create_account
INSERT INTO accounts (email, plan, rate, points, overage, created_ns)
SELECT CAST($1 AS TEXT), p.name, CAST($3 AS BIGINT), CAST($4 AS BIGINT), CAST($5 AS BOOLEAN), CAST($6 AS BIGINT)
  FROM plans p WHERE p.name = $2
    ON CONFLICT (email) DO NOTHING
RETURNING id;

-- name: change_account
UPDATE accounts SET plan = $2, rate = $3, points = $4, overage = $5 WHERE id = $1 RETURNING id;

-- $1 an ID or 0, $2 an email or '', $3 a part of the email or '', $4 the last ID of
-- the page before, $5 how many.
-- name: list_accounts
SELECT a.id, a.email, a.plan, coalesce(a.rate, p.rate), coalesce(a.points, p.points), coalesce(a.overage, p.overage),
       a.month, a.used, a.created_ns, coalesce(a.suspended_ns, 0),
       a.rate, a.points, a.overage
  FROM accounts a JOIN plans p ON p.name = a.plan
 WHERE (CAST($1 AS BIGINT) = 0 OR a.id = $1) AND (CAST($2 AS TEXT) = '' OR a.email = $2)
   AND (CAST($3 AS TEXT) = '' OR strpos(a.email, $3) > 0) AND a.id > $4
 ORDER BY a.id LIMIT $5;

-- $2 is when, or NULL to resume the account.
-- name: suspend_account
UPDATE accounts SET suspended_ns = CAST($2 AS BIGINT) WHERE id = $1;

-- $1 account, $2 today: move usage recorded under future days to today.
-- name: sum_future_usage
SELECT CAST(coalesce(sum(points), 0) AS BIGINT) FROM usage WHERE account = $1 AND day > $2;

-- name: move_future_usage
INSERT INTO usage (account, key, day, points, requests, errors,
                   valid, invalid, disposable, public, relay, role, gibberish, typo, lookup_errors)
SELECT account, key, CAST($2 AS BIGINT), sum(points), sum(requests), sum(errors),
       sum(valid), sum(invalid), sum(disposable), sum(public), sum(relay), sum(role), sum(gibberish), sum(typo), sum(lookup_errors)
  FROM usage WHERE account = $1 AND day > $2 GROUP BY account, key
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

-- name: delete_future_usage
DELETE FROM usage WHERE account = $1 AND day > $2;

-- $1 account, $2 the current month, $3 its first day, $4 now.
-- name: reset_account
UPDATE accounts
   SET used = CASE WHEN month = $2 THEN used
              ELSE greatest(0, (SELECT CAST(coalesce(sum(u.points), 0) AS BIGINT) FROM usage u WHERE u.account = accounts.id AND u.day >= $3)) END,
       month = $2, tat_ns = $4
 WHERE id = $1
RETURNING used;

-- name: reset_keys
UPDATE keys
   SET used = CASE WHEN month = $2 THEN used
              ELSE greatest(0, (SELECT CAST(coalesce(sum(u.points), 0) AS BIGINT) FROM usage u WHERE u.account = keys.account AND u.key = keys.id AND u.day >= $3)) END,
       month = $2, tat_ns = $4
 WHERE account = $1;

-- Keys. The key of the dashboard does not count.
-- name: count_keys
SELECT a.id, (SELECT count(*) FROM keys k WHERE k.account = a.id AND NOT k.dashboard),
       (SELECT count(*) FROM keys k WHERE k.account = a.id AND NOT k.dashboard AND k.revoked_ns IS NULL)
  FROM accounts a WHERE a.id = $1;

-- name: create_key
INSERT INTO keys (account, name, hint, created_ns, expires_ns, budget, rate, origins)
SELECT a.id, CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS BIGINT), CAST($5 AS BIGINT), CAST($6 AS BIGINT), CAST($7 AS BIGINT), CAST($8 AS TEXT)
  FROM accounts a WHERE a.id = $1
RETURNING id;

-- name: create_dashboard_key
INSERT INTO keys (account, name, hint, created_ns, dashboard)
SELECT a.id, CAST($2 AS TEXT), '', CAST($3 AS BIGINT), true
  FROM accounts a WHERE a.id = $1 AND NOT EXISTS (SELECT 1 FROM keys k WHERE k.account = a.id AND k.dashboard);

-- name: read_dashboard_key
SELECT id FROM keys WHERE account = $1 AND dashboard;

-- $1 account, $2 an ID or 0, $3 an ID above those of the page, $4 how many,
-- $5 a part of the name in lower case (ASCII), $6 whether revoked keys are
-- listed, $7 whether the dashboard's is.
-- name: list_keys
SELECT k.id, k.account, k.name, k.hint, k.created_ns, coalesce(k.revoked_ns, 0), k.dashboard,
       coalesce(k.expires_ns, 0), coalesce(k.budget, -1), coalesce(k.rate, -1), k.origins, k.month, k.used,
       coalesce((SELECT max(s.expires_ns) FROM secrets s WHERE s.key = k.id), 0),
       coalesce((SELECT max(u.day) FROM usage u WHERE u.key = k.id), 0)
  FROM keys k
 WHERE k.account = $1 AND (CAST($2 AS BIGINT) = 0 OR k.id = $2) AND k.id < $3
   AND (CAST($5 AS TEXT) = '' OR strpos(lower(k.name COLLATE "C"), $5) > 0)
   AND (CAST($6 AS BOOLEAN) OR k.revoked_ns IS NULL) AND (CAST($7 AS BOOLEAN) OR NOT k.dashboard)
 ORDER BY k.id DESC LIMIT $4;

-- $1 the key, $2 to $6 its name and terms, $7 the account's month, $8 the first
-- day of it. A key whose use was not counted, since it had neither budget nor rate,
-- begins with the month's use in the history.
-- name: change_key
UPDATE keys
   SET name = $2, expires_ns = $3, budget = $4, rate = $5, origins = $6,
       used = CASE WHEN budget IS NULL AND rate IS NULL
              THEN greatest(0, (SELECT CAST(coalesce(sum(u.points), 0) AS BIGINT) FROM usage u WHERE u.key = keys.id AND u.day >= $8))
              ELSE used END,
       month = CASE WHEN budget IS NULL AND rate IS NULL THEN $7 ELSE month END
 WHERE id = $1;

-- name: revoke_key
UPDATE keys SET revoked_ns = $2 WHERE id = $1;

-- name: put_hint
UPDATE keys SET hint = $2 WHERE id = $1;

-- Secrets. One that was replaced has an expiry, and so have those of the dashboard.
-- name: create_secret
INSERT INTO secrets (hash, key, expires_ns) VALUES ($1, $2, $3);

-- name: replace_secrets
UPDATE secrets SET expires_ns = $2 WHERE key = $1;

-- name: delete_replaced_secrets
DELETE FROM secrets WHERE key = $1 AND expires_ns IS NOT NULL;

-- name: delete_secrets
DELETE FROM secrets WHERE key = $1;

-- name: delete_expired_secrets
DELETE FROM secrets WHERE key = $1 AND expires_ns <= $2;

-- A key keeps the $2 secrets that expire last.
-- name: trim_secrets
DELETE FROM secrets WHERE key = $1
   AND hash NOT IN (SELECT s.hash FROM secrets s WHERE s.key = $1 ORDER BY s.expires_ns DESC LIMIT $2);

-- Deletion of an account, see ledger/delete.go.
-- name: drop_secrets
DELETE FROM secrets WHERE key IN (SELECT k.id FROM keys k WHERE k.account = $1);

-- name: drop_sessions
DELETE FROM sessions WHERE account = $1;

-- name: drop_links
DELETE FROM links WHERE account = $1;

-- name: drop_recovery_codes
DELETE FROM recovery_codes WHERE account = $1;

-- name: drop_passkeys
DELETE FROM passkeys WHERE account = $1;

-- name: drop_identities
DELETE FROM identities WHERE account = $1;

-- name: drop_user
DELETE FROM users WHERE account = $1;

-- name: drop_deliveries
DELETE FROM deliveries WHERE account = $1;

-- name: drop_webhook
DELETE FROM webhooks WHERE account = $1;

-- name: drop_audit
DELETE FROM audit WHERE account = $1;

-- $2 is how many rows at a time.
-- name: drop_answers
DELETE FROM answers WHERE account = $1 AND id IN (SELECT x.id FROM answers x WHERE x.account = $1 LIMIT $2) RETURNING size;

-- name: drop_usage
DELETE FROM usage WHERE account = $1
   AND (day, key) IN (SELECT u.day, u.key FROM usage u WHERE u.account = $1 ORDER BY u.day, u.key LIMIT $2) RETURNING key;

-- name: drop_usage_of_keys
DELETE FROM usage WHERE key IN (SELECT k.id FROM keys k WHERE k.account = $1 ORDER BY k.id LIMIT $2);

-- name: drop_secrets_of_keys
DELETE FROM secrets WHERE key IN (SELECT k.id FROM keys k WHERE k.account = $1 ORDER BY k.id LIMIT $2);

-- name: drop_keys
DELETE FROM keys WHERE id IN (SELECT k.id FROM keys k WHERE k.account = $1 ORDER BY k.id LIMIT $2) RETURNING id;

-- name: limit_lock_wait
SELECT set_config('lock_timeout', '100', true);

-- name: lock_account_alone
SELECT id FROM accounts WHERE id = $1 FOR UPDATE;

-- name: drop_account
DELETE FROM accounts WHERE id = $1;

-- Usage history: $1 account or 0 for all, $2 and $3 the first and last day.
-- name: read_usage
SELECT u.account, coalesce(a.email, ''), u.key, coalesce(k.name, ''), u.day, u.points, u.requests, u.errors,
       u.valid, u.invalid, u.disposable, u.public, u.relay, u.role, u.gibberish, u.typo, u.lookup_errors
  FROM usage u LEFT JOIN accounts a ON a.id = u.account LEFT JOIN keys k ON k.id = u.key
 WHERE (CAST($1 AS BIGINT) = 0 OR u.account = $1) AND u.day BETWEEN $2 AND $3
 ORDER BY u.account, u.day, u.key;

-- $1 account, $2 and $3 the first and last day, $4 a list of keys.
-- name: read_usage_of_keys
SELECT u.key, u.day, u.points, u.requests
  FROM usage u
 WHERE u.account = $1 AND u.day BETWEEN $2 AND $3 AND u.key IN (SELECT w.value::bigint FROM jsonb_array_elements_text($4::jsonb) w);

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

-- $4 lists keys; the others are summed as the key 0.
-- name: sum_usage_days
SELECT u.day, CASE WHEN u.key IN (SELECT w.value::bigint FROM jsonb_array_elements_text($4::jsonb) w) THEN u.key ELSE 0 END AS of_key, CAST(sum(u.points) AS BIGINT)
  FROM usage u
 WHERE u.account = $1 AND u.day BETWEEN $2 AND $3
 GROUP BY u.day, of_key
 ORDER BY u.day, of_key;

-- The audit log.
-- name: add_audit
INSERT INTO audit (account, at_ns, actor, action, subject) VALUES ($1, $2, $3, $4, $5);

-- $1 account, $2 lines before this one, $3 how many.
-- name: list_audit
SELECT id, at_ns, actor, action, subject FROM audit WHERE account = $1 AND id < $2 ORDER BY id DESC LIMIT $3;

-- An account keeps its $2 newest lines.
-- name: trim_audit
DELETE FROM audit WHERE account = $1 AND id <= (SELECT id FROM audit WHERE account = $1 ORDER BY id DESC LIMIT 1 OFFSET $2);
