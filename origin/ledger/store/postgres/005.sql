-- The dashboard: people who sign in, their sessions and factors, what was done by
-- whom, webhooks; and the rest of a key's life: browser origins, and the account's
-- own key for checks made in the dashboard.

ALTER TABLE keys ADD COLUMN origins TEXT NOT NULL DEFAULT ''; -- origins of browser pages that may use the key, separated by spaces
ALTER TABLE keys ADD COLUMN dashboard BOOLEAN NOT NULL DEFAULT false; -- the key of checks made in the dashboard
CREATE UNIQUE INDEX dashboard_key ON keys (account) WHERE dashboard;
CREATE INDEX usage_of_key ON usage (key, day); -- the last day of a key, and the deletion of keys

-- The person who signs in to an account, one each.
CREATE TABLE users (
	account    BIGINT PRIMARY KEY REFERENCES accounts (id),
	name       TEXT NOT NULL DEFAULT '',
	password   TEXT NOT NULL DEFAULT '',   -- Argon2id in PHC string format; '' for none
	operator   BOOLEAN NOT NULL DEFAULT false,
	totp       TEXT NOT NULL DEFAULT '',   -- the shared secret in base 32; '' for none
	totp_step  BIGINT NOT NULL DEFAULT 0, -- time step of the last code accepted; each is accepted once
	handle     TEXT NOT NULL UNIQUE,       -- the user handle of passkeys
	created_ns BIGINT NOT NULL
);

CREATE TABLE sessions (
	id           BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	hash         TEXT NOT NULL UNIQUE, -- of the cookie's token
	account      BIGINT NOT NULL REFERENCES users (account),
	client       TEXT NOT NULL,        -- such as Firefox on Linux
	created_ns   BIGINT NOT NULL,
	seen_ns      BIGINT NOT NULL,
	expires_ns   BIGINT NOT NULL,
	confirmed_ns BIGINT NOT NULL,     -- when the person last proved who they are
	complete     BOOLEAN NOT NULL -- 0 while the second factor is missing
);
CREATE INDEX sessions_of_account ON sessions (account);
CREATE INDEX sessions_by_expiry ON sessions (expires_ns);

-- One-time sign-in links.
CREATE TABLE links (
	hash       TEXT PRIMARY KEY, -- of the link's token
	account    BIGINT NOT NULL REFERENCES users (account),
	expires_ns BIGINT NOT NULL
);
CREATE INDEX links_of_account ON links (account);

CREATE TABLE recovery_codes (
	account BIGINT NOT NULL REFERENCES users (account),
	hash    TEXT NOT NULL,
	PRIMARY KEY (account, hash)
);

CREATE TABLE passkeys (
	id         TEXT PRIMARY KEY, -- the credential ID in base64url
	account    BIGINT NOT NULL REFERENCES users (account),
	name       TEXT NOT NULL,
	credential TEXT NOT NULL,    -- JSON of the WebAuthn library
	created_ns BIGINT NOT NULL,
	used_ns    BIGINT NOT NULL
);
CREATE INDEX passkeys_of_account ON passkeys (account);

-- Identities at OpenID providers, linked from a session of the account.
CREATE TABLE identities (
	issuer     TEXT NOT NULL,
	subject    TEXT NOT NULL,
	account    BIGINT NOT NULL REFERENCES users (account),
	created_ns BIGINT NOT NULL,
	PRIMARY KEY (issuer, subject)
);
CREATE INDEX identities_of_account ON identities (account);

-- What a browser must bring back: the state of a passkey ceremony or of an OpenID
-- sign-in. Any replica may finish what another began.
CREATE TABLE challenges (
	hash       TEXT PRIMARY KEY,
	data       TEXT NOT NULL,
	expires_ns BIGINT NOT NULL
);
CREATE INDEX challenges_by_expiry ON challenges (expires_ns);

-- Token buckets of attempts to sign in or sign up.
CREATE TABLE attempts (
	subject TEXT PRIMARY KEY, -- hash of what is limited: an account, an address
	tat_ns  BIGINT NOT NULL
);
CREATE INDEX attempts_by_time ON attempts (tat_ns);

-- Who did what, and when.
CREATE TABLE audit (
	id      BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	account BIGINT NOT NULL REFERENCES accounts (id),
	at_ns   BIGINT NOT NULL,
	actor   TEXT NOT NULL, -- owner, operator, shell or service
	action  TEXT NOT NULL, -- such as key.create
	subject TEXT NOT NULL  -- such as the key's number and name
);
CREATE INDEX audit_of_account ON audit (account, id);

CREATE TABLE webhooks (
	account     BIGINT PRIMARY KEY REFERENCES accounts (id),
	url         TEXT NOT NULL,
	secret      TEXT NOT NULL,            -- whsec_ and base64: it signs, so it cannot be a hash
	previous    TEXT NOT NULL DEFAULT '', -- the secret before the last rotation, which also signs for a day
	rotated_ns  BIGINT NOT NULL DEFAULT 0,
	disabled_ns BIGINT NOT NULL DEFAULT 0, -- when the receiver answered 410 Gone
	created_ns  BIGINT NOT NULL
);

-- Messages to webhooks, one for each account, month and threshold.
CREATE TABLE deliveries (
	account    BIGINT NOT NULL REFERENCES accounts (id),
	month      BIGINT NOT NULL,
	percent    BIGINT NOT NULL, -- the threshold: 80 or 100; 0 is a test, one at a time
	id         TEXT NOT NULL UNIQUE, -- the message's ID, the same in every attempt
	body       TEXT NOT NULL,
	created_ns BIGINT NOT NULL,
	next_ns    BIGINT NOT NULL, -- of the next attempt; while one runs, the end of its lease
	attempts   BIGINT NOT NULL DEFAULT 0,
	done_ns    BIGINT NOT NULL DEFAULT 0, -- delivered or abandoned
	status     TEXT NOT NULL DEFAULT '',   -- of the last attempt, for people
	PRIMARY KEY (account, month, percent)
);
CREATE INDEX deliveries_due ON deliveries (next_ns) WHERE done_ns = 0;
