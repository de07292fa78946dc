package command

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/mxtest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
	"github.com/addrspec/addrspec/origin/service"
)

func refused(t *testing.T, args ...string) (message string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hung)
	defer cancel()
	file := filepath.Join(t.TempDir(), "a.db")
	out, err, code := runOn(ctx, strings.NewReader(""), append(args, "--database", "sqlite:"+file)...)
	require.Equal(t, 2, code, "%v: %s", args, err)
	require.Empty(t, out)
	require.NoFileExists(t, file, "%v: the database was opened", args)
	return err
}

func TestServeRefusesSettings(t *testing.T) {
	t.Parallel()
	for args, message := range map[string]string{
		"--dns-timeout=-5s":              "--dns-timeout -5s: must be from 10ms to 5m0s",
		"--dns-timeout 5":                "--dns-timeout: expected duration",
		"--dns-concurrency=-1":           "--dns-concurrency -1: must be from 1 to",
		"--batch-timeout=-1s":            "--batch-timeout -1s: must be from 10ms",
		"--grace 500ms":                  "--grace 500ms: must be from 1s",
		"--drain 2h":                     "--drain 2h0m0s: must be from 0s to 1h0m0s",
		"--max-connections=-1":           "--max-connections -1: must be from 1 to",
		"--body-memory 1MiB":             "--body-memory 1.0 MiB: must be at least 20 MiB",
		"--body-memory much":             "write it like 64MiB",
		"--edge-secret hunter2":          "--edge-secret has 7 characters: must be at least 16 random ones",
		"--edge-secret 0123456789abcdeé": "printable ASCII",

		"--edge-secret 0123456789abcde\t":                                  "white space at its start or end",
		"--edge-secret 0123456789abcdef,":                                  "--edge-secret, the second of two, has 0 characters",
		"--edge-secret 0123456789abcdef,0123456789abcdef":                  "has the same secret twice",
		"--edge-secret 0123456789abcdef,1123456789abcdef,2123456789abcdef": "has 3 secrets: must be one, or two",

		"--listen 8080":            "--listen 8080: must be HOST:PORT",
		"--listen 127.0.0.1:http_": "--listen 127.0.0.1:http_: must be HOST:PORT",
		"--listen 127.0.0.1:65536": "--listen 127.0.0.1:65536: must be HOST:PORT",
		"--operator-listen 9090":   "--operator-listen 9090: must be HOST:PORT",

		"--openid-name Company":                                     "need --openid-issuer",
		"--openid-issuer https://id.example":                        "needs --openid-client-id",
		"--openid-issuer http://id.example --openid-client-id a":    "must be an https URL without query",
		"--openid-issuer https://id.example?a --openid-client-id a": "must be an https URL without query",
	} {
		err := refused(t, append([]string{"serve"}, strings.Split(args, " ")...)...)
		require.Contains(t, err, message, args)
		require.NotContains(t, err, "hunter2", "the secret is printed")
		require.NotContains(t, err, "0123456789", "the secret is printed")
	}
	err := refused(t, "serve", "--dns-timeout", "0s", "--grace", "0s", "--max-connections", "0", "--edge-secret", "x")
	for _, flag := range []string{"--dns-timeout", "--grace", "--max-connections", "--edge-secret"} {
		require.Equal(t, 1, strings.Count(err, flag+" "), "one error lists every wrong setting: %s", err)
	}
}

func TestServeStartUpErrors(t *testing.T) {
	t.Parallel()
	taken := must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer taken.Close()
	ctx, cancel := context.WithTimeout(t.Context(), hung)
	defer cancel()
	none, notModule := filepath.Join(t.TempDir(), "none"), fileOf(t, "not.wasm", "\x00asm\x01\x00\x00\x00")
	for args, message := range map[string]string{
		"--listen " + taken.Addr().String():          "in use",
		"--operator-listen " + taken.Addr().String(): "choose another --operator-listen HOST:PORT",
		"--database sqlite:" + notModule + "/a.db":   notModule,
		"--database mysql://x":                       "sqlite:",
		"--module " + none:                           none,
		"--module " + notModule:                      "not a module of addrspec",
		"--lists " + notModule:                       "lists",
		"--dns nowhere":                              "host:port",
		"--plans " + none:                            none,
		"--security-txt " + none:                     none,
	} {
		all := origintest.ServeArgs(t, origintest.NewDatabase(t), append(strings.Fields(args), "--dns", "127.0.0.1:1")...)
		_, problem, code := runOn(ctx, nil, all...)
		require.NotZero(t, code, args)
		require.Contains(t, problem, message, args)
	}
}

func startApart(t *testing.T, args ...string) (public, operators *instance) {
	public = start(t, append([]string{"--operator-listen", "127.0.0.1:0"}, args...)...)
	at := regexp.MustCompile(`"operator_address":"([^"]+)"`).FindStringSubmatch(public.wholeLog(t))
	require.NotNil(t, at)
	return public, &instance{hostPort: at[1], log: public.log}
}

