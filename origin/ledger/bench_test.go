package ledger

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// BenchmarkCharge measures requests of one point from Begin to End, each finished after its commit
// is on disk, by callers that use all keys in turn. With 32 callers, one commit serves many.
func BenchmarkCharge(b *testing.B) {
	for _, p := range []struct{ callers, accounts, keysEach int }{
		{1, 1, 1}, {32, 32, 1}, {32, 1, 1}, {32, 1000, 1}, {32, 1000, 10},
	} {
		measure := func(b *testing.B, url string) {
			l := open(b, url)
			var secrets []string
			for i := range p.accounts {
				a := must(l.CreateAccount(b.Context(), fmt.Sprintf("%d@example.com", i), unlimitedTerms))(b)
				for range p.keysEach {
					secret, _ := must2(l.CreateKey(b.Context(), a.ID, "bench", book.KeyTerms{}))(b)
					secrets = append(secrets, secret)
				}
			}
			before := l.Stats()
			b.ReportAllocs()
			b.ResetTimer()
			var next atomic.Int64
			inParallel(p.callers, func(int) {
				for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
					d, err := (&fixture{Ledger: l}).tryRequest(b.Context(), secrets[n%int64(len(secrets))], 1, nil)
					if err != nil || d.Kind != Good {
						b.Error(d.Kind, err)
					}
				}
			})
			b.StopTimer()
			after := l.Stats()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "charges/s")
			b.ReportMetric(float64(b.N)/float64(after.Commits-before.Commits), "charges/commit")
			b.ReportMetric(float64(b.N)/float64(max(1, after.Reads-before.Reads)), "charges/read")
		}
		of := fmt.Sprintf("callers=%d,accounts=%d,keys=%d", p.callers, p.accounts, p.accounts*p.keysEach)
		b.Run("sqlite/"+of, func(b *testing.B) { measure(b, "sqlite:"+filepath.Join(b.TempDir(), "ledger.db")) })
		b.Run("postgres/"+of, func(b *testing.B) { measure(b, pgtest.NeedDatabase(b)) })
	}
}

// BenchmarkRefusal measures requests of a key beyond its rate, refused from memory.
func BenchmarkRefusal(b *testing.B) {
	l := open(b, "sqlite:"+filepath.Join(b.TempDir(), "ledger.db"))
	a := must(l.CreateAccount(b.Context(), "owner@example.com", book.Terms{}))(b)
	secret, _ := must2(l.CreateKey(b.Context(), a.ID, "bench", book.KeyTerms{}))(b)
	b.ReportAllocs()
	for b.Loop() {
		r, _, err := l.Begin(b.Context(), secret, "")
		require.NoError(b, err)
		if r != nil {
			r.End()
		}
	}
}
