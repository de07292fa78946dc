package pipeline_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/check/output"
	"github.com/addrspec/addrspec/origin/check/pipeline"
	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/origin/rig/mxtest"
	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

// hung is longer than any lookup takes, however slow the machine.
const hung = 2 * time.Minute

func newEngine(t testing.TB) *host.Engine {
	t.Helper()
	engine, err := host.New(context.Background(), moduletest.Bytes(t), host.Options{CacheDir: moduletest.CacheDir()})
	require.NoError(t, err)
	t.Cleanup(func() { engine.Close(context.Background()) })
	return engine
}

// newLookups returns lookups at a server of zone, and the server.
func newLookups(t testing.TB, zone string, workers int, timeout time.Duration) (*pipeline.Lookups, *mxtest.Server) {
	t.Helper()
	server := mxtest.New(t, zone)
	resolver, err := mx.New(pipeline.ResolverConfig([]string{server.Addr}, timeout, workers))
	require.NoError(t, err)
	t.Cleanup(resolver.Close)
	return pipeline.NewLookups(resolver, workers), server
}

func checkLines(t testing.TB, local *pipeline.Local, emails ...string) (string, pipeline.Counts) {
	t.Helper()
	var out bytes.Buffer
	records := make(list, len(emails))
	for n, email := range emails {
		records[n].Email = email
	}
	r := pipeline.Run{Input: &records, Checker: local, Format: &output.NDJSON{}, Output: &out, Workers: 4}
	counts, err := r.Do(context.Background())
	require.NoError(t, err)
	return out.String(), counts
}

const zone = `
$ORIGIN test.
yes  MX 10 mx.yes
null MX 0  .
none A  192.0.2.1
half TXT "the lookup of AAAA fails"
`

func TestLocalLooksUpMX(t *testing.T) {
	t.Parallel()
	lookups, server := newLookups(t, zone, 8, 3*time.Second)
	server.Respond("silent.test.", mxtest.Silent)
	server.Respond("broken.test.", mxtest.ServFail)
	local := &pipeline.Local{View: newEngine(t).View(), Lookups: lookups}
	out, counts := checkLines(t, local, "a@yes.test", "a@null.test", "a@none.test", "a@missing.test", "a@silent.test",
		`"q"@broken.test`, "not valid", "a@[192.0.2.1]", "b@YES.test")
	rows := strings.Split(out, "\n")
	for n, want := range []string{`"mx":true`, `"mx":false`, `"mx":false`, `"mx":false`,
		`{"email":"a@silent.test","error":{"code":"DNS_TIMEOUT","message":"DNS lookup timed out for domain silent.test"}}`,
		`{"email":"\"q\"@broken.test","error":{"code":"DNS_FAILURE","message":"DNS lookup failed for domain broken.test"}}`,
		`"valid":false`, `"mx":false`, `"mx":true`} {
		require.Contains(t, rows[n], want)
	}
	require.EqualValues(t, 2, counts.Errors)
	require.EqualValues(t, 4, counts.NoMX)
	require.EqualValues(t, 1, counts.Invalid)
	require.Equal(t, 1, server.Asked("yes.test."))
}

// Each domain is asked for once, and no more lookups than allowed run at a time.
func TestLookupsAreSharedAndLimited(t *testing.T) {
	const limit = 3
	lookups, server := newLookups(t, zone, limit, hung)
	together, most := mxtest.Together(t, limit)
	server.RespondAll(together)
	local := &pipeline.Local{View: newEngine(t).View(), Lookups: lookups}
	var emails []string
	for n := range 2000 {
		emails = append(emails, fmt.Sprintf("user%d@d%d.test", n, n%40))
	}
	_, counts := checkLines(t, local, emails...)
	require.EqualValues(t, 2000, counts.NoMX)
	require.Zero(t, counts.Errors)
	require.Equal(t, 40, server.Names())
	udp, tcp := server.Queries()
	require.Equal(t, 40, udp+tcp)
	require.EqualValues(t, limit, most.Load())
}

// Without lookups mx is null, and nothing else differs from a result with lookups.
func TestLocalOffline(t *testing.T) {
	lookups, _ := newLookups(t, zone, 8, hung)
	view := newEngine(t).View()
	emails := []string{"a@yes.test", "Info+x@none.test", "jane@gmial.test", "xkqzvwjt@missing.test", "a..b@yes.test",
		"a@[192.0.2.1]", strings.Repeat("x", 2<<20)}
	out, counts := checkLines(t, &pipeline.Local{View: view}, emails...)
	require.Contains(t, out, `"mx":null`)
	require.Zero(t, counts.NoMX)
	require.EqualValues(t, 1, counts.Errors)
	with, _ := checkLines(t, &pipeline.Local{View: view, Lookups: lookups}, emails...)
	require.NotContains(t, with, `"mx":null`)
	facts := regexp.MustCompile(`"mx":\w+`)
	require.Equal(t, facts.ReplaceAllString(out, ""), facts.ReplaceAllString(with, ""))
	require.Contains(t, out, `"error":{"code":"INVALID_EMAIL_FORMAT"`)
	outcomes := make([]pipeline.Outcome, 1)
	unreadable := pipeline.Record{Email: strings.Repeat("x", 2<<20), Err: io.ErrUnexpectedEOF}
	require.NoError(t, (&pipeline.Local{View: view}).Check(t.Context(), []pipeline.Record{unreadable}, outcomes))
	require.Zero(t, outcomes[0])
}

