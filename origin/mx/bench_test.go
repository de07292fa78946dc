package mx

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/addrspec/addrspec/origin/rig/mxtest"
	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"
)

func TestCachedLookupAllocs(t *testing.T) {
	server := mxtest.New(t, zone)
	server.Respond("broken.test", mxtest.ServFail)
	r, _ := openAt(t, Config{}, server.Addr)
	for _, domain := range []string{"example.test", "two.example.test", "mail.example.test", "nowhere.test", "broken.test"} {
		require.Zero(t, testing.AllocsPerRun(100, func() {
			_, _ = r.Lookup(context.Background(), testAccount, domain)
		}), domain)
		require.Zero(t, testing.AllocsPerRun(100, func() {
			_, _, _ = r.Peek(domain)
		}), domain)
		require.Zero(t, testing.AllocsPerRun(100, func() {
			_, _ = hasAddress(r, context.Background(), testAccount, domain)
		}), domain)
	}
}

const benchDomains = 1 << 12

func benchNames() []string {
	names := make([]string, benchDomains)
	for i := range names {
		names[i] = fmt.Sprintf("domain-%d.test", i)
	}
	return names
}

// BenchmarkCached compares a lookup served from the cache with lower bounds: a map
// without writers, and a map with a read lock. ./build.sh bench compares it with otter.
func BenchmarkCached(b *testing.B) {
	names := benchNames()
	r := open(b, Config{}, mxtest.Start(b, "*.test. 3600 IN MX 10 mail.test."))
	bare := map[string]bool{}
	for _, name := range names {
		found, err := r.Lookup(context.Background(), testAccount, name)
		require.NoError(b, err)
		bare[name] = found.MX
	}
	var mu sync.RWMutex
	for _, way := range []struct {
		name   string
		lookup func(string) bool
	}{
		{"resolver", func(name string) bool { found, _ := r.Lookup(context.Background(), testAccount, name); return found.MX }},
		{"map", func(name string) bool { return bare[name] }},
		{"map+RWMutex", func(name string) bool { mu.RLock(); defer mu.RUnlock(); return bare[name] }},
	} {
		b.Run(way.name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if !way.lookup(names[i%benchDomains]) {
					b.Fatal("a cached domain is not found")
				}
			}
		})
		b.Run(way.name+"/parallel", func(b *testing.B) {
			b.RunParallel(func(p *testing.PB) {
				for i := 0; p.Next(); i++ {
					way.lookup(names[i%benchDomains])
				}
			})
		})
	}
}

// BenchmarkUncached compares a lookup that needs a query with dns.Exchange, to
// the same server on loopback.
func BenchmarkUncached(b *testing.B) {
	addr := mxtest.Start(b, "*.test. 3600 IN MX 10 mail.test.")
	b.Run("resolver", func(b *testing.B) {
		r := open(b, Config{}, addr)
		for i := 0; b.Loop(); i++ {
			if found, err := r.Lookup(context.Background(), testAccount, fmt.Sprintf("%d.test", i)); err != nil || !found.MX {
				b.Fatal(found, err)
			}
		}
	})
	b.Run("dns.Exchange", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			m := new(dns.Msg).SetQuestion(fmt.Sprintf("%d.test.", i), dns.TypeMX)
			if reply, err := dns.Exchange(m, addr); err != nil || len(reply.Answer) == 0 {
				b.Fatal(err)
			}
		}
	})
}

// mixed returns the n-th domain of a realistic mix, and its exchanges: a third has its
// own, a third those of a provider, which many share, a fifth one named after the domain
// at a provider, and the rest none.
func mixed(n int) (name string, a result) {
	name = fmt.Sprintf("company-%07d.com", n)
	a = result{found: true, ttl: time.Hour}
	switch n % 15 {
	case 0, 1, 2, 3, 4:
		a.exchanges = "mail." + name
	case 5, 6, 7, 8, 9:
		a.exchanges = strings.ReplaceAll("aspmx.l.P alt1.aspmx.l.P alt2.aspmx.l.P alt3.aspmx.l.P alt4.aspmx.l.P", "P", providers[n/15%len(providers)])
	case 10, 11, 12:
		a.exchanges = strings.ReplaceAll(name, ".", "-") + ".mail.protection.outlook.com"
	default:
		a = result{ttl: time.Hour}
	}
	return name, a
}

var providers = func() (all [200]string) {
	for i := range all {
		all[i] = fmt.Sprintf("provider-%d.com", i)
	}
	return all
}()

// hostile returns the n-th of the longest domains, with as many exchanges as are kept.
func hostile(n int) (string, result) {
	name := fmt.Sprintf("%08d%s", n, strings.Repeat("."+strings.Repeat("a", 48), 5))
	return name, result{found: true, ttl: time.Hour, exchanges: fmt.Sprintf("%0*d *", maxExchanges-2, n)}
}

// fullCache returns a full cache of a number of domains after twice as many were stored.
func fullCache(t testing.TB, entries int, domain func(int) (string, result)) *cache {
	k, _ := newTestCache(t, entries)
	for n := range 2 * entries {
		name, a := domain(n)
		k.store(subject{name: name}, a, 0)
	}
	k.entries.CleanUp()
	return k
}

// BenchmarkFullCache measures the memory of a full cache of the default size.
func BenchmarkFullCache(b *testing.B) {
	for name, domain := range map[string]func(int) (string, result){"mixed": mixed, "hostile": hostile} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				before := heap()
				k := fullCache(b, defaultEntries, domain)
				b.ReportMetric(float64(heap()-before)/1e6, "MB")
				b.ReportMetric(float64(k.entries.EstimatedSize()), "entries")
			}
		})
	}
}

// A cache of the default size takes at most 30 MB with a realistic mix of exchanges.
func TestCacheMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("stores many domains")
	}
	before := heap()
	k := fullCache(t, defaultEntries, mixed)
	require.LessOrEqual(t, heap()-before, uint64(30_000_000))
	require.Greater(t, k.entries.EstimatedSize(), defaultEntries*9/10)
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
