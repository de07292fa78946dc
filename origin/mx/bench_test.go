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
	for _, domain := range []string{"example.test", "nowhere.test", "broken.test"} {
		require.Zero(t, testing.AllocsPerRun(100, func() {
			_, _ = r.Lookup(context.Background(), testAccount, domain)
		}), domain)
		require.Zero(t, testing.AllocsPerRun(100, func() {
			_, _, _ = r.Peek(domain)
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

// BenchmarkCached compares a lookup served from the cache with otter
// alone and with lower bounds: a map without writers, and a map with a read lock.
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
		{"otter", func(name string) bool { e, _ := r.cache.entries.GetIfPresent(name); return e.found }},
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

// BenchmarkFullCache measures the memory of a full cache in bytes per entry, with
// names of usual length and with the longest.
func BenchmarkFullCache(b *testing.B) {
	const entries = 100_000
	for _, suffix := range []string{".example.test", strings.Repeat("."+strings.Repeat("a", 48), 5)} {
		b.Run(fmt.Sprint(len(suffix)+8), func(b *testing.B) {
			for b.Loop() {
				before := heap()
				r, err := New(Config{Servers: []string{"127.0.0.1:1"}, cacheEntries: entries})
				require.NoError(b, err)
				for i := range 3 * entries {
					r.cache.store(fmt.Sprintf("%08d%s", i, suffix), result{found: true, ttl: time.Hour}, 0)
				}
				r.cache.entries.CleanUp()
				b.ReportMetric(float64(heap()-before)/entries, "B/entry")
				b.ReportMetric(float64(r.Stats().Entries), "entries")
				r.Close()
			}
		})
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
