-- Times are Unix times in nanoseconds, days count from 1970-01-01, months from
-- January of year 0, all in UTC. Hashes are SHA-256 in hexadecimal. A limit of
-- -1 is unlimited.

CREATE TABLE plans (
	name    TEXT PRIMARY KEY,
	rate    BIGINT NOT NULL CHECK (rate = -1 OR rate > 0), -- requests a second
	points  BIGINT NOT NULL CHECK (points >= -1),          -- a calendar month
	overage BOOLEAN NOT NULL
);

INSERT INTO plans (name, rate, points, overage) VALUES
	('free', 1, 1000, false),
	('pro', 5, 200000, true),
	('enterprise', -1, -1, false);

CREATE TABLE accounts (
	id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	email      TEXT NOT NULL UNIQUE,
	plan       TEXT NOT NULL REFERENCES plans (name),
	rate       BIGINT CHECK (rate = -1 OR rate > 0), -- instead of the plan's
	points     BIGINT CHECK (points >= -1),          -- instead of the plan's
	created_ns BIGINT NOT NULL,
	month      BIGINT NOT NULL DEFAULT 0,            -- the month of used
	used       BIGINT NOT NULL DEFAULT 0 CHECK (used >= 0),
	tat_ns     BIGINT NOT NULL DEFAULT 0             -- state of the token bucket
);

CREATE TABLE keys (
	id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	account    BIGINT NOT NULL REFERENCES accounts (id),
	name       TEXT NOT NULL,
	hash       TEXT NOT NULL UNIQUE, -- of the secret
	hint       TEXT NOT NULL,        -- the secret's first characters
	created_ns BIGINT NOT NULL,
	revoked_ns BIGINT
);

CREATE INDEX keys_of_account ON keys (account);

CREATE TABLE usage (
	account  BIGINT NOT NULL REFERENCES accounts (id),
	key      BIGINT NOT NULL REFERENCES keys (id),
	day      BIGINT NOT NULL,
	points   BIGINT NOT NULL,
	requests BIGINT NOT NULL,
	errors   BIGINT NOT NULL,
	PRIMARY KEY (account, day, key)
);

-- Idempotency keys. While answer is null, a request under way owns the key until
-- lease_ns; afterwards the answer is stored until expires_ns.
CREATE TABLE holds (
	account    BIGINT NOT NULL REFERENCES accounts (id),
	id         TEXT NOT NULL, -- hash of the idempotency key
	body       TEXT NOT NULL, -- hash of the request
	owner      TEXT NOT NULL,
	lease_ns   BIGINT NOT NULL,
	expires_ns BIGINT NOT NULL,
	answer     BYTEA,
	key        BIGINT NOT NULL, -- from here on: what was charged
	points     BIGINT NOT NULL,
	month      BIGINT NOT NULL,
	day        BIGINT NOT NULL,
	PRIMARY KEY (account, id)
);

CREATE INDEX holds_by_expiry ON holds (expires_ns) WHERE answer IS NOT NULL;
CREATE INDEX holds_by_lease ON holds (lease_ns) WHERE answer IS NULL;
