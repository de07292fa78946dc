-- The last commit group of each process, to decide whether a transaction was
-- committed if the answer to COMMIT is lost. The transaction ID does not suffice:
-- after a crash, or on a standby that took over, PostgreSQL reuses IDs that no
-- commit had made durable.

CREATE TABLE batches (
	writer TEXT PRIMARY KEY,
	batch  BIGINT NOT NULL,
	at     TIMESTAMPTZ NOT NULL DEFAULT now()
);
