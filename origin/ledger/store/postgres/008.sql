-- The rows of an account go with it.

ALTER TABLE keys
	DROP CONSTRAINT keys_account_fkey,
	ADD CONSTRAINT keys_account_fkey FOREIGN KEY (account) REFERENCES accounts ON DELETE CASCADE;
ALTER TABLE secrets
	DROP CONSTRAINT secrets_key_fkey,
	ADD CONSTRAINT secrets_key_fkey FOREIGN KEY (key) REFERENCES keys ON DELETE CASCADE;
ALTER TABLE usage
	DROP CONSTRAINT usage_account_fkey,
	ADD CONSTRAINT usage_account_fkey FOREIGN KEY (account) REFERENCES accounts ON DELETE CASCADE;
ALTER TABLE usage
	DROP CONSTRAINT usage_key_fkey,
	ADD CONSTRAINT usage_key_fkey FOREIGN KEY (key) REFERENCES keys ON DELETE CASCADE;
ALTER TABLE answers
	DROP CONSTRAINT answers_account_fkey,
	ADD CONSTRAINT answers_account_fkey FOREIGN KEY (account) REFERENCES accounts ON DELETE CASCADE;
ALTER TABLE policies
	DROP CONSTRAINT policies_account_fkey,
	ADD CONSTRAINT policies_account_fkey FOREIGN KEY (account) REFERENCES accounts ON DELETE CASCADE;
ALTER TABLE users
	DROP CONSTRAINT users_account_fkey,
	ADD CONSTRAINT users_account_fkey FOREIGN KEY (account) REFERENCES accounts ON DELETE CASCADE;
ALTER TABLE sessions
	DROP CONSTRAINT sessions_account_fkey,
	ADD CONSTRAINT sessions_account_fkey FOREIGN KEY (account) REFERENCES users ON DELETE CASCADE;
ALTER TABLE links
	DROP CONSTRAINT links_account_fkey,
	ADD CONSTRAINT links_account_fkey FOREIGN KEY (account) REFERENCES users ON DELETE CASCADE;
ALTER TABLE recovery_codes
	DROP CONSTRAINT recovery_codes_account_fkey,
	ADD CONSTRAINT recovery_codes_account_fkey FOREIGN KEY (account) REFERENCES users ON DELETE CASCADE;
ALTER TABLE passkeys
	DROP CONSTRAINT passkeys_account_fkey,
	ADD CONSTRAINT passkeys_account_fkey FOREIGN KEY (account) REFERENCES users ON DELETE CASCADE;
ALTER TABLE identities
	DROP CONSTRAINT identities_account_fkey,
	ADD CONSTRAINT identities_account_fkey FOREIGN KEY (account) REFERENCES users ON DELETE CASCADE;
ALTER TABLE audit
	DROP CONSTRAINT audit_account_fkey,
	ADD CONSTRAINT audit_account_fkey FOREIGN KEY (account) REFERENCES accounts ON DELETE CASCADE;
ALTER TABLE webhooks
	DROP CONSTRAINT webhooks_account_fkey,
	ADD CONSTRAINT webhooks_account_fkey FOREIGN KEY (account) REFERENCES accounts ON DELETE CASCADE;
ALTER TABLE deliveries
	DROP CONSTRAINT deliveries_account_fkey,
	ADD CONSTRAINT deliveries_account_fkey FOREIGN KEY (account) REFERENCES accounts ON DELETE CASCADE;