// The verdict is the last member. A reason that needs DNS counts where something was
// looked up, address records too, although no details are asked for.
func TestLocalDecides(t *testing.T) {
	t.Parallel()
	lookups, server := newLookups(t, zone, 8, hung)
	server.Respond("broken.test.", mxtest.ServFail)
	server.Respond("half.test.", func(w dns.ResponseWriter, reply *dns.Msg) {
		if reply.Question[0].Qtype == dns.TypeAAAA {
			mxtest.ServFail(w, reply)
			return
		}
		mxtest.Answer(w, reply)
	})
	engine := newEngine(t)
	policy, err := engine.NewPolicy(t.Context(), `{"allow":{"domains":["trusted.test"]},"block":{"reasons":["no_mail"]},"review":{"reasons":["no_mx","role"]}}`)
	require.NoError(t, err)
	emails := []string{"jane@yes.test", "info@yes.test", "jane@null.test", "jane@none.test", "jane@missing.test", "jane@trusted.test", "jane@broken.test", "not valid", "jane@[192.0.2.1]", "jane@half.test"}
	const block, review = `{"action":"block","reason":"no_mail","rule":"block.reasons[0]"}`, `{"action":"review","reason":"no_mx","rule":"review.reasons[0]"}`
	const role, allow, invalid = `{"action":"review","reason":"role","rule":"review.reasons[1]"}`, `{"action":"allow","reason":null,"rule":null}`, `{"action":"block","reason":"invalid","rule":null}`
	for name, c := range map[string]struct {
		local    pipeline.Local
		verdicts []string
		counts   pipeline.Counts
	}{
		"DNS": {pipeline.Local{Lookups: lookups}, []string{allow, role, block, review, block, `{"action":"allow","reason":"domain","rule":"allow.domains[0]"}`, "", invalid, review, review},
			pipeline.Counts{Records: 10, Allow: 2, Review: 4, Block: 3, Valid: 8, Invalid: 1, Role: 1, NoMX: 6, Errors: 1}},
		"DNS, details": {pipeline.Local{Lookups: lookups, Flags: host.Details}, []string{allow, role, block, review, block, `{"action":"allow","reason":"domain","rule":"allow.domains[0]"}`, "", invalid, review, review},
			pipeline.Counts{Records: 10, Allow: 2, Review: 4, Block: 3, Valid: 8, Invalid: 1, Role: 1, NoMX: 6, Errors: 1}},
		"offline": {pipeline.Local{}, []string{allow, role, allow, allow, allow, `{"action":"allow","reason":"domain","rule":"allow.domains[0]"}`, allow, invalid, review, allow},
			pipeline.Counts{Records: 10, Allow: 7, Review: 2, Block: 1, Valid: 9, Invalid: 1, Role: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			local := c.local
			local.View = engine.View()
			plain, _ := checkLines(t, &local, emails...)
			local.Policy = policy
			out, counts := checkLines(t, &local, emails...)
			require.Equal(t, c.counts, counts)
			without := strings.Split(plain, "\n")
			for n, line := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
				before, verdict, found := strings.Cut(line, `,"verdict":`)
				require.Equal(t, c.verdicts[n] != "", found, line)
				if !found {
					require.Equal(t, without[n], line)
					continue
				}
				require.Equal(t, c.verdicts[n]+"}", verdict, line)
				require.Equal(t, without[n], before+"}", "the same bytes but for the member")
			}
		})
	}
}

// A mailbox and the exchanges of a domain decide in this process. A policy with exchanges does not
// decide about the results of a service, which do not name them.
func TestEntries(t *testing.T) {
	t.Parallel()
	lookups, _ := newLookups(t, "$ORIGIN test.\n@ SOA ns hostmaster 1 2 3 4 60\nyes MX 10 mx.host\nyes MX 20 mx2.host\nboth MX 10 mx.host\nboth MX 20 mx.both", 8, hung)
	engine := newEngine(t)
	policy, err := engine.NewPolicy(t.Context(), `{"block":{"addresses":["jane@both.test"],"exchanges":["*.host.test"]}}`)
	require.NoError(t, err)
	local := &pipeline.Local{View: engine.View(), Lookups: lookups, Policy: policy}
	out, counts := checkLines(t, local, "jane@yes.test", "john@yes.test", "john@both.test", "Jane@both.test")
	require.EqualValues(t, 3, counts.Block, out)
	require.Equal(t, 2, strings.Count(out, `"reason":"exchange","rule":"block.exchanges[0]"`), out)
	require.Equal(t, 1, strings.Count(out, `"reason":"address","rule":"block.addresses[0]"`), out)
	local.Lookups = nil
	_, counts = checkLines(t, local, "jane@yes.test", "jane@both.test")
	require.EqualValues(t, 1, counts.Block, "nothing is looked up")
	_, err = pipeline.NewDecider(engine.View(), policy)
	require.ErrorContains(t, err, "it has exchanges, which the results of a service do not name")
	without, err := engine.NewPolicy(t.Context(), `{"block":{"addresses":["jane@both.test"]}}`)
	require.NoError(t, err)
	_, err = pipeline.NewDecider(engine.View(), without)
	require.NoError(t, err)
}

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