// The operator's listener has the operator's paths, which the public listener then lacks. Its
// connections are limited separately. Package api tests the paths.
func TestOperatorListener(t *testing.T) {
	t.Parallel()
	public, operators := startApart(t, "--dns", contract.Serve(t))
	public.requireStatus(t, http.StatusNotFound, "/metrics", "", "")
	operators.requireStatus(t, http.StatusOK, "/metrics", "", "")
	var ended atomic.Int64
	for range 4 * service.OperatorConnections {
		conn := origintest.Dial(t, operators.hostPort, hung).Send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
		go func() { _, _ = io.Copy(io.Discard, conn); ended.Add(1) }()
	}
	// Without the limit all would stay open for the minute of the idle timeout.
	await(t, func() bool { return ended.Load() >= 3*service.OperatorConnections })
	public.requireHealthy(t)
}

// A stop ends serve with 0 after each request in progress got its response: a batch what is
// finished of it, a single its result. Meanwhile /readyz on the operator's listener is 503.
func TestStopEndsRequests(t *testing.T) {
	t.Parallel()
	server := silentZone(t)
	public, operators := startApart(t, "--dns", server.Addr, "--dns-timeout", "1m", "--batch-timeout", "1m",
		"--grace", "30s")
	key := public.newKey(t)
	public.requireStatus(t, http.StatusOK, "/v1/email/b@mail.example", key, "") // later its domain is in the cache
	hits := operators.metric(t, "addrspec_mx_cache_hits_total")
	batch, single := make(chan envelope), make(chan int)
	go func() {
		_, e, _ := public.post(key, []string{"a@silent.example", "b@mail.example"})
		batch <- e
	}()
	await(t, func() bool {
		return server.Asked("silent.example") > 0 && operators.metric(t, "addrspec_mx_cache_hits_total") > hits
	})
	go func() {
		status, _, _ := public.get(key, "/v1/email/c@silent.example")
		single <- status
	}()
	operators.awaitMetric(t, "addrspec_ledger_in_progress", 2)
	operators.requireStatus(t, http.StatusOK, "/readyz", "", "")
	public.stop()
	e := <-batch
	require.True(t, e.Success && e.Partial)
	require.Equal(t, 1, e.Points)
	operators.awaitStatus(t, http.StatusServiceUnavailable, "/readyz", "", "")
	server.Respond("silent.example", mxtest.Answer)
	require.Equal(t, http.StatusOK, <-single)
	public.requireStopped(t)
	_, _, err := operators.get("", "/healthz")
	require.Error(t, err)
	require.EqualValues(t, 3, public.used(t))
}

// During --drain a service is not ready, but serves, and each response closes its connection; idle ones
// stay open. A second signal ends it at once.
func TestDrain(t *testing.T) {
	t.Parallel()
	server := mxtest.New(t, contract.Zone)
	p := launch(t, nil, "--dns", server.Addr, "--drain", "1h")
	key := p.newKey(t)
	require.NoError(t, p.Signal(syscall.SIGHUP)) // which ends no process
	p.awaitLog(t, "nothing to reload")
	idle := origintest.Dial(t, p.hostPort, hung)
	request := origintest.Request{Method: "GET", Target: "/v1/email/jane@mail.example", KeepAlive: true}.With("X-API-Key: " + key).Text("x")
	response, body := idle.Send(request).Response()
	require.Equal(t, http.StatusOK, response.StatusCode, body)
	require.NoError(t, p.Signal(syscall.SIGTERM))
	p.awaitStatus(t, http.StatusServiceUnavailable, "/readyz", "", "stopping")
	status, e, err := p.post(key, []string{"a@mail.example", "b@mail.example"})
	require.True(t, err == nil && status == http.StatusOK && !e.Partial, "%d %v", status, err)
	response, body = idle.Send(request).Response()
	require.Equal(t, http.StatusOK, response.StatusCode, body)
	require.True(t, response.Close)
	require.True(t, idle.IsClosed())
	require.NoError(t, p.Signal(syscall.SIGTERM))
	p.Wait()
}

// A single request that would take longer than the grace gets 503 and is free. A connection on
// which no request has begun is no failure, although http.Server.Shutdown waits longer for it.
func TestStopCancelsSlowRequests(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", silentZone(t).Addr, "--dns-timeout", "1m", "--grace", "1s")
	origintest.Dial(t, s.hostPort, hung)
	key, single := s.newKey(t), make(chan int)
	go func() {
		status, _, _ := s.get(key, "/v1/email/a@silent.example")
		single <- status
	}()
	s.awaitMetric(t, "addrspec_ledger_in_progress", 1)
	s.stop()
	require.Equal(t, http.StatusServiceUnavailable, <-single)
	s.requireStopped(t)
	require.Zero(t, s.used(t))
}

