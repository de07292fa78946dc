-- The schema of version 7, whose steps 1 to 6 this program does not have. Times are Unix times
-- in nanoseconds, days count from 1970-01-01, months from January of year 0, all in UTC. Hashes
-- are SHA-256 in hexadecimal. A limit of -1 is unlimited.

CREATE TABLE plans (
	name    TEXT PRIMARY KEY,
	rate    INTEGER NOT NULL CHECK (rate = -1 OR rate > 0), -- requests a second
	points  INTEGER NOT NULL CHECK (points >= -1),          -- a calendar month
	overage INTEGER NOT NULL CHECK (overage IN (0, 1)),
	stored  INTEGER NOT NULL DEFAULT 268435456 CHECK (stored >= 0) -- bytes of idempotency records
) STRICT;

INSERT INTO plans (name, rate, points, overage) VALUES
	('free', 1, 1000, 0),
	('pro', 5, 200000, 1),
	('enterprise', -1, -1, 0);

CREATE TABLE accounts (
	id           INTEGER PRIMARY KEY AUTOINCREMENT,
	email        TEXT NOT NULL UNIQUE,
	plan         TEXT NOT NULL REFERENCES plans (name),
	rate         INTEGER CHECK (rate = -1 OR rate > 0), -- instead of the plan's; so are points and overage
	points       INTEGER CHECK (points >= -1),
	created_ns   INTEGER NOT NULL,
	month        INTEGER NOT NULL DEFAULT 0, -- the month of used
	used         INTEGER NOT NULL DEFAULT 0 CHECK (used >= 0),
	tat_ns       INTEGER NOT NULL DEFAULT 0, -- state of the token bucket
	overage      INTEGER CHECK (overage IN (0, 1)),
	suspended_ns INTEGER,
	stored       INTEGER NOT NULL DEFAULT 0, -- bytes of idempotency records
	-- Raised by each change of one of the account's policies. It shows replicas whether the
	-- policies that they have in memory are recent, and numbers the versions of policies.
	policies     INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE keys (
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	account    INTEGER NOT NULL REFERENCES accounts (id),
	name       TEXT NOT NULL,
	hint       TEXT NOT NULL,            -- the first characters of the secret
	created_ns INTEGER NOT NULL,
	revoked_ns INTEGER,
	expires_ns INTEGER,
	budget     INTEGER CHECK (budget >= 0), -- points a calendar month, within the account's
	rate       INTEGER CHECK (rate > 0), -- requests a second, within the account's
	month      INTEGER NOT NULL DEFAULT 0, -- the month of used
	used       INTEGER NOT NULL DEFAULT 0 CHECK (used >= 0), -- of the budget; kept only where there is one
	tat_ns     INTEGER NOT NULL DEFAULT 0, -- state of the key's own token bucket
	origins    TEXT NOT NULL DEFAULT '', -- origins of browser pages that may use the key, separated by spaces
	dashboard  INTEGER NOT NULL DEFAULT 0 CHECK (dashboard IN (0, 1)), -- the key of checks made in the dashboard
	policy     TEXT NOT NULL DEFAULT '', -- the name of the key's default policy; '' for none
	test       INTEGER NOT NULL DEFAULT 0 CHECK (test IN (0, 1)) -- set when the key is created, never changed
) STRICT;
CREATE INDEX keys_of_account ON keys (account);
CREATE UNIQUE INDEX dashboard_key ON keys (account) WHERE dashboard = 1;

-- A key has two secrets while it is rotated.
CREATE TABLE secrets (
	hash       TEXT PRIMARY KEY,
	key        INTEGER NOT NULL REFERENCES keys (id),
	expires_ns INTEGER -- of a secret that was replaced
) STRICT, WITHOUT ROWID;
CREATE INDEX secrets_of_key ON secrets (key);

CREATE TABLE usage (
	account       INTEGER NOT NULL REFERENCES accounts (id),
	key           INTEGER NOT NULL REFERENCES keys (id),
	day           INTEGER NOT NULL,
	points        INTEGER NOT NULL,
	requests      INTEGER NOT NULL,
	errors        INTEGER NOT NULL,
	valid         INTEGER NOT NULL DEFAULT 0, -- from here on: results of the addresses charged
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
CREATE INDEX usage_of_key ON usage (key, day); -- the last day of a key, and the deletion of keys

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

-- Policies turn the facts of an address into a verdict.
CREATE TABLE policies (
	account    INTEGER NOT NULL REFERENCES accounts (id),
	name       TEXT NOT NULL,
	document   TEXT NOT NULL,    -- JSON, as it was given
	version    INTEGER NOT NULL, -- accounts.policies after the policy's last change: never the same for two documents
	changed_ns INTEGER NOT NULL,
	PRIMARY KEY (account, name)
) STRICT;

-- The person who signs in to an account, one each.
CREATE TABLE users (
	account    INTEGER PRIMARY KEY REFERENCES accounts (id),
	name       TEXT NOT NULL DEFAULT '',
	password   TEXT NOT NULL DEFAULT '',   -- Argon2id in PHC string format; '' for none
	operator   INTEGER NOT NULL DEFAULT 0 CHECK (operator IN (0, 1)),
	totp       TEXT NOT NULL DEFAULT '',   -- the shared secret in base 32; '' for none
	totp_step  INTEGER NOT NULL DEFAULT 0, -- time step of the last code accepted; each is accepted once
	handle     TEXT NOT NULL UNIQUE,       -- the user handle of passkeys
	created_ns INTEGER NOT NULL
) STRICT;

CREATE TABLE sessions (
	id           INTEGER PRIMARY KEY AUTOINCREMENT,
	hash         TEXT NOT NULL UNIQUE, -- of the cookie's token
	account      INTEGER NOT NULL REFERENCES users (account),
	client       TEXT NOT NULL,        -- such as Firefox on Linux
	created_ns   INTEGER NOT NULL,
	seen_ns      INTEGER NOT NULL,
	expires_ns   INTEGER NOT NULL,
	confirmed_ns INTEGER NOT NULL,     -- when the person last proved who they are
	complete     INTEGER NOT NULL CHECK (complete IN (0, 1)) -- 0 while the second factor is missing
) STRICT;
CREATE INDEX sessions_of_account ON sessions (account);
CREATE INDEX sessions_by_expiry ON sessions (expires_ns);

-- One-time sign-in links.
CREATE TABLE links (
	hash       TEXT PRIMARY KEY, -- of the link's token
	account    INTEGER NOT NULL REFERENCES users (account),
	expires_ns INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX links_of_account ON links (account);

CREATE TABLE recovery_codes (
	account INTEGER NOT NULL REFERENCES users (account),
	hash    TEXT NOT NULL,
	PRIMARY KEY (account, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE passkeys (
	id         TEXT PRIMARY KEY, -- the credential ID in base64url
	account    INTEGER NOT NULL REFERENCES users (account),
	name       TEXT NOT NULL,
	credential TEXT NOT NULL,    -- JSON of the WebAuthn library
	created_ns INTEGER NOT NULL,
	used_ns    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX passkeys_of_account ON passkeys (account);

-- Identities at OpenID providers, linked from a session of the account.
CREATE TABLE identities (
	issuer     TEXT NOT NULL,
	subject    TEXT NOT NULL,
	account    INTEGER NOT NULL REFERENCES users (account),
	created_ns INTEGER NOT NULL,
	PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX identities_of_account ON identities (account);

-- What a browser must bring back: the state of a passkey ceremony or of an OpenID
-- sign-in. Any replica may finish what another began.
CREATE TABLE challenges (
	hash       TEXT PRIMARY KEY,
	data       TEXT NOT NULL,
	expires_ns INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX challenges_by_expiry ON challenges (expires_ns);

-- Token buckets of attempts to sign in or sign up.
CREATE TABLE attempts (
	subject TEXT PRIMARY KEY, -- hash of what is limited: an account, an address
	tat_ns  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX attempts_by_time ON attempts (tat_ns);

-- Who did what, and when.
CREATE TABLE audit (
	id      INTEGER PRIMARY KEY AUTOINCREMENT,
	account INTEGER NOT NULL REFERENCES accounts (id),
	at_ns   INTEGER NOT NULL,
	actor   TEXT NOT NULL, -- owner, operator, shell or service
	action  TEXT NOT NULL, -- such as key.create
	subject TEXT NOT NULL  -- such as the key's number and name
) STRICT;
CREATE INDEX audit_of_account ON audit (account, id);

CREATE TABLE webhooks (
	account     INTEGER PRIMARY KEY REFERENCES accounts (id),
	url         TEXT NOT NULL,
	secret      TEXT NOT NULL,            -- whsec_ and base64: it signs, so it cannot be a hash
	previous    TEXT NOT NULL DEFAULT '', -- the secret before the last rotation, which also signs for a day
	rotated_ns  INTEGER NOT NULL DEFAULT 0,
	disabled_ns INTEGER NOT NULL DEFAULT 0, -- when the receiver answered 410 Gone
	created_ns  INTEGER NOT NULL
) STRICT;

-- Messages to webhooks, one for each account, month and threshold.
CREATE TABLE deliveries (
	account    INTEGER NOT NULL REFERENCES accounts (id),
	month      INTEGER NOT NULL,
	percent    INTEGER NOT NULL, -- the threshold: 80 or 100; 0 is a test, one at a time
	id         TEXT NOT NULL UNIQUE, -- the message's ID, the same in every attempt
	body       TEXT NOT NULL,
	created_ns INTEGER NOT NULL,
	next_ns    INTEGER NOT NULL, -- of the next attempt; while one runs, the end of its lease
	attempts   INTEGER NOT NULL DEFAULT 0,
	done_ns    INTEGER NOT NULL DEFAULT 0, -- delivered or abandoned
	status     TEXT NOT NULL DEFAULT '',   -- of the last attempt, for people
	PRIMARY KEY (account, month, percent)
) STRICT, WITHOUT ROWID;
CREATE INDEX deliveries_due ON deliveries (next_ns) WHERE done_ns = 0;
