package service

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/dashboard"
	"github.com/addrspec/addrspec/origin/ledger"
	_ "github.com/addrspec/addrspec/origin/ledger/store/sqlite" // the driver
	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/mxtest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/origin/signuphook"
	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

const (
	lookupsWillFail = "MX lookups will fail"
	lies            = "a resolver lies"
	liesNoMore      = "no resolver lies any more"

	// hung is how long a test waits for an event.
	hung = 2 * time.Minute
)

// newWatch returns a watch that pauses for as short as possible, what it logs, and what
// ends it.
func newWatch(t *testing.T, config mx.Config) (w *resolverWatch, log *origintest.Log) {
	config.WithMX, config.Timeout = []string{"gmail.com"}, 200*time.Millisecond
	resolver, err := mx.New(config)
	require.NoError(t, err)
	log = new(origintest.Log)
	w = &resolverWatch{resolver: resolver, strict: config.Strict, log: slog.New(slog.NewTextHandler(log, nil)), pause: time.Microsecond, troublePause: time.Microsecond}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { w.run(ctx); close(ended) }()
	t.Cleanup(func() { cancel(); <-ended; resolver.Close() })
	return w, log
}

func requireLogged(t *testing.T, log *origintest.Log, line string) {
	t.Helper()
	require.Eventually(t, func() bool { return log.Contains(line) }, hung, time.Millisecond, line)
}

const gmailZone = "gmail.com. 300 IN MX 10 mx.gmail.com.\n"

// The log has one warning for a long outage, and its end.
func TestResolverWatchLogsOutageOnce(t *testing.T) {
	t.Parallel()
	address := freeAddress(t)
	w, log := newWatch(t, mx.Config{Servers: []string{address}})
	requireLogged(t, log, lookupsWillFail)
	require.False(t, w.succeeded.Load())
	server, err := mxtest.Listen(address, gmailZone)
	require.NoError(t, err)
	defer server.Close()
	requireLogged(t, log, "failed_probes=")
	require.Equal(t, 1, strings.Count(log.String(), lookupsWillFail))
	require.True(t, w.succeeded.Load())
	require.False(t, log.Contains(lies), log.String())
}

// freeAddress returns an address of loopback at which nothing listens, over UDP nor TCP.
func freeAddress(t *testing.T) string {
	server, err := mxtest.Listen("127.0.0.1:0", gmailZone)
	require.NoError(t, err)
	defer server.Close()
	return server.Addr
}

// deny replies that there is no such name.
func deny(w dns.ResponseWriter, m *dns.Msg) {
	m.Rcode, m.Answer = dns.RcodeNameError, nil
	mxtest.Answer(w, m)
}

// A resolver that begins to lie, is silent, and recovers: each is logged once, and
// silence is no recovery.
func TestResolverWatchLogsLies(t *testing.T) {
	t.Parallel()
	for _, strict := range []bool{false, true} {
		server := mxtest.New(t, gmailZone)
		w, log := newWatch(t, mx.Config{Servers: []string{server.Addr}, Strict: strict})
		require.Eventually(t, func() bool { return server.Asked("gmail.com") > 1 }, hung, time.Millisecond)
		require.False(t, log.Contains(lies), log.String())
		server.RespondAll(deny)
		requireLogged(t, log, lies)
		require.Equal(t, strict, log.Contains("level=ERROR"), log.String())
		require.Contains(t, log.String(), server.Addr+" denies the MX records of every domain of --dns-with-mx")
		require.Equal(t, strict, w.resolver.Distrusted())

		server.RespondAll(mxtest.Silent)
		before := server.Asked("gmail.com")
		require.Eventually(t, func() bool { return server.Asked("gmail.com") > before+1 }, hung, time.Millisecond)
		require.False(t, log.Contains(liesNoMore), log.String())
		server.RespondAll(mxtest.Answer)
		requireLogged(t, log, liesNoMore)
		require.Equal(t, 1, strings.Count(log.String(), lies), log.String())
		require.False(t, w.resolver.Distrusted())
	}
}

