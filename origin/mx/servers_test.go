package mx

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/mxtest"
)

func TestNewInvalidServers(t *testing.T) {
	for address, want := range map[string]string{
		"":                        "no address",
		":53":                     "no address",
		"127.0.0.1:":              "not a port",
		"127.0.0.1:0":             "not a port",
		"127.0.0.1:70000":         "not a port",
		"127.0.0.1:dns!":          "not a port",
		"https://1.1.1.1:53":      "no address",
		"[::1]53":                 "no address",
		"no_such_host.invalid:53": "no address",
	} {
		_, err := New(Config{Servers: []string{"127.0.0.1:53", address}})
		require.ErrorContains(t, err, want, address)
		require.ErrorContains(t, err, `"`+address+`"`)
		require.ErrorContains(t, err, "127.0.0.1:53 or [::1]:53", "the format")
	}
}

func TestParseServer(t *testing.T) {
	for given, address := range map[string]string{
		"127.0.0.1:5353":   "127.0.0.1:5353",
		"[::1]:53":         "[::1]:53",
		"127.0.0.1:domain": "127.0.0.1:53",
		"1.1.1.1":          "1.1.1.1:53",
		"2001:db8::53":     "[2001:db8::53]:53",
		"[2001:db8::53]":   "[2001:db8::53]:53",
		"fe80::1%lo":       "[fe80::1%lo]:53",
	} {
		at, err := parseServer(given)
		require.NoError(t, err)
		require.Equal(t, address, at.String())
	}
	for given, port := range map[string]uint16{"localhost:5353": 5353, "localhost": 53} {
		at, err := parseServer(given)
		require.NoError(t, err)
		require.True(t, at.Addr().IsLoopback())
		require.Equal(t, port, at.Port())
	}
}

// Lines that name no resolver are skipped with a warning, and without any that does, the
// resolver is the one of this machine (resolv.conf(5)).
func TestReadServers(t *testing.T) {
	for text, want := range map[string]struct {
		servers  string
		warnings int
	}{
		"search example.test\nnameserver 192.0.2.53\nnameserver 2001:db8::53\n":  {"[192.0.2.53:53 [2001:db8::53]:53]", 0},
		"# nameserver 192.0.2.1\n;nameserver 192.0.2.2\nnameserver\t192.0.2.3 x": {"[192.0.2.3:53]", 0},
		"nameserver fe80::1%lo\r\n": {"[[fe80::1%lo]:53]", 0},
		"nameserver\nnameserver dns.example\nnameserver 192.0.2.53:53\nnameserver 192.0.2.9": {"[192.0.2.9:53]", 3},
		"nameserver dns.example":   {"[127.0.0.1:53]", 1},
		"options edns0 trust-ad\n": {"[127.0.0.1:53]", 0},
		"":                         {"[127.0.0.1:53]", 0},
	} {
		path := filepath.Join(t.TempDir(), "resolv.conf")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		var warned bytes.Buffer
		list, err := readServers(path, slog.New(slog.NewTextHandler(&warned, nil)))
		require.NoError(t, err)
		require.Equal(t, want.servers, fmt.Sprint(list), text)
		require.Equal(t, want.warnings, bytes.Count(warned.Bytes(), []byte("skipped a line")), text)
	}
	list, err := readServers(filepath.Join(t.TempDir(), "missing"), slog.Default())
	require.NoError(t, err)
	require.Equal(t, "[127.0.0.1:53]", fmt.Sprint(list))
	_, err = readServers(t.TempDir(), slog.Default())
	require.ErrorContains(t, err, "--dns HOST:PORT")
}

// A laptop changes its network: the file of its resolvers changes, and new domains are looked up
// at the new ones without a restart. What has gone or is no file of resolvers changes nothing.
func TestServersChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "resolv.conf")
	write := func(text string, age time.Duration) {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		at := time.Now().Add(-age)
		require.NoError(t, os.Chtimes(path, at, at))
	}
	write("nameserver 192.0.2.1\nnameserver 192.0.2.2\n", time.Hour)
	var log bytes.Buffer
	v, err := newServers(Config{resolvConf: path, Log: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	first := v.current()
	require.False(t, v.reload(false), "it has not changed")
	looked := v.looked

	write("nameserver 192.0.2.2\nnameserver 192.0.2.3\n", time.Minute)
	require.False(t, v.reload(false), "it was looked at lately")
	v.looked = looked.Add(-lookAgain)
	require.True(t, v.reload(false))
	require.Len(t, v.current(), 2)
	require.Same(t, first[1], v.current()[0], "what is known of a server stays")
	require.Equal(t, "192.0.2.3:53", v.current()[1].address)
	require.Contains(t, log.String(), "the resolvers have changed")

	now := v.current()
	write("# written anew\nnameserver 192.0.2.2\nnameserver 192.0.2.3\n", 0)
	require.False(t, v.reload(true), "the same resolvers")
	require.NoError(t, os.Remove(path))
	log.Reset()
	for range 3 {
		v.looked = time.Time{}
		require.False(t, v.reload(false))
	}
	require.Equal(t, 1, bytes.Count(log.Bytes(), []byte("the resolvers remain")), log.String())
	require.Equal(t, now, v.current())

	fixed, err := newServers(Config{Servers: []string{"192.0.2.1", "192.0.2.1:53"}})
	require.NoError(t, err)
	require.False(t, fixed.reload(true))
	require.Len(t, fixed.current(), 1, "it is named twice")
}

// Reload finds new resolvers at once. Of a false of the old ones nothing is served any more, and
// the new ones are asked whether they lie.
func TestReload(t *testing.T) {
	old, current := mxtest.New(t, noZone), mxtest.New(t, zone)
	r := open(t, Config{WithMX: verified, Strict: true}, old.Addr)
	lies, _ := r.Verify(t.Context())
	require.Error(t, lies)
	require.True(t, r.Distrusted())
	path := filepath.Join(t.TempDir(), "resolv.conf")
	require.NoError(t, os.WriteFile(path, []byte("nameserver 127.0.0.1\n"), 0o600))
	before := r.cache.generation.Load()
	r.servers.file = path
	r.Reload()
	require.Equal(t, before+1, r.cache.generation.Load())
	require.Equal(t, "127.0.0.1:53", r.servers.current()[0].address)

	r.servers.file = ""
	at, err := parseServer(current.Addr)
	require.NoError(t, err)
	require.True(t, r.servers.set([]netip.AddrPort{at}))
	_, _ = r.Verify(t.Context())
	require.False(t, r.Distrusted())
	requireMX(t, r, true, "example.test")
}