// knownZone has a domain of --dns-with-mx, one with MX and one without.
const knownZone = `
gmail.com.    300 IN MX  10 mx.gmail.com.
mail.example. 300 IN MX  10 mx.mail.example.
web.example.  300 IN TXT "no mail"
`

// A silent resolver does not delay the start. With --dns-strict, lookups at one that denies
// everything fail, and /readyz is 503 until it recovers. Without, responses do not change, and a
// metric reports it. Package service tests what the log has.
func TestLyingResolver(t *testing.T) {
	t.Parallel()
	server := mxtest.New(t, knownZone)
	server.RespondAll(mxtest.Silent)
	start(t, "--dns", server.Addr, "--dns-strict").requireStatus(t, http.StatusOK, "/metrics", "",
		"\naddrspec_mx_resolver_answered 0\n")
	server.RespondAll(mxtest.Rcode(dns.RcodeNameError))
	strict, lenient := start(t, "--dns", server.Addr, "--dns-strict"), start(t, "--dns", server.Addr)
	key, other := strict.newKey(t), lenient.newKey(t)
	strict.awaitStatus(t, http.StatusServiceUnavailable, "/readyz", "", "--dns-strict")
	strict.requireHealthy(t)
	strict.requireStatus(t, http.StatusServiceUnavailable, "/v1/email/a@gmail.com", key, "REQUEST_CANCELLED")
	lenient.awaitMetric(t, "addrspec_mx_resolvers_lying", 1)
	lenient.awaitMetric(t, "addrspec_mx_resolver_answered", 1)
	lenient.requireStatus(t, http.StatusOK, "/v1/email/a@mail.example", other, `"mx":false`)
	lenient.requireStatus(t, http.StatusOK, "/readyz", "", "ready")
	server.RespondAll(mxtest.Answer)
	strict.awaitStatus(t, http.StatusOK, "/readyz", "", "ready")
	strict.awaitStatus(t, http.StatusOK, "/v1/email/a@gmail.com", key, `"mx":true`) // a failure is cached for 2 s
}

func banner(t *testing.T, database, last string, args ...string) (out string, code int) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	printed, exit := new(origintest.Log), make(chan int, 1)
	args = origintest.ServeArgs(t, database, append([]string{"--dns", "127.0.0.1:1"}, args...)...)
	go func() { exit <- run(ctx, args, streams{strings.NewReader(""), printed, printed}) }()
	require.Eventually(t, func() bool { return printed.Contains(last) }, hung, 10*time.Millisecond, "%s", printed)
	stop()
	code = <-exit
	return printed.String(), code
}

// Without --demo an empty ledger gets the two commands to begin, which work as they
// are printed; with accounts it gets neither. A start that compiles the module says so.
func TestStartOfAnEmptyLedger(t *testing.T) {
	t.Parallel()
	database := "sqlite:" + filepath.Join(t.TempDir(), "odd name", "a.db")
	var fresh []string
	if !testing.Short() { // because to compile takes long
		fresh = []string{"--cache-dir", t.TempDir()}
	}
	out, code := banner(t, database, "key create", fresh...)
	require.Zero(t, code, out)
	if fresh != nil {
		require.Contains(t, out, "compiling the module for this machine")
		require.Contains(t, out, "compiled the module")
	}
	require.Contains(t, out, "There is no account yet.")
	commands := regexp.MustCompile(`(?m)^  \S+ ((?:account|key) create .*)$`).FindAllStringSubmatch(out, -1)
	require.Len(t, commands, 2)
	for _, command := range commands {
		require.Contains(t, command[1], "'"+database+"'", "quoted for a shell")
		args := strings.Fields(strings.ReplaceAll(command[1], "'"+database+"'", "DATABASE"))
		args[len(args)-1] = database
		_, problem, code := operator(t, args...)
		require.Zero(t, code, problem)
	}
	out, code = banner(t, database, "listens on")
	require.Zero(t, code, out)
	require.NotContains(t, out, "There is no account yet.")
	_, code = banner(t, database, "--demo needs an empty ledger", "--demo")
	require.Equal(t, 1, code)
}

// The first start of a demo prints a key, its limits and a link; the second says
// how to get another key, and the account's limits are those printed.
func TestStartOfADemo(t *testing.T) {
	t.Parallel()
	database := "sqlite:" + filepath.Join(t.TempDir(), "a.db")
	out, code := banner(t, database, "/link/", "--demo")
	require.Zero(t, code, out)
	require.Regexp(t, `\(50 requests/s, 100,?000 points a month\)`, out)
	require.Regexp(t, `X-API-Key: ask_[0-9A-Za-z]{38}'`, out)
	a := must(ledgertest.Open(t, database).AccountByEmail(t.Context(), demoEmail))(t)
	require.Equal(t, []any{book.Limit(50), book.Limit(100_000), false}, []any{a.Rate, a.Points, a.Overage})
	out, code = banner(t, database, "/link/", "--demo")
	require.Zero(t, code, out)
	require.Contains(t, out, "key create --account "+demoEmail)
	require.NotContains(t, out, "ask_")
}

