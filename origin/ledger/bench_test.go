package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// BenchmarkCharge measures requests of one point from Begin to End, each finished
// after its commit is on disk. "limit" is the smallest possible charge on the same
// database, one UPDATE and one commit. With 32 callers, one commit serves many.
func BenchmarkCharge(b *testing.B) {
	b.Run("sqlite/limit", limitOfSQLite)
	benchmarkCharges(b, "sqlite", func(b *testing.B) string { return "sqlite:" + filepath.Join(b.TempDir(), "ledger.db") })
	b.Run("postgres/limit", limitOfPostgres)
	benchmarkCharges(b, "postgres", func(b *testing.B) string { return pgtest.NeedDatabase(b) })
}

// BenchmarkRefusal measures requests of a key beyond its rate. They are refused
// from memory, with at most one query per maxRefuse.
func BenchmarkRefusal(b *testing.B) {
	l := open(b, "sqlite:"+filepath.Join(b.TempDir(), "ledger.db"))
	account, err := l.CreateAccount(b.Context(), "owner@example.com", book.Terms{})
	require.NoError(b, err)
	secret, _, err := l.CreateKey(b.Context(), account.ID, "bench", book.KeyTerms{})
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		r, _, err := l.Begin(b.Context(), secret, "")
		require.NoError(b, err)
		if r != nil {
			r.End()
		}
	}
}

func benchmarkCharges(b *testing.B, name string, url func(*testing.B) string) {
	for _, p := range []population{{1, 1, 1}, {32, 32, 1}, {32, 1, 1}, {32, 1000, 1}, {32, 1000, 10}} {
		b.Run(fmt.Sprintf("%s/callers=%d,accounts=%d,keys=%d", name, p.callers, p.accounts, p.accounts*p.keysEach),
			func(b *testing.B) { benchmarkCharge(b, url(b), p) })
	}
}

// A population is who charges in a benchmark.
type population struct{ callers, accounts, keysEach int }

// create creates the accounts and returns the secrets of their keys.
func (p population) create(b *testing.B, l *Ledger) (secrets []string) {
	for i := range p.accounts {
		account, err := l.CreateAccount(b.Context(), strconv.Itoa(i)+"@example.com", unlimitedTerms)
		require.NoError(b, err)
		for k := range p.keysEach {
			secret, _, err := l.CreateKey(b.Context(), account.ID, "bench"+strconv.Itoa(k), book.KeyTerms{})
			require.NoError(b, err)
			secrets = append(secrets, secret)
		}
	}
	return secrets
}

const (
	bareTable  = "CREATE TABLE bare (id INTEGER PRIMARY KEY, used INTEGER); INSERT INTO bare VALUES (1, 0)"
	bareCharge = "UPDATE bare SET used = used + 1 WHERE id = 1"
)

func limitOfSQLite(b *testing.B) {
	path := filepath.Join(b.TempDir(), "limit.db")
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	require.NoError(b, err)
	defer db.Close()
	_, err = db.Exec(bareTable)
	require.NoError(b, err)
	charge, err := db.Prepare(bareCharge)
	require.NoError(b, err)
	for b.Loop() {
		_, err := charge.Exec()
		require.NoError(b, err)
	}
	reportCharges(b)
}

func limitOfPostgres(b *testing.B) {
	conn, err := pgx.Connect(b.Context(), pgtest.NeedDatabase(b))
	require.NoError(b, err)
	defer conn.Close(context.Background())
	_, err = conn.Exec(b.Context(), bareTable)
	require.NoError(b, err)
	for b.Loop() {
		_, err := conn.Exec(b.Context(), bareCharge)
		require.NoError(b, err)
	}
	reportCharges(b)
}

func reportCharges(b *testing.B) {
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "charges/s")
}

// benchmarkCharge measures charges by callers that use all keys in turn.
func benchmarkCharge(b *testing.B, url string, p population) {
	l := open(b, url)
	secrets := p.create(b, l)
	before := l.Stats()
	b.ReportAllocs()
	b.ResetTimer()
	var all sync.WaitGroup
	var next atomic.Int64
	for range p.callers {
		all.Go(func() {
			for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
				d, err := (&fixture{Ledger: l}).tryRequest(b.Context(), secrets[n%int64(len(secrets))], 1, nil)
				if err != nil || d.Kind != Good {
					b.Error(d.Kind, err)
				}
			}
		})
	}
	all.Wait()
	b.StopTimer()
	after := l.Stats()
	reportCharges(b)
	b.ReportMetric(float64(b.N)/float64(after.Commits-before.Commits), "charges/commit")
	b.ReportMetric(float64(b.N)/float64(max(1, after.Reads-before.Reads)), "charges/read")
}
