package mx

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/mxtest"
)

// realZone is served by NSD and queried there and through Unbound.
const realZone = `
$ORIGIN real.test.
$TTL 300
@       IN SOA ns hostmaster 1 3600 600 86400 77
@       IN NS  ns
@       IN MX  10 mail
ns      IN A   127.0.0.1
mail    IN A   192.0.2.1
null    IN MX  0 .
short   42 IN MX 10 mail
alias   55 IN CNAME other
other   IN CNAME short
bare    IN CNAME mail
lost    IN CNAME nowhere
away    IN CNAME big.other.test.
loop    IN CNAME pool
pool    IN CNAME loop
*.any   IN MX  10 mail
`

// otherZone is a second zone of the same server, with a reply too large for UDP.
func otherZone() string {
	var b strings.Builder
	b.WriteString("$ORIGIN other.test.\n$TTL 300\n@ IN SOA ns hostmaster 1 3600 600 86400 77\n@ IN NS ns\n")
	b.WriteString("ns IN A 127.0.0.1\n")
	for i := range 100 {
		fmt.Fprintf(&b, "big IN MX %d mail-exchange-number-%d\n", i, i)
	}
	return b.String()
}

// mxtest must give the same results as NSD and Unbound, since all other tests rely on it.
func TestAgainstMxtest(t *testing.T) {
	requireRealAnswers(t, mxtest.Start(t, realZone+otherZone()))
}

func TestAgainstNSD(t *testing.T) {
	r := requireRealAnswers(t, startNSD(t))
	require.EqualValues(t, 2, r.Stats().TCP, "big and its alias")
	_, err := r.Lookup(t.Context(), testAccount, "not-served-here.test")
	requireError(t, err, Failure, Rcode)
	require.ErrorContains(t, err, "replied REFUSED")
}

func TestAgainstUnbound(t *testing.T) {
	unbound := startUnbound(t, startNSD(t))
	r := requireRealAnswers(t, unbound)
	_, err := r.Lookup(t.Context(), testAccount, "lame.test")
	requireError(t, err, Failure, Rcode)
	require.ErrorContains(t, err, "replied SERVFAIL")
}

// requireRealAnswers requires the results and their TTLs from a server, which a recursive
// resolver may have decremented by a second or two.
func requireRealAnswers(t *testing.T, server string) *Resolver {
	t.Helper()
	r, clock := openAt(t, Config{}, server)
	require.NoError(t, r.Probe(t.Context()))
	for domain, mx := range map[string]bool{
		"real.test": true, "REAL.test": true, "short.real.test": true, "alias.real.test": true,
		"x.any.real.test": true, "big.other.test": true, "away.real.test": true,
		"mail.real.test": false, "null.real.test": false, "any.real.test": false,
		"nowhere.real.test": false, "bare.real.test": false, "lost.real.test": false,
	} {
		requireMX(t, r, mx, domain)
	}
	for domain, ttl := range map[string]int{
		"real.test": 300, "null.real.test": 300, "short.real.test": 42, "alias.real.test": 42,
		"mail.real.test": 77, "nowhere.real.test": 77, "big.other.test": 300,
	} {
		known, fresh := r.cache.get(subject{name: domain})
		require.True(t, fresh, domain)
		left := time.Duration(known.freshUntil - clock.NowNano())
		require.InDelta(t, ttl, left.Seconds(), 3, domain)
	}
	require.NotZero(t, r.Stats().TCP)
	_, err := r.Lookup(t.Context(), testAccount, "loop.real.test")
	require.ErrorAs(t, err, new(*Error))
	return r
}

// startNSD starts an NSD that serves both zones, and returns its address.
func startNSD(t *testing.T) (address string) {
	t.Helper()
	if testing.Short() {
		t.Skip("left to ./build.sh test ci")
	}
	return startDaemon(t, "nsd", "", `
server:
  ip-address: 127.0.0.1@PORT
  username: "" chroot: "" server-count: 1
  zonesdir: "DIR" zonelistfile: "DIR/zone.list" xfrdfile: "DIR/xfrd.state" xfrdir: "DIR" pidfile: "DIR/nsd.pid"
remote-control: control-enable: no
zone: name: real.test zonefile: real.zone
zone: name: other.test zonefile: other.zone
`)
}

// startUnbound starts an Unbound that resolves all names at the server authority.
func startUnbound(t *testing.T, authority string) (address string) {
	t.Helper()
	return startDaemon(t, "unbound", strings.Replace(authority, ":", "@", 1), `
server:
  interface: 127.0.0.1@PORT
  username: "" chroot: "" directory: "DIR" pidfile: "" use-syslog: no num-threads: 1
  module-config: "iterator"
  do-not-query-localhost: no
  local-zone: "test." nodefault
remote-control: control-enable: no
stub-zone: name: "test." stub-addr: AUTHORITY
stub-zone: name: "." stub-addr: AUTHORITY
`)
}

// startDaemon runs a program until the test ends. In its configuration the capitals are replaced.
// It returns once the program replies to queries, and skips the test if it is not installed.
func startDaemon(t *testing.T, name, authority, config string) (address string) {
	t.Helper()
	program, err := exec.LookPath(name)
	for _, dir := range []string{"/usr/sbin/", "/usr/local/sbin/"} {
		if err != nil {
			program, err = exec.LookPath(dir + name)
		}
	}
	if err != nil {
		t.Skipf("%s is not installed: apt-get install %s", name, name)
	}
	address = down(t)
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	dir := t.TempDir()
	settings := strings.NewReplacer("PORT", port, "DIR", dir, "AUTHORITY", authority)
	for file, text := range map[string]string{
		"real.zone": realZone, "other.zone": otherZone(), "conf": settings.Replace(config),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
	}
	var output strings.Builder
	command := exec.Command(program, "-d", "-c", filepath.Join(dir, "conf"))
	command.Stdout, command.Stderr = &output, &output
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		_ = command.Wait()
		if t.Failed() {
			t.Log(output.String())
		}
	})
	r := open(t, Config{interval: 400 * time.Millisecond}, address)
	eventually(t, func() bool { return r.Probe(t.Context()) == nil })
	return address
}
