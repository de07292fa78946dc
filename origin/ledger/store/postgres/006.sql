-- Policies, which turn the facts of an address into a verdict.

-- Raised by each change of one of the account's policies. It shows replicas whether the
-- policies that they have in memory are recent, and numbers the versions of policies.
ALTER TABLE accounts ADD COLUMN policies BIGINT NOT NULL DEFAULT 0;
ALTER TABLE keys ADD COLUMN policy TEXT NOT NULL DEFAULT ''; -- the name of the key's default policy; '' for none

CREATE TABLE policies (
	account    BIGINT NOT NULL REFERENCES accounts (id),
	name       TEXT NOT NULL,
	document   TEXT NOT NULL,    -- JSON, as it was given
	version    BIGINT NOT NULL, -- the account's number after the policy's last change, so never the same for two documents
	changed_ns BIGINT NOT NULL,
	PRIMARY KEY (account, name)
);
