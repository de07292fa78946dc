-- A request is charged once, at its end. Secrets get a table of their own, so
-- that a key may have two while it is rotated; keys get an expiry, a budget and a
-- rate; usage counts the results; answers replace holds.

-- Give back the points of requests that were under way when the replica of the
-- previous version stopped: they have no answer. Drop the stored answers, which
-- are sealed with API keys.
UPDATE accounts SET used = greatest(0, used - (SELECT sum(h.points) FROM holds h
                     WHERE h.account = accounts.id AND h.answer IS NULL AND h.month = accounts.month))
 WHERE EXISTS (SELECT 1 FROM holds h WHERE h.account = accounts.id AND h.answer IS NULL AND h.month = accounts.month);
UPDATE usage SET points = points - (SELECT sum(h.points) FROM holds h
                     WHERE h.account = usage.account AND h.key = usage.key AND h.day = usage.day AND h.answer IS NULL)
 WHERE EXISTS (SELECT 1 FROM holds h WHERE h.account = usage.account AND h.key = usage.key AND h.day = usage.day AND h.answer IS NULL);
DROP TABLE holds;

ALTER TABLE plans ADD COLUMN stored BIGINT NOT NULL DEFAULT 268435456 CHECK (stored >= 0); -- bytes of idempotency records
ALTER TABLE accounts ADD COLUMN overage BOOLEAN; -- instead of the plan's
ALTER TABLE accounts ADD COLUMN suspended_ns BIGINT;
ALTER TABLE accounts ADD COLUMN stored BIGINT NOT NULL DEFAULT 0; -- bytes of idempotency records

CREATE TABLE secrets (
	hash       TEXT PRIMARY KEY,
	key        BIGINT NOT NULL REFERENCES keys (id),
	expires_ns BIGINT -- of a secret that was replaced
);

INSERT INTO secrets (hash, key) SELECT hash, id FROM keys;
CREATE INDEX secrets_of_key ON secrets (key);

ALTER TABLE keys DROP COLUMN hash;
ALTER TABLE keys ADD COLUMN expires_ns BIGINT;
ALTER TABLE keys ADD COLUMN budget     BIGINT CHECK (budget >= 0);         -- points a calendar month, within the account's
ALTER TABLE keys ADD COLUMN rate       BIGINT CHECK (rate > 0);            -- requests a second, within the account's
ALTER TABLE keys ADD COLUMN month      BIGINT NOT NULL DEFAULT 0;          -- the month of used
ALTER TABLE keys ADD COLUMN used       BIGINT NOT NULL DEFAULT 0 CHECK (used >= 0); -- of the budget; kept only where there is one
ALTER TABLE keys ADD COLUMN tat_ns     BIGINT NOT NULL DEFAULT 0;          -- state of the key's own token bucket

-- Results of the addresses charged.
ALTER TABLE usage ADD COLUMN valid BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage ADD COLUMN invalid BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage ADD COLUMN disposable BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage ADD COLUMN public BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage ADD COLUMN relay BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage ADD COLUMN role BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage ADD COLUMN gibberish BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage ADD COLUMN typo BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage ADD COLUMN lookup_errors BIGINT NOT NULL DEFAULT 0;

-- Idempotency records: the sealed answer for an Idempotency-Key.
CREATE TABLE answers (
	account    BIGINT NOT NULL REFERENCES accounts (id),
	id         TEXT NOT NULL, -- hash of the account and the Idempotency-Key
	body       TEXT NOT NULL, -- hash of the request's body
	answer     BYTEA NOT NULL,
	size       BIGINT NOT NULL,  -- bytes of answer
	expires_ns BIGINT NOT NULL,
	PRIMARY KEY (account, id)
);

CREATE INDEX answers_by_expiry ON answers (expires_ns);

-- A batch is the addresses of one request; these are commit groups.
ALTER TABLE batches RENAME TO writers;