// A URL with a password or parameters is not printed: a command with it redacted
// would not work.
func TestDatabaseForAShell(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"sqlite:data/it's.db":                       `'sqlite:data/it'\''s.db'`,
		"postgres://u@db.example/x":                 "postgres://u@db.example/x",
		"postgres://u:hidden@db.example/x":          `"$ADDRSPEC_DATABASE"`,
		"postgres://u@db.example/x?password=hidden": `"$ADDRSPEC_DATABASE"`,
	} {
		require.Equal(t, want, forShell(&service.DatabaseFlag{Database: url}))
	}
}

// A process has one thread more than processors, unless the environment says how many.
func TestThreads(t *testing.T) {
	const threads = "go_sched_gomaxprocs_threads"
	t.Setenv("GOMAXPROCS", "")
	runtime.SetDefaultGOMAXPROCS()
	require.EqualValues(t, runtime.GOMAXPROCS(0)+1, launch(t, nil).metric(t, threads))
	t.Setenv("GOMAXPROCS", "7")
	require.EqualValues(t, 7, launch(t, nil).metric(t, threads))
}

// A process that may open few files has fewer connections and lookups, so that none
// fails for want of a file: with more connections than files, and all lookups waiting
// for a silent resolver, other requests are served.
func TestFewOpenFiles(t *testing.T) {
	t.Parallel()
	const files = 128
	server := mxtest.New(t, knownZone)
	s := launch(t, func(cmd *exec.Cmd) {
		limited := fmt.Sprintf(`ulimit -n %d && exec "$0" "$@"`, files)
		cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", "-c", limited}, cmd.Args...)
	}, "--dns", server.Addr, "--dns-timeout", "1m", "--batch-timeout", "1m")
	key := s.newKey(t)
	s.requireStatus(t, http.StatusOK, "/v1/email/a@mail.example", key, `"mx":true`)
	fits := regexp.MustCompile(`may open few files.*"open_files":128,.*"max_connections":(\d+),`).FindStringSubmatch(s.wholeLog(t))
	require.NotNil(t, fits, s.log)
	most := must(strconv.Atoi(fits[1]))(t)
	require.Less(t, most, files)

	server.RespondAll(mxtest.Silent)
	for range 8 { // more than one account's share
		go s.get(key, "/v1/email/a@silent.example")
	}
	await(t, func() bool { return server.Asked("silent.example") > 0 })
	for range files {
		origintest.Dial(t, s.hostPort, hung).Send("GET /healthz HTTP/1.1\r\n")
	}
	await(t, func() bool { return s.metric(t, "addrspec_connections_shed_total") >= float64(files-most) })
	require.LessOrEqual(t, s.metric(t, "addrspec_connections"), float64(most))
	s.requireStatus(t, http.StatusOK, "/v1/email/a@mail.example", key, `"mx":true`)
	server.RespondAll(mxtest.Answer)
	s.requireStatus(t, http.StatusOK, "/v1/email/a@web.example", key, `"mx":false`)
	require.NotContains(t, s.wholeLog(t), "too many open files")
}

// SIGTERM ends the process although PostgreSQL does not respond to the requests of forty clients.
func TestStopWhileTheDatabaseHangs(t *testing.T) {
	p := launchOn(t, pgtest.NeedDatabase(t), nil, "--grace", "1s")
	key := p.newKey(t)
	var clients sync.WaitGroup
	var refused atomic.Bool
	for range 40 {
		clients.Go(func() {
			for err := error(nil); err == nil; {
				var status int
				status, _, err = p.get(key, "/v1/email/jane@mail.example")
				if status == http.StatusServiceUnavailable {
					refused.Store(true)
				}
			}
		})
	}
	defer clients.Wait()
	defer must(pgtest.Need(t).Freeze(t.Context()))(t)()
	await(t, refused.Load)
	require.NoError(t, p.Terminate(10*time.Second))
	require.True(t, p.log.Contains(`"msg":"stopped"`), p.log.String())
}

func TestWebhooksOff(t *testing.T) {
	t.Parallel()
	for flag, want := range map[string]bool{"--webhooks=on": true, "--webhooks=off": false, "--dashboard=off": false} {
		_, page := start(t, flag).send(t, http.MethodGet, "/metrics", "", "", nil)
		require.Equal(t, want, strings.Contains(page, "addrspec_webhook_sent_total 0"), flag)
	}
}
