package pipeline_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/check/output"
	"github.com/addrspec/addrspec/origin/check/pipeline"
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

// The first records are written first: all lookups of a chunk have begun before those of
// another one begin. Those that have begun, but not asked yet, have a slot each.
func TestLookupsBeginChunkByChunk(t *testing.T) {
	t.Parallel()
	const slots, chunk, domains = 8, 256, 20 * 256
	lookups, server := newLookups(t, zone, slots, hung)
	var mu sync.Mutex
	var asked, most int
	begun := map[int]bool{}
	server.RespondAll(func(w dns.ResponseWriter, reply *dns.Msg) {
		var n int
		if _, err := fmt.Sscanf(reply.Question[0].Name, "d%d.test.", &n); err == nil && reply.Question[0].Qtype == dns.TypeMX {
			mu.Lock()
			asked++
			begun[n/chunk] = true
			most = max(most, len(begun)*chunk-asked)
			mu.Unlock()
		}
		mxtest.Answer(w, reply)
	})
	_, counts, err := runDomains(t, lookups, domains, 64)
	require.NoError(t, err)
	require.EqualValues(t, domains, counts.Records)
	mu.Lock()
	defer mu.Unlock()
	require.GreaterOrEqual(t, asked, domains)
	require.LessOrEqual(t, most, chunk+slots, "domains of begun chunks that were not asked for")
}

func runDomains(t *testing.T, lookups *pipeline.Lookups, n, workers int) (string, pipeline.Counts, error) {
	var out bytes.Buffer
	records := manyDomains(n)
	r := pipeline.Run{Input: &records, Checker: &pipeline.Local{View: newEngine(t).View(), Lookups: lookups},
		Format: &output.NDJSON{}, Output: &out, Workers: workers}
	counts, err := r.Do(context.Background())
	return out.String(), counts, err
}

// A resolver that dies in the middle ends the run: what was written is counted, so that it can be resumed.
func TestRunEndsInAnOutage(t *testing.T) {
	t.Parallel()
	lookups, server := newLookups(t, zone, 16, 100*time.Millisecond)
	server.Respond("d3000.test.", func(dns.ResponseWriter, *dns.Msg) { server.RespondAll(mxtest.Silent) })
	out, counts, err := runDomains(t, lookups, 20_000, 2)
	require.ErrorIs(t, err, pipeline.ErrOutage)
	require.ErrorContains(t, err, "--dns")
	require.EqualValues(t, strings.Count(out, "\n"), counts.Records)
	require.GreaterOrEqual(t, counts.Records, int64(512), "the first chunks got replies")
	require.Less(t, counts.Records, int64(4000))
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

// A domain that fails is looked up once as well, whatever its place in the list: a failure is kept for the whole run.
func TestFailedDomainsAreLookedUpOnce(t *testing.T) {
	t.Parallel()
	require.Equal(t, 24*time.Hour, pipeline.ResolverConfig(nil, hung, 4).FailureTTL)
	lookups, server := newLookups(t, zone, 4, 3*time.Second)
	server.Respond("broken.test.", mxtest.ServFail)
	server.Respond("silent.test.", mxtest.Silent)
	var emails []string
	for range 400 {
		emails = append(emails, "a@broken.test", "b@silent.test", "c@yes.test")
	}
	local := &pipeline.Local{View: newEngine(t).View(), Lookups: lookups}
	_, counts := checkLines(t, local, "a@broken.test", "b@silent.test")
	require.EqualValues(t, 2, counts.Errors)
	broken, silent := server.Asked("broken.test."), server.Asked("silent.test.")
	_, counts = checkLines(t, local, emails...)
	require.EqualValues(t, 800, counts.Errors)
	require.Equal(t, broken, server.Asked("broken.test."))
	require.Equal(t, silent, server.Asked("silent.test."))
}
