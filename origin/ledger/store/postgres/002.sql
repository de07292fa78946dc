-- The last batch that each process has committed, for when the answer to a
-- commit is lost. A transaction's number does not tell for sure: after a crash,
-- or on a standby that took over, PostgreSQL gives numbers anew that no commit
-- had made durable.

CREATE TABLE batches (
	writer TEXT PRIMARY KEY,
	batch  BIGINT NOT NULL,
	at     TIMESTAMPTZ NOT NULL DEFAULT now()
);
