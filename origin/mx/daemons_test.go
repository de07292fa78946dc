package mx

import (
	"context"
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
	"github.com/addrspec/addrspec/origin/rig/origintest"
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
	b.WriteString("$ORIGIN other.test.\n$TTL 300\n@ IN SOA ns hostmaster 1 3600 600 86400 77\n@ IN NS ns\nns IN A 127.0.0.1\n")
	for i := range 100 {
		fmt.Fprintf(&b, "big IN MX %d mail-exchange-number-%d\n", i, i)
	}
	return b.String()
}

// mxtest must give the same results as NSD and Unbound.
func TestAgainstMxtest(t *testing.T) {
	r, clock := openAt(t, Config{}, mxtest.Start(t, realZone+otherZone()))
	requireRealAnswers(t, r)
	requireRealTTLs(t, r, clock)
}

func TestAgainstNSD(t *testing.T) {
	nsd := startNSD(t)
	r, clock := openAt(t, Config{}, nsd.addr)
	requireRealAnswers(t, r)
	requireRealTTLs(t, r, clock)
	require.EqualValues(t, 2, r.Stats().TCP, "big and its alias")
	_, err := r.Lookup(context.Background(), testAccount, "loop.real.test")
	require.ErrorAs(t, err, new(*Error))
	_, err = r.Lookup(context.Background(), testAccount, "not-served-here.test")
	requireError(t, err, Failure, Rcode)
	require.ErrorContains(t, err, "replied REFUSED")
}

func TestAgainstUnbound(t *testing.T) {
	unbound := startUnbound(t, startNSD(t).addr)
	r, clock := openAt(t, Config{}, unbound.addr)
	requireRealAnswers(t, r)
	requireRealTTLs(t, r, clock)
	require.NotZero(t, r.Stats().TCP)
	_, err := r.Lookup(context.Background(), testAccount, "loop.real.test")
	require.ErrorAs(t, err, new(*Error))
	_, err = r.Lookup(context.Background(), testAccount, "lame.test")
	requireError(t, err, Failure, Rcode)
	require.ErrorContains(t, err, "replied SERVFAIL")
}

// Unbound stops replying, resumes, and is killed.
func TestUnboundGoesDown(t *testing.T) {
	unbound := startUnbound(t, startNSD(t).addr)
	r, clock := openAt(t, Config{Timeout: time.Second, staleWait: 50 * time.Millisecond}, unbound.addr)
	requireKnown := func(domain string) {
		found, err := r.Lookup(context.Background(), testAccount, domain)
		require.NoError(t, err)
		require.True(t, found.MX)
	}
	requireKnown("real.test")
	clock.advance(301 * time.Second)

	unbound.signal(t, syscall.SIGSTOP)
	requireKnown("real.test")
	require.EqualValues(t, 1, r.Stats().Stale)
	_, err := r.Lookup(context.Background(), testAccount, "short.real.test")
	requireError(t, err, Timeout, NoReply)

	unbound.signal(t, syscall.SIGCONT)
	requireKnown("alias.real.test")
	clock.advance(3 * time.Second)
	requireKnown("short.real.test")

	unbound.signal(t, syscall.SIGKILL)
	eventually(t, func() bool { return r.Probe(context.Background()) != nil })
	_, err = r.Lookup(context.Background(), testAccount, "big.other.test")
	requireError(t, err, Failure, Unreachable)
	requireKnown("alias.real.test")
}

func requireRealAnswers(t *testing.T, r *Resolver) {
	t.Helper()
	require.NoError(t, r.Probe(context.Background()))
	for domain, mx := range map[string]bool{
		"real.test": true, "REAL.test": true, "short.real.test": true, "alias.real.test": true,
		"x.any.real.test": true, "big.other.test": true, "away.real.test": true,
		"mail.real.test": false, "null.real.test": false, "any.real.test": false,
		"nowhere.real.test": false, "bare.real.test": false, "lost.real.test": false,
	} {
		got, err := r.Lookup(context.Background(), testAccount, domain)
		require.NoError(t, err, domain)
		require.Equal(t, mx, got.MX, domain)
	}
}

