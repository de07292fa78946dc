package ledger

import (
	"fmt"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// BenchmarkCharge measures requests of one point from Begin to End, each finished
// after its commit is on disk. With 32 callers, one commit serves many.
func BenchmarkCharge(b *testing.B) {
	benchmarkCharges(b, "sqlite", func(b *testing.B) string { return "sqlite:" + filepath.Join(b.TempDir(), "ledger.db") })
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
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "charges/s")
	b.ReportMetric(float64(b.N)/float64(after.Commits-before.Commits), "charges/commit")
	b.ReportMetric(float64(b.N)/float64(max(1, after.Reads-before.Reads)), "charges/read")
}
