// Package ledger stores accounts, keys, plans, points, rates, idempotency
// records and the usage history, and decides which requests may run and what
// they are charged.
//
// # One charge, at the end
//
// A request passes four steps:
//
//	Begin   admission: key, rate, requests under way; before the body is read
//	Claim   idempotency record and points; before the work
//	Charge  one durable transaction that decides all of it; before the answer
//	End     releases what the request acquired; after the answer is sent
//
// Begin and Claim judge by views, the recent state of accounts and keys in
// memory (view.go). They only save work: Charge decides again, by the rows in
// the database. Every transaction reads these rows, or knows that no other process
// has changed anything since it last did (exact.go). So a key that another process
// revoked is not charged, and a limit that it changed applies.
//
// # Terms
//
//   - secret: what a client sends; a key has one, or two while it is rotated
//   - grace: how long the old secret of a rotated key remains valid
//   - browser origin: scheme, host and port of a page (RFC 6454); a key may be
//     bound to some, and is then refused to all other requests
//   - point: the charge for one address; points refill each calendar month (UTC)
//   - token: the right to one request, taken from the token buckets of the
//     account and the key when the request arrives
//   - pending token: one that is taken in memory and not yet in the database
//   - claim: points that a request under way may be charged; they count as used
//     when this replica judges other requests
//   - ticket: a charge on its way through the writer
//   - commit group: the operations that one transaction commits together
//   - working set: the rows that a commit group reads and changes
//   - void: giving a charge back
//   - unpaid work: addresses that were checked for a request that was abandoned,
//     or refused after its work
//
// # The writer
//
// One goroutine per replica charges. It collects the tickets that wait into a
// commit group (writer.go), reads the rows under locks (workingset.go, exact.go), decides
// in memory (operation.go, state.go, bucket.go), writes what changed, commits,
// publishes the rows to the views and answers the callers (commit.go). Charges
// that arrive during a commit wait for the next group, so one flush serves many
// of them.
//
// # What is durable when
//
// A charge is durable before Charge returns Good. While the database commits,
// tokens are written within 100 ms of the arrival, and requests that were not
// charged are recorded in the usage history within a second; a process that
// dies before that loses them.
//
//   - The process dies: a charge that was not committed did not happen. One that
//     was committed and not yet answered remains, at most one full group of
//     them (unsent.go); with an Idempotency-Key the retry gets the stored answer.
//   - The database fails, or refuses to commit: nothing is charged, requests get
//     ErrUnavailable, and the writer probes until a commit succeeds.
//   - A commit is not confirmed within a second: the caller gets ErrUndecided.
//     If it was committed, it remains if a retry can find its stored answer;
//     otherwise the next group voids it, unless the process ends first.
//
// If the disk needs more than a second to flush a commit, the callers in the group
// get ErrUndecided, and all other requests get ErrUnavailable (HTTP 503) until the
// commit has ended; then the charges are kept or voided as above.
//
// On SQLite one file serves several processes in turn: a transaction has the
// write lock from its beginning, and a commit fails or succeeds at once. On
// PostgreSQL replicas lock the rows of the accounts concerned, and a connection
// lost during COMMIT leaves the transaction in doubt until the writer has read
// whether its mark was committed (package store).
//
// # Changes of accounts and keys
//
// A change locks the account's row, decides on the rows it then reads and records
// itself in the audit log, in one transaction (accounts.go, keys.go, keychange.go,
// suspend.go, audit.go). So bounds hold and at most two secrets of a key are valid,
// whichever replicas make changes at the same time. Commit groups lock the same
// rows: they see a change entirely or not at all. The deletion of an account takes
// several transactions (delete.go).
//
// Errors and log lines contain no secret and no email address.
//
// The package leaves out SQL and connections (package store), HTTP statuses and
// headers (package api), the content of stored answers (opaque bytes here), and
// mail.
package ledger