// The end of the service ends the watch without a warning about what it cut off.
func TestResolverWatchEndsWithService(t *testing.T) {
	t.Parallel()
	var log origintest.Log
	silent := mxtest.New(t, gmailZone)
	silent.RespondAll(mxtest.Silent)
	resolver, err := mx.New(mx.Config{Servers: []string{silent.Addr}, WithMX: []string{"gmail.com"}})
	require.NoError(t, err)
	defer resolver.Close()
	w := &resolverWatch{resolver: resolver, log: slog.New(slog.NewTextHandler(&log, nil)), pause: time.Hour, troublePause: time.Hour}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { w.run(ctx); close(ended) }()
	require.Eventually(t, func() bool { return silent.Asked("gmail.com") > 0 && silent.Asked(".") > 0 }, hung, time.Millisecond)
	cancel()
	<-ended
	require.Empty(t, log.String())
	require.False(t, w.succeeded.Load())
}

// The page Health says what the resolvers are worth, and takes what it finds into use.
func TestHealthOfResolvers(t *testing.T) {
	t.Parallel()
	server := mxtest.New(t, gmailZone)
	resolver, err := mx.New(mx.Config{Servers: []string{server.Addr}, WithMX: []string{"gmail.com"}, Strict: true})
	require.NoError(t, err)
	defer resolver.Close()
	s := &Service{resolver: resolver}
	detail, err := s.checkResolvers(t.Context())
	require.NoError(t, err)
	require.Regexp(t, `^responds in \S+$`, detail)

	server.RespondAll(deny)
	_, err = s.checkResolvers(t.Context())
	require.ErrorContains(t, err, server.Addr+" denies the MX records of every domain of --dns-with-mx")
	require.True(t, resolver.Distrusted())

	server.RespondAll(mxtest.ServFail)
	detail, err = s.checkResolvers(t.Context())
	require.NoError(t, err)
	require.Contains(t, detail, "whether it lies is not known")

	server.RespondAll(mxtest.Answer)
	_, err = s.checkResolvers(t.Context())
	require.NoError(t, err)
	require.False(t, resolver.Distrusted())
}

// The page Health has a line for each part.
func TestHealth(t *testing.T) {
	resolver, err := mx.New(mx.Config{Servers: []string{mxtest.Start(t, gmailZone)}})
	require.NoError(t, err)
	defer resolver.Close()
	l, err := ledger.Open(t.Context(), origintest.NewDatabase(t))
	require.NoError(t, err)
	defer l.Close()
	engine, err := host.New(t.Context(), moduletest.Bytes(t), host.Options{CacheDir: moduletest.CacheDir()})
	require.NoError(t, err)
	defer engine.Close(context.Background())
	s := &Service{resolver: resolver, ledger: l, engine: engine}
	details := map[string]string{}
	for _, part := range s.health(t.Context()) {
		if part.Part != "lists" { // which age
			require.True(t, part.OK, part)
		}
		details[part.Part] = part.Detail
	}
	require.Len(t, details, 7)
	require.Regexp(t, `^responds in \S+$`, details["database"])
	require.Regexp(t, `^\d+ \w+ \d{4}, \d\d:\d\d:\d\d UTC$`, details["clock"])
	require.Contains(t, details["lists"], engine.View().Info().Lists)
	require.Equal(t, engine.View().Info().Model, details["model"])

	file := filepath.Join(t.TempDir(), "hooks.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"hooks": [{"name": "signup", "format": "generic", "account": "shop@example.org",
		"secret_file": "secret", "policy": {}, "on_error": "allow"}]}`), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(file), "secret"),
		[]byte("whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="), 0o600))
	set, err := signuphook.Load(t.Context(), engine, file)
	require.NoError(t, err)
	s.signUps = signuphook.NewRegistry(set, nil)
	hooks := func() dashboard.Health { return s.health(t.Context())[3] }
	require.Equal(t, dashboard.Health{Part: "hooks",
		Detail: `hook signup: "account": there is no such account; create it, or remove the hook`}, hooks())
	ledgertest.NewAccount(t, l, "shop@example.org")
	require.True(t, hooks().OK)
	require.NoError(t, l.Close())
	require.False(t, s.health(t.Context())[0].OK)
}
