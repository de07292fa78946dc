-- A request is charged once, at its end. Secrets get a table of their own, so
-- that a key may have two while it is rotated; keys get an expiry, a budget and a
-- rate; usage counts the results; answers replace holds.

-- Give back the points of requests that were under way when the replica of the
-- previous version stopped: they have no answer. Drop the stored answers, which
-- are sealed with API keys.
UPDATE accounts SET used = max(0, used - (SELECT sum(h.points) FROM holds h
                     WHERE h.account = accounts.id AND h.answer IS NULL AND h.month = accounts.month))
 WHERE EXISTS (SELECT 1 FROM holds h WHERE h.account = accounts.id AND h.answer IS NULL AND h.month = accounts.month);
UPDATE usage SET points = points - (SELECT sum(h.points) FROM holds h
                     WHERE h.account = usage.account AND h.key = usage.key AND h.day = usage.day AND h.answer IS NULL)
 WHERE EXISTS (SELECT 1 FROM holds h WHERE h.account = usage.account AND h.key = usage.key AND h.day = usage.day AND h.answer IS NULL);
DROP TABLE holds;

ALTER TABLE plans ADD COLUMN stored INTEGER NOT NULL DEFAULT 268435456 CHECK (stored >= 0); -- bytes of idempotency records
ALTER TABLE accounts ADD COLUMN overage INTEGER CHECK (overage IN (0, 1)); -- instead of the plan's
ALTER TABLE accounts ADD COLUMN suspended_ns INTEGER;
ALTER TABLE accounts ADD COLUMN stored INTEGER NOT NULL DEFAULT 0; -- bytes of idempotency records

-- SQLite cannot drop a UNIQUE column, so keys is created again, and with it
-- usage, which refers to it.
CREATE TABLE old_usage AS SELECT * FROM usage;
DROP TABLE usage;
CREATE TABLE old_keys AS SELECT * FROM keys;
DROP TABLE keys;

CREATE TABLE keys (
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	account    INTEGER NOT NULL REFERENCES accounts (id),
	name       TEXT NOT NULL,
	hint       TEXT NOT NULL,               -- the first characters of the secret
	created_ns INTEGER NOT NULL,
	revoked_ns INTEGER,
	expires_ns INTEGER,
	budget     INTEGER CHECK (budget >= 0),         -- points a calendar month, within the account's
	rate       INTEGER CHECK (rate > 0),            -- requests a second, within the account's
	month      INTEGER NOT NULL DEFAULT 0,      -- the month of used
	used       INTEGER NOT NULL DEFAULT 0 CHECK (used >= 0), -- of the budget; kept only where there is one
	tat_ns     INTEGER NOT NULL DEFAULT 0       -- state of the key's own token bucket
) STRICT;

INSERT INTO keys (id, account, name, hint, created_ns, revoked_ns)
SELECT id, account, name, hint, created_ns, revoked_ns FROM old_keys;
CREATE INDEX keys_of_account ON keys (account);

CREATE TABLE secrets (
	hash       TEXT PRIMARY KEY,
	key        INTEGER NOT NULL REFERENCES keys (id),
	expires_ns INTEGER -- of a secret that was replaced
) STRICT, WITHOUT ROWID;

INSERT INTO secrets (hash, key) SELECT hash, id FROM old_keys;
CREATE INDEX secrets_of_key ON secrets (key);
DROP TABLE old_keys;

CREATE TABLE usage (
	account  INTEGER NOT NULL REFERENCES accounts (id),
	key      INTEGER NOT NULL REFERENCES keys (id),
	day      INTEGER NOT NULL,
	points   INTEGER NOT NULL,
	requests INTEGER NOT NULL,
	errors   INTEGER NOT NULL,
	-- Results of the addresses charged.
	valid         INTEGER NOT NULL DEFAULT 0,
	invalid       INTEGER NOT NULL DEFAULT 0,
	disposable    INTEGER NOT NULL DEFAULT 0,
	public        INTEGER NOT NULL DEFAULT 0,
	relay         INTEGER NOT NULL DEFAULT 0,
	role          INTEGER NOT NULL DEFAULT 0,
	gibberish     INTEGER NOT NULL DEFAULT 0,
	typo          INTEGER NOT NULL DEFAULT 0,
	lookup_errors INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (account, day, key)
) STRICT, WITHOUT ROWID;

INSERT INTO usage (account, key, day, points, requests, errors)
SELECT account, key, day, points, requests, errors FROM old_usage;
DROP TABLE old_usage;

-- Idempotency records: the sealed answer for an Idempotency-Key.
CREATE TABLE answers (
	account    INTEGER NOT NULL REFERENCES accounts (id),
	id         TEXT NOT NULL, -- hash of the account and the Idempotency-Key
	body       TEXT NOT NULL, -- hash of the request's body
	answer     BLOB NOT NULL,
	size       INTEGER NOT NULL,  -- bytes of answer
	expires_ns INTEGER NOT NULL,
	PRIMARY KEY (account, id)
) STRICT;

CREATE INDEX answers_by_expiry ON answers (expires_ns);
