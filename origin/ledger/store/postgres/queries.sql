-- The queries that differ between databases, for PostgreSQL. sqlite/queries.sql has the
-- same names in the same order. Lists are JSON arguments.
--
-- The planner expects 100 elements in a list, whatever it has. To join them it
-- hashes whole tables, and for one charge this took more time than all else. So the
-- reads of requests and commit groups look each element up: by a LATERAL query
-- with a LIMIT, which it cannot turn into such a join, or by = ANY (ARRAY (...)).

-- Reads of views. $1 lists pairs of a secret's hash and the id of an idempotency
-- record, or zeros for no record.
-- name: read_view
SELECT s.hash, w.value->>1, coalesce(s.expires_ns, 0), k.id, k.revoked_ns IS NOT NULL, coalesce(k.expires_ns, 0), coalesce(k.budget, -1), coalesce(k.rate, -1), k.origins, k.policy, k.test,
       k.month, k.used, k.tat_ns,
       a.id, a.month, a.used, a.tat_ns, a.stored, a.policies, a.suspended_ns IS NOT NULL,
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

-- Locks those of the accounts that nobody else has locked, without waiting.
-- name: lock_free_accounts
SELECT a.id FROM accounts a
 WHERE a.id = ANY (ARRAY (SELECT (w.value->>0)::bigint FROM jsonb_array_elements($1::jsonb) w))
   FOR NO KEY UPDATE SKIP LOCKED;

-- name: read_rows
SELECT a.id, a.month, a.used, a.tat_ns, a.stored, a.policies, a.suspended_ns IS NOT NULL,
       coalesce(a.points, p.points), coalesce(a.rate, p.rate), coalesce(a.overage, p.overage), p.stored,
       coalesce(k.id, 0), k.revoked_ns IS NOT NULL, coalesce(k.expires_ns, 0), coalesce(k.budget, -1), coalesce(k.rate, -1), coalesce(k.origins, ''), coalesce(k.policy, ''), coalesce(k.test, false),
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

-- name: put_plans
INSERT INTO plans (name, rate, points, overage, stored)
SELECT w.value->>0, (w.value->>1)::bigint, (w.value->>2)::bigint, (w.value->>3)::boolean, (w.value->>4)::bigint
  FROM jsonb_array_elements($1::jsonb) w WHERE true
    ON CONFLICT (name) DO UPDATE
   SET rate = excluded.rate, points = excluded.points, overage = excluded.overage, stored = excluded.stored;

-- name: create_account
INSERT INTO accounts (email, plan, rate, points, overage, created_ns)
SELECT CAST($1 AS TEXT), p.name, CAST($3 AS BIGINT), CAST($4 AS BIGINT), CAST($5 AS BOOLEAN), CAST($6 AS BIGINT)
  FROM plans p WHERE p.name = $2
    ON CONFLICT (email) DO NOTHING
RETURNING id;

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

-- name: create_dashboard_key
INSERT INTO keys (account, name, hint, created_ns, dashboard)
SELECT a.id, CAST($2 AS TEXT), '', CAST($3 AS BIGINT), true
  FROM accounts a WHERE a.id = $1 AND NOT EXISTS (SELECT 1 FROM keys k WHERE k.account = a.id AND k.dashboard);

-- $1 account, $2 an ID or 0, $3 an ID above those of the page, $4 how many,
-- $5 a part of the name in lower case (ASCII), $6 whether revoked keys are
-- listed, $7 whether the dashboard's is.
-- name: list_keys
SELECT k.id, k.account, k.name, k.hint, k.created_ns, coalesce(k.revoked_ns, 0), k.dashboard,
       coalesce(k.expires_ns, 0), k.budget, k.rate, k.origins, k.policy, k.test, k.month, k.used,
       coalesce((SELECT max(s.expires_ns) FROM secrets s WHERE s.key = k.id), 0),
       coalesce((SELECT max(u.day) FROM usage u WHERE u.key = k.id), 0)
  FROM keys k
 WHERE k.account = $1 AND (CAST($2 AS BIGINT) = 0 OR k.id = $2) AND k.id < $3
   AND (CAST($5 AS TEXT) = '' OR strpos(lower(k.name COLLATE "C"), $5) > 0)
   AND (CAST($6 AS BOOLEAN) OR k.revoked_ns IS NULL) AND (CAST($7 AS BOOLEAN) OR NOT k.dashboard)
 ORDER BY k.id DESC LIMIT $4;

-- $1 the key, $2 to $7 its name and terms, $8 the account's month, $9 the first
-- day of it. A key whose use was not counted, since it had neither budget nor rate,
-- begins with the month's use in the history.
-- name: change_key
UPDATE keys
   SET name = $2, expires_ns = $3, budget = $4, rate = $5, origins = $6, policy = $7,
       used = CASE WHEN budget IS NULL AND rate IS NULL
              THEN greatest(0, (SELECT CAST(coalesce(sum(u.points), 0) AS BIGINT) FROM usage u WHERE u.key = keys.id AND u.day >= $9))
              ELSE used END,
       month = CASE WHEN budget IS NULL AND rate IS NULL THEN $8 ELSE month END
 WHERE id = $1;

-- $1 account, $2 and $3 the first and last day, $4 a list of keys.
-- name: read_usage_of_keys
SELECT u.key, u.day, u.points, u.requests
  FROM usage u
 WHERE u.account = $1 AND u.day BETWEEN $2 AND $3 AND u.key IN (SELECT w.value::bigint FROM jsonb_array_elements_text($4::jsonb) w);

-- $1 account, $2 and $3 the first and last day, $4 lists keys; the others are
-- summed as the key 0.
-- name: sum_usage_days
SELECT u.day, CASE WHEN u.key IN (SELECT w.value::bigint FROM jsonb_array_elements_text($4::jsonb) w) THEN u.key ELSE 0 END AS of_key, CAST(sum(u.points) AS BIGINT)
  FROM usage u
 WHERE u.account = $1 AND u.day BETWEEN $2 AND $3
 GROUP BY u.day, of_key
 ORDER BY u.day, of_key;

-- Locks the webhook of an account, see ../webhook.sql.
-- name: lock_webhook
SELECT url, secret, previous, rotated_ns, disabled_ns, created_ns FROM webhooks WHERE account = $1 FOR NO KEY UPDATE;

-- Skips the buckets of other attempts, which may delete as well and would wait for this
-- one's, see ../identity.sql.
-- name: delete_old_attempts
DELETE FROM attempts
 WHERE subject = ANY (ARRAY (SELECT subject FROM attempts WHERE tat_ns <= $1 LIMIT 100 FOR UPDATE SKIP LOCKED));
