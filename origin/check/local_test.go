package check_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/check"
	"github.com/addrspec/addrspec/origin/check/output"
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
func newLookups(t testing.TB, zone string, workers int, timeout time.Duration) (*check.Lookups, *mxtest.Server) {
	t.Helper()
	server := mxtest.New(t, zone)
	resolver, err := mx.New(check.ResolverConfig([]string{server.Addr}, timeout, workers))
	require.NoError(t, err)
	t.Cleanup(resolver.Close)
	return check.NewLookups(resolver, workers), server
}

func checkLines(t testing.TB, local *check.Local, emails ...string) (string, check.Counts) {
	t.Helper()
	var out bytes.Buffer
	records := make(list, len(emails))
	for n, email := range emails {
		records[n].Email = email
	}
	r := check.Run{Input: &records, Checker: local, Format: &output.NDJSON{}, Output: &out, Workers: 4}
	counts, err := r.Do(context.Background())
	require.NoError(t, err)
	return out.String(), counts
}

const zone = `
$ORIGIN test.
yes  MX 10 mx.yes
null MX 0  .
none A  192.0.2.1
`

func TestLocalLooksUpMX(t *testing.T) {
	t.Parallel()
	lookups, server := newLookups(t, zone, 8, 3*time.Second)
	server.Respond("silent.test.", mxtest.Silent)
	server.Respond("broken.test.", mxtest.ServFail)
	local := &check.Local{View: newEngine(t).View(), Lookups: lookups}
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
	local := &check.Local{View: newEngine(t).View(), Lookups: lookups}
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

// Without lookups mx is null.
func TestLocalOffline(t *testing.T) {
	out, counts := checkLines(t, &check.Local{View: newEngine(t).View()}, "a@yes.test", strings.Repeat("x", 2<<20))
	require.Contains(t, out, `"mx":null`)
	require.Contains(t, out, `"error":{"code":"INVALID_EMAIL_FORMAT"`)
	require.Zero(t, counts.NoMX)
	require.EqualValues(t, 1, counts.Errors)
}
