package postgres

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// A guess is a transaction in one round trip: the ledger decides on the rows as it knows
// them, by an estimate of the server's time, and the transaction fails unless the rows are
// these once it has their locks. A replica that is alone, or whose accounts no other
// charges just then, guesses right.

// guesses is what a store needs to guess. Only Marked transactions, of which one runs at a
// time, may read or write it.
type guesses struct {
	latest   reading
	pausedTo time.Time // by the server's clock
}

// A reading is a time of the server, and when this process had it: by this machine's clock,
// and by the monotonic one, which may stop while the machine sleeps.
type reading struct{ server, wall, instant time.Time }

func newReading(server time.Time) reading {
	now := time.Now()
	return reading{server, now.Round(0), now}
}

const (
	maxReading = time.Second           // the age of a reading by which the time is estimated
	maxStep    = 10 * time.Millisecond // by which the two clocks may differ since
	maxLate    = 25 * time.Millisecond // by which a reading may be late; the token buckets tolerate four times as much

	// pause is how long nothing is guessed after a wrong guess, each of which the server logs.
	pause = time.Minute
)

// at estimates the server's time: not later than it is, as the reading has taken some time
// to arrive. It returns false if the reading is too old, also because the machine slept.
func (r reading) at(wall, instant time.Time) (server time.Time, known bool) {
	age := instant.Sub(r.instant)
	return r.server.Add(age), age < maxReading && (wall.Sub(r.wall)-age).Abs() < maxStep
}

// guess tries t in one round trip. It returns false if nothing was changed, and t is to be
// tried in two.
func (p *postgres) guess(ctx context.Context, t store.Transaction) (done bool, err error) {
	if t.Guess == nil || p.groups == 0 { // the first group makes the mark
		return false, nil
	}
	now, known := p.serverTime()
	if !known || now.Before(p.pausedTo) {
		return false, nil
	}
	expected, writes := t.Guess(now)
	if len(writes) == 0 {
		return false, nil
	}
	conn, err := p.pool.Acquire(ctx)
	if err != nil {
		return false, nil // as it will be again
	}
	defer conn.Release()
	p.groups++
	group := p.groups
	sent := time.Now()
	err = conn.SendBatch(ctx, p.guessBatch(group, expected, writes)).Close()
	if time.Since(sent) > maxLate { // the server read its clock any time since
		p.latest = reading{}
	}
	_, unsent := errors.AsType[pgx.ErrPreprocessingBatch](err)
	switch {
	case err == nil:
		return true, nil
	case unsent, pgconn.SafeToRetry(err):
		return false, nil
	case isRolledBack(err):
		_, _ = conn.Exec(ctx, "ROLLBACK")
		p.pausedTo = now.Add(pause)
		return false, nil
	}
	return true, &store.InDoubt{Err: err, Committed: func(ctx context.Context) (bool, error) { return p.outcome(ctx, group, err) }}
}

func (p *postgres) serverTime() (now time.Time, known bool) {
	if p.clock != nil {
		return p.clock(), true
	}
	here := time.Now()
	return p.latest.at(here.Round(0), here)
}

// guessBatch returns the statements of a guess. What follows an error is not run.
func (p *postgres) guessBatch(group int64, expected, writes []store.Statement) *pgx.Batch {
	batch, tx := &pgx.Batch{}, &pgTransaction{postgres: p}
	batch.Queue("BEGIN ISOLATION LEVEL READ COMMITTED")
	batch.Queue(raiseMark, p.writer, group).QueryRow(p.scanMark)
	p.queue(batch, expected, new(int))
	tx.queueWrites(batch, writes, new(int))
	batch.Queue("COMMIT")
	return batch
}

func (p *postgres) scanMark(r pgx.Row) error {
	var ns int64
	err := r.Scan(nil, &ns, nil)
	if err == nil {
		p.latest = newReading(time.Unix(0, ns))
	}
	return err
}

// failUnlessAll returns an expression that fails unless the query has n rows. The server logs
// the error, with the number of rows.
func failUnlessAll(n string) string {
	return "CASE WHEN count(*) = " + n + " THEN 1 ELSE ('addrspec guessed wrong and tries again, rows as guessed: ' || count(*))::int END"
}

// raiseMark fails unless the mark is that of an earlier group. It reads the time for the
// next guess, and bounds each wait for a lock: who has it is likely to change the row.
var raiseMark = `WITH mark AS (UPDATE writers SET commit_group = $2, at = now() WHERE writer = $1 AND commit_group < $2 RETURNING 1)
	SELECT ` + failUnlessAll("1") + `, ` + clock + `, set_config('lock_timeout', '25', true) FROM mark`

// addExpectations adds the queries that fail unless read_rows returns for each triple the row
// that is its fourth element, and unless read_answers returns no row.
func addExpectations(queries map[string]string) {
	columns, from, _ := strings.Cut(strings.TrimPrefix(queries["read_rows"], "SELECT"), "FROM")
	queries["expect_rows"] = "SELECT " + failUnlessAll("jsonb_array_length($1::jsonb)") + " FROM" + from +
		" WHERE jsonb_build_array(" + columns + ") = w.value->3"
	_, from, _ = strings.Cut(queries["read_answers"], "FROM")
	queries["expect_no_answers"] = "SELECT " + failUnlessAll("0") + " FROM" + from
}

// terminateWriter ends the server process that has locked the mark.
const terminateWriter = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
	WHERE backend_xid = (SELECT xmax FROM writers WHERE writer = $1)`

// outcome reports whether a guess was committed that ended with an error. While the database
// takes no writes, it is known only if the server said that it ended the connection.
func (p *postgres) outcome(ctx context.Context, group int64, lost error) (committed bool, err error) {
	committed, err = p.fence(ctx, group)
	e, isOfServer := errors.AsType[*pgconn.PgError](lost)
	if hasCode(err, readOnly) && isOfServer && e.SeverityUnlocalized == "FATAL" {
		err = p.pool.QueryRow(ctx, readMark, p.writer, group).Scan(&committed)
	}
	return committed, err
}

// fence reports whether a guess was committed that lost its connection. The server may
// still have it before it: a guess begins by raising the mark, so one that has begun is
// ended and waited for, and none that has not can raise a mark that is above its own. It
// does no harm to raise the mark twice.
func (p *postgres) fence(ctx context.Context, group int64) (committed bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, transactTimeout)
	defer cancel()
	err = p.retryOnce(ctx, func() error {
		if _, err := p.pool.Exec(ctx, terminateWriter, p.writer); err != nil {
			return err
		}
		p.groups++
		return pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
			var mark int64
			err := tx.QueryRow(ctx, "SELECT commit_group FROM writers WHERE writer = $1 FOR UPDATE", p.writer).Scan(&mark)
			switch committed = err == nil && mark == group; {
			case errors.Is(err, pgx.ErrNoRows): // a standby that never received it took over
				return nil
			case err != nil || committed:
				return err
			}
			_, err = tx.Exec(ctx, "UPDATE writers SET commit_group = $2 WHERE writer = $1", p.writer, p.groups)
			return err
		})
	})
	return committed, err
}
