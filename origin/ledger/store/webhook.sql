-- The queries of package webhook. lock_webhook is in sqlite/queries.sql and
-- postgres/queries.sql.

-- The webhook of an account. A transaction that changes a webhook or claims a
-- delivery locks the webhook's row first, so replicas take turns.
-- name: read_webhook
SELECT url, secret, previous, rotated_ns, disabled_ns, created_ns FROM webhooks WHERE account = $1;

-- name: read_account_points
SELECT a.id, a.month, a.used, coalesce(a.points, p.points)
  FROM accounts a JOIN plans p ON p.name = a.plan
 WHERE a.id = $1;

-- name: put_webhook
INSERT INTO webhooks (account, url, secret, created_ns) VALUES ($1, $2, $3, $4)
    ON CONFLICT (account) DO UPDATE
   SET url = excluded.url, secret = excluded.secret, previous = '', rotated_ns = 0, disabled_ns = 0,
       created_ns = excluded.created_ns;

-- name: rotate_webhook
UPDATE webhooks SET previous = secret, secret = $2, rotated_ns = $3 WHERE account = $1;

-- name: list_unsealed_webhooks
SELECT account, secret, previous FROM webhooks
 WHERE account > $1 AND (substr(secret, 1, length(CAST($2 AS TEXT))) <> $2 OR previous <> '' AND substr(previous, 1, length(CAST($2 AS TEXT))) <> $2)
 ORDER BY account LIMIT $3;

-- name: reseal_webhook
UPDATE webhooks SET secret = $4, previous = $5 WHERE account = $1 AND secret = $2 AND previous = $3;

-- name: disable_webhook
UPDATE webhooks SET disabled_ns = $2 WHERE account = $1;

-- name: delete_webhook
DELETE FROM webhooks WHERE account = $1;

-- Accounts whose points used in month $1 have reached a threshold for which there
-- is no delivery yet, at most $2 of them. 80 % of the limit, rounded up, is the limit
-- less its fifth; a product could overflow.
-- name: list_thresholds
SELECT a.id, a.month, a.used, coalesce(a.points, p.points)
  FROM webhooks w
  JOIN accounts a ON a.id = w.account
  JOIN plans p ON p.name = a.plan
 WHERE w.disabled_ns = 0 AND a.month = $1 AND coalesce(a.points, p.points) > 0
   AND (a.used >= coalesce(a.points, p.points) - coalesce(a.points, p.points) / 5
        AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.account = a.id AND d.month = $1 AND d.percent = 80)
        OR a.used >= coalesce(a.points, p.points)
        AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.account = a.id AND d.month = $1 AND d.percent = 100))
 ORDER BY a.id LIMIT $2;

-- The primary key makes a message of an account, a month and a threshold unique.
-- name: add_delivery
INSERT INTO deliveries (account, month, percent, id, body, created_ns, next_ns) VALUES ($1, $2, $3, $4, $5, $6, $6)
    ON CONFLICT (account, month, percent) DO NOTHING;

-- $3 is the delivery's ID, $6 the end of its lease.
-- name: put_test
INSERT INTO deliveries (account, month, percent, id, body, created_ns, next_ns, attempts, status) VALUES ($1, $2, 0, $3, $4, $5, $6, 1, $7)
    ON CONFLICT (account, month, percent) DO UPDATE
   SET id = excluded.id, body = excluded.body, created_ns = excluded.created_ns, next_ns = excluded.next_ns,
       attempts = 1, done_ns = 0, status = excluded.status;

-- Accounts with a delivery that is due at $1, at most $2 of them.
-- name: list_due
SELECT d.account
  FROM deliveries d JOIN webhooks w ON w.account = d.account
 WHERE d.done_ns = 0 AND d.next_ns <= $1 AND w.disabled_ns = 0
 GROUP BY d.account ORDER BY min(d.next_ns) LIMIT $2;

-- $1 account, $2 how many. Newest first.
-- name: list_deliveries
SELECT id, month, percent, body, created_ns, next_ns, attempts, done_ns, status
  FROM deliveries WHERE account = $1 ORDER BY created_ns DESC, percent DESC LIMIT $2;

-- The deliveries of an account that are not done, and the last test, which has month 0.
-- name: read_deliveries
SELECT id, month, percent, body, created_ns, next_ns, attempts, done_ns, status
  FROM deliveries WHERE account = $1 AND (done_ns = 0 OR month = 0) ORDER BY month, percent;

-- name: claim_delivery
UPDATE deliveries SET next_ns = $2, attempts = $3, status = $4 WHERE id = $1 AND done_ns = 0;

-- The attempt $2 of delivery $1 ends, unless another replica has begun the next.
-- name: finish_attempt
UPDATE deliveries SET attempts = $3, next_ns = $4, done_ns = $5, status = $6
 WHERE id = $1 AND attempts = $2 AND done_ns = 0;

-- name: end_deliveries
UPDATE deliveries SET done_ns = $2, status = $3 WHERE account = $1 AND done_ns = 0;

-- name: delete_old_deliveries
DELETE FROM deliveries WHERE id IN (SELECT id FROM deliveries WHERE created_ns < $1 LIMIT $2);
