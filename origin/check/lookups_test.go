package check_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/addrspec/addrspec/origin/check"
	"github.com/addrspec/addrspec/origin/check/output"
	"github.com/addrspec/addrspec/origin/rig/mxtest"
)

// manyDomains is a list of addresses, each at a domain of its own.
func manyDomains(n int) list {
	records := make(list, n)
	for k := range records {
		records[k].Email = fmt.Sprintf("jane@d%d.test", k)
	}
	return records
}

// The first records are written first: the lookups of later ones wait until all of
// theirs have begun. Those that have begun, but not asked yet, have a slot each.
func TestLookupsBeginInOrder(t *testing.T) {
	const slots, callers = 8, 8
	lookups, server := newLookups(t, zone, slots, hung)
	first, later := domainNames("first", 256), domainNames("later", 1024)
	begun, gate := make(chan struct{}), make(chan struct{})
	begin := sync.OnceFunc(func() { close(begun) })
	var ofFirst, tooEarly atomic.Int64
	server.RespondAll(func(w dns.ResponseWriter, reply *dns.Msg) {
		switch {
		case reply.Question[0].Qtype != dns.TypeMX:
		case strings.HasPrefix(reply.Question[0].Name, "first"):
			ofFirst.Add(1)
			begin()
			<-gate
		case ofFirst.Load() < int64(len(first)-slots):
			tooEarly.Add(1)
		}
		mxtest.Answer(w, reply)
	})
	var group errgroup.Group
	all := func(domains []string) {
		group.Go(func() error {
			_, err := lookups.All(t.Context(), domains, false)
			return err
		})
	}
	all(first)
	<-begun
	for part := range slices.Chunk(later, len(later)/callers) {
		all(part)
	}
	close(gate)
	require.NoError(t, group.Wait())
	require.Zero(t, tooEarly.Load(), "lookups of later records before those of the first")
}

func domainNames(label string, n int) []string {
	names := make([]string, n)
	for k := range names {
		names[k] = fmt.Sprintf("%s%d.test", label, k)
	}
	return names
}

func runDomains(t *testing.T, lookups *check.Lookups, n, workers int) (string, check.Counts, error) {
	var out bytes.Buffer
	records := manyDomains(n)
	r := check.Run{Input: &records, Checker: &check.Local{View: newEngine(t).View(), Lookups: lookups},
		Format: &output.NDJSON{}, Output: &out, Workers: workers}
	counts, err := r.Do(context.Background())
	return out.String(), counts, err
}

// A resolver that dies in the middle ends the run: what was written is counted, so
// that it can be resumed.
func TestRunEndsInAnOutage(t *testing.T) {
	t.Parallel()
	lookups, server := newLookups(t, zone, 16, 100*time.Millisecond)
	var replied atomic.Int64
	server.RespondAll(func(w dns.ResponseWriter, reply *dns.Msg) {
		if replied.Add(1) <= 700 {
			mxtest.Answer(w, reply)
		}
	})
	out, counts, err := runDomains(t, lookups, 20_000, 2)
	require.ErrorIs(t, err, check.ErrOutage)
	require.ErrorContains(t, err, "--dns")
	require.EqualValues(t, strings.Count(out, "\n"), counts.Records)
	require.GreaterOrEqual(t, counts.Records, int64(512), "two chunks got replies")
	require.Less(t, counts.Records, int64(2000))
}

// Dead domains in a row are no outage while the resolver replies.
func TestDeadDomainsAreNoOutage(t *testing.T) {
	t.Parallel()
	lookups, server := newLookups(t, zone, 128, time.Second)
	server.RespondAll(func(w dns.ResponseWriter, reply *dns.Msg) {
		if reply.Question[0].Name == "." {
			mxtest.Answer(w, reply)
		}
	})
	_, counts, err := runDomains(t, lookups, 300, 4)
	require.NoError(t, err)
	require.EqualValues(t, 300, counts.Errors)
}

// One domain in a hundred is slow: it gets its reply once a domain far behind it was
// asked for. It delays the output behind it, but not the lookups, whose slots go on.
func TestSlowDomainsDoNotStopTheRest(t *testing.T) {
	const (
		domains = 4000
		workers = 32
		behind  = 1500 // with 15 slow domains between
	)
	lookups, server := newLookups(t, zone, workers, hung)
	for n := 50; n < domains; n += 100 {
		later := fmt.Sprintf("d%d.test.", min(n+behind, domains-1))
		server.Respond(fmt.Sprintf("d%d.test.", n), func(w dns.ResponseWriter, reply *dns.Msg) {
			for server.Asked(later) == 0 && t.Context().Err() == nil {
				time.Sleep(time.Millisecond) // real time: waits for the later query
			}
			mxtest.Answer(w, reply)
		})
	}
	_, counts, err := runDomains(t, lookups, domains, 64)
	require.NoError(t, err)
	require.EqualValues(t, domains, counts.NoMX)
}

// A domain that fails is looked up once as well, whatever its place in the list: a
// failure is kept for the whole run.
func TestFailedDomainsAreLookedUpOnce(t *testing.T) {
	t.Parallel()
	require.Equal(t, 24*time.Hour, check.ResolverConfig(nil, hung, 4).FailureTTL)
	lookups, server := newLookups(t, zone, 4, 3*time.Second)
	server.Respond("broken.test.", mxtest.ServFail)
	server.Respond("silent.test.", mxtest.Silent)
	var emails []string
	for range 400 {
		emails = append(emails, "a@broken.test", "b@silent.test", "c@yes.test")
	}
	local := &check.Local{View: newEngine(t).View(), Lookups: lookups}
	_, counts := checkLines(t, local, "a@broken.test", "b@silent.test")
	require.EqualValues(t, 2, counts.Errors)
	broken, silent := server.Asked("broken.test."), server.Asked("silent.test.")
	_, counts = checkLines(t, local, emails...)
	require.EqualValues(t, 800, counts.Errors)
	require.Equal(t, broken, server.Asked("broken.test."))
	require.Equal(t, silent, server.Asked("silent.test."))
}
