-- The dashboard: people who sign in, their sessions and factors, what was done by
-- whom, webhooks; and the rest of a key's life: browser origins, and the account's
-- own key for checks made in the dashboard.

ALTER TABLE keys ADD COLUMN origins TEXT NOT NULL DEFAULT ''; -- origins of browser pages that may use the key, separated by spaces
ALTER TABLE keys ADD COLUMN dashboard INTEGER NOT NULL DEFAULT 0 CHECK (dashboard IN (0, 1)); -- the key of checks made in the dashboard
CREATE UNIQUE INDEX dashboard_key ON keys (account) WHERE dashboard = 1;
CREATE INDEX usage_of_key ON usage (key, day); -- the last day of a key, and the deletion of keys

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
