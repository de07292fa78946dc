package mx

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestNewInvalidServers(t *testing.T) {
	for address, want := range map[string]string{
		"":                        "not host:port",
		"127.0.0.1":               "not host:port",
		"::1":                     "not host:port",
		"::1:53":                  "not host:port",
		"127.0.0.1:":              "port 0",
		"127.0.0.1:0":             "port 0",
		"127.0.0.1:70000":         "not a port",
		"127.0.0.1:dns!":          "not a port",
		"https://1.1.1.1:53":      "not host:port",
		"no_such_host.invalid:53": "no address",
	} {
		_, err := New(Config{Servers: []string{"127.0.0.1:53", address}})
		require.ErrorContains(t, err, want, address)
		require.ErrorContains(t, err, `"`+address+`"`)
		require.ErrorContains(t, err, "127.0.0.1:53 or [::1]:53", "the format")
	}
	_, err := New(Config{Servers: make([]string, maxServers+1)})
	require.ErrorContains(t, err, "8 at most")
}

func TestNewServers(t *testing.T) {
	for given, address := range map[string]string{
		"127.0.0.1:5353":   "127.0.0.1:5353",
		"[::1]:53":         "[::1]:53",
		"127.0.0.1:domain": "127.0.0.1:53",
	} {
		servers, err := parseServers([]string{given})
		require.NoError(t, err)
		require.Equal(t, address, servers[0].address)
	}
	servers, err := parseServers([]string{"localhost:53"})
	require.NoError(t, err)
	host, _, err := net.SplitHostPort(servers[0].address)
	require.NoError(t, err)
	require.True(t, net.ParseIP(host).IsLoopback())
}

func TestSystemServers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "resolv.conf")
	require.NoError(t, os.WriteFile(path, []byte("search example.test\nnameserver 192.0.2.53\nnameserver 2001:db8::53\n"), 0o600))
	servers, err := systemServers(path)
	require.NoError(t, err)
	require.Equal(t, []string{"192.0.2.53:53", "[2001:db8::53]:53"}, servers)

	require.NoError(t, os.WriteFile(path, nil, 0o600))
	_, err = systemServers(path)
	require.ErrorContains(t, err, "lists no resolver; set one with --dns")
	_, err = systemServers(path + ".missing")
	require.ErrorContains(t, err, "lists no resolver")
}

func TestNewInvalidLimits(t *testing.T) {
	server := []string{"127.0.0.1:53"}
	for _, c := range []Config{{MinTTL: -1}, {MaxTTL: -1}, {MaxNegativeTTL: -1}, {FailureTTL: -1}} {
		c.Servers = server
		_, err := New(c)
		require.ErrorContains(t, err, "negative")
	}
	for _, timeout := range []time.Duration{-time.Second, 1} {
		_, err := New(Config{Servers: server, Timeout: timeout})
		require.ErrorContains(t, err, "mx: Timeout is "+timeout.String()+"; give at least 1ms")
	}
	for _, c := range []Config{{Concurrency: maxLookups + 1}, {Concurrency: 4, AccountConcurrency: 5}, {AccountConcurrency: -1}} {
		c.Servers = server
		_, err := New(c)
		require.Error(t, err)
	}
	_, err := New(Config{Servers: server, Concurrency: -1})
	require.ErrorContains(t, err, "mx: Concurrency is -1; give 1 to")
}

func TestAccountConcurrencyDefault(t *testing.T) {
	for slots, perAccount := range map[int]int{1: 1, 3: 1, 4: 1, 8: 2, 256: 64} {
		require.Equal(t, perAccount, Config{Concurrency: slots}.withDefaults().AccountConcurrency)
	}
}
