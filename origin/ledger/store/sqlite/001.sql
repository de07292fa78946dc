-- Times are Unix times in nanoseconds, days count from 1970-01-01, months from
-- January of year 0, all in UTC. Hashes are SHA-256 in hexadecimal. A limit of
-- -1 is unlimited.

CREATE TABLE plans (
	name    TEXT PRIMARY KEY,
	rate    INTEGER NOT NULL CHECK (rate = -1 OR rate > 0), -- requests a second
	points  INTEGER NOT NULL CHECK (points >= -1),          -- a calendar month
	overage INTEGER NOT NULL CHECK (overage IN (0, 1))
) STRICT;

INSERT INTO plans (name, rate, points, overage) VALUES
	('free', 1, 1000, 0),
	('pro', 5, 200000, 1),
	('enterprise', -1, -1, 0);

CREATE TABLE accounts (
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	email      TEXT NOT NULL UNIQUE,
	plan       TEXT NOT NULL REFERENCES plans (name),
	rate       INTEGER CHECK (rate = -1 OR rate > 0), -- instead of the plan's
	points     INTEGER CHECK (points >= -1),          -- instead of the plan's
	created_ns INTEGER NOT NULL,
	month      INTEGER NOT NULL DEFAULT 0,            -- the month of used
	used       INTEGER NOT NULL DEFAULT 0 CHECK (used >= 0),
	tat_ns     INTEGER NOT NULL DEFAULT 0             -- state of the token bucket
) STRICT;

CREATE TABLE keys (
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	account    INTEGER NOT NULL REFERENCES accounts (id),
	name       TEXT NOT NULL,
	hash       TEXT NOT NULL UNIQUE, -- of the secret
	hint       TEXT NOT NULL,        -- the secret's first characters
	created_ns INTEGER NOT NULL,
	revoked_ns INTEGER
) STRICT;

CREATE INDEX keys_of_account ON keys (account);

CREATE TABLE usage (
	account  INTEGER NOT NULL REFERENCES accounts (id),
	key      INTEGER NOT NULL REFERENCES keys (id),
	day      INTEGER NOT NULL,
	points   INTEGER NOT NULL,
	requests INTEGER NOT NULL,
	errors   INTEGER NOT NULL,
	PRIMARY KEY (account, day, key)
) STRICT, WITHOUT ROWID;

-- Idempotency keys. While answer is null, a request under way owns the key until
-- lease_ns; afterwards the answer is stored until expires_ns.
CREATE TABLE holds (
	account    INTEGER NOT NULL REFERENCES accounts (id),
	id         TEXT NOT NULL, -- hash of the idempotency key
	body       TEXT NOT NULL, -- hash of the request
	owner      TEXT NOT NULL,
	lease_ns   INTEGER NOT NULL,
	expires_ns INTEGER NOT NULL,
	answer     BLOB,
	key        INTEGER NOT NULL, -- from here on: what was charged
	points     INTEGER NOT NULL,
	month      INTEGER NOT NULL,
	day        INTEGER NOT NULL,
	PRIMARY KEY (account, id)
) STRICT;

CREATE INDEX holds_by_expiry ON holds (expires_ns) WHERE answer IS NOT NULL;
CREATE INDEX holds_by_lease ON holds (lease_ns) WHERE answer IS NULL;