// requireRealTTLs requires the TTLs of results just cached. A recursive resolver
// may have decremented them by a second or two.
func requireRealTTLs(t *testing.T, r *Resolver, clock *fakeClock) {
	t.Helper()
	for domain, ttl := range map[string]int{
		"real.test": 300, "null.real.test": 300, "short.real.test": 42, "alias.real.test": 42,
		"mail.real.test": 77, "nowhere.real.test": 77, "big.other.test": 300,
	} {
		known, fresh := r.cache.get(subject{name: domain})
		require.True(t, fresh, domain)
		left := time.Duration(known.freshUntil - clock.NowNano())
		require.InDelta(t, ttl, left.Seconds(), 3, domain)
	}
}

// startNSD starts an NSD that serves both zones.
func startNSD(t *testing.T) daemon {
	t.Helper()
	if testing.Short() {
		t.Skip("left to ./build.sh test ci")
	}
	nsd := requireProgram(t, "nsd")
	dir, port := t.TempDir(), freePort(t)
	write(t, dir, "real.zone", realZone)
	write(t, dir, "other.zone", otherZone())
	conf := write(t, dir, "nsd.conf", fmt.Sprintf(`
server:
  ip-address: 127.0.0.1@%[2]s
  username: ""
  chroot: ""
  zonesdir: "%[1]s"
  zonelistfile: "%[1]s/zone.list"
  xfrdfile: "%[1]s/xfrd.state"
  xfrdir: "%[1]s"
  pidfile: "%[1]s/nsd.pid"
  server-count: 1
remote-control:
  control-enable: no
zone:
  name: real.test
  zonefile: real.zone
zone:
  name: other.test
  zonefile: other.zone
`, dir, port))
	return startDaemon(t, port, nsd, "-d", "-c", conf)
}

// startUnbound starts an Unbound that resolves the zones at the server authority.
func startUnbound(t *testing.T, authority string) daemon {
	t.Helper()
	unbound := requireProgram(t, "unbound")
	dir, port := t.TempDir(), freePort(t)
	stub := strings.Replace(authority, ":", "@", 1)
	conf := write(t, dir, "unbound.conf", fmt.Sprintf(`
server:
  interface: 127.0.0.1@%[2]s
  username: ""
  chroot: ""
  directory: "%[1]s"
  pidfile: ""
  use-syslog: no
  num-threads: 1
  module-config: "iterator"
  do-not-query-localhost: no
  local-zone: "test." nodefault
remote-control:
  control-enable: no
stub-zone:
  name: "real.test."
  stub-addr: %[3]s
stub-zone:
  name: "other.test."
  stub-addr: %[3]s
stub-zone:
  name: "lame.test."
  stub-addr: %[3]s
stub-zone:
  name: "."
  stub-addr: %[3]s
`, dir, port, stub))
	return startDaemon(t, port, unbound, "-d", "-c", conf)
}

// requireProgram returns the path of a daemon, or skips the test if it is not
// installed.
func requireProgram(t *testing.T, name string) string {
	t.Helper()
	for _, dir := range []string{"/usr/sbin", "/usr/local/sbin"} {
		if path := filepath.Join(dir, name); isFile(path) {
			return path
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed: apt-get install %s", name, name)
	}
	return path
}

func isFile(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func write(t *testing.T, dir, name, text string) (path string) {
	t.Helper()
	path = filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func freePort(t *testing.T) string {
	t.Helper()
	address, err := origintest.FreeAddress()
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	return port
}

// daemon is a running server.
type daemon struct {
	addr    string
	process *os.Process
}

// signal sends s to the daemon.
func (d daemon) signal(t *testing.T, s os.Signal) {
	t.Helper()
	require.NoError(t, d.process.Signal(s))
}

// startDaemon runs a program until the test ends. It returns once the program
// replies to queries.
func startDaemon(t *testing.T, port, program string, args ...string) daemon {
	t.Helper()
	var output strings.Builder
	command := exec.Command(program, args...)
	command.Stdout, command.Stderr = &output, &output
	require.NoError(t, command.Start())
	d := daemon{net.JoinHostPort("127.0.0.1", port), command.Process}
	t.Cleanup(func() {
		_ = d.process.Signal(syscall.SIGCONT)
		_ = d.process.Signal(syscall.SIGTERM)
		_ = command.Wait()
		if t.Failed() {
			t.Log(output.String())
		}
	})
	r := open(t, Config{interval: 400 * time.Millisecond}, d.addr)
	require.Eventually(t, func() bool { return r.Probe(context.Background()) == nil }, 2*time.Minute, 20*time.Millisecond,
		"%s does not reply", program)
	return d
}
