package command

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

// programVariable makes TestMain run Main instead of the tests.
const programVariable = "TEST_ADDRSPEC_PROGRAM" // without the prefix, of which serve warns

func TestMain(m *testing.M) {
	if os.Getenv(programVariable) != "" {
		os.Unsetenv(programVariable)
		Main()
	}
	for _, variable := range os.Environ() { // what ./build.sh sets for tests of other directories, of which serve warns
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "ADDRSPEC_") {
			os.Unsetenv(name)
		}
	}
	_ = flag.Set("test.parallel", "8") // most tests only wait; -parallel overrides it
	code := m.Run()
	pgtest.RemoveShared()
	os.Exit(code)
}

// hung is how long a test waits for an event. It is far longer than any machine needs.
const hung = 2 * time.Minute

// await waits in the test's goroutine until something is true.
func await(t testing.TB, is func() bool, says ...any) {
	t.Helper()
	for end := time.Now().Add(hung); !is(); time.Sleep(5 * time.Millisecond) { // real time: waits for an event
		require.True(t, time.Now().Before(end), says...)
	}
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		require.NoError(t, err)
		return v
	}
}

func leftToCI(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("left to ./build.sh test ci")
	}
}

func fileOf(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func textOf(t testing.TB, file string) string {
	t.Helper()
	return string(must(os.ReadFile(file))(t))
}

func replace(t testing.TB, file string, content []byte) {
	require.NoError(t, os.WriteFile(file+".new", content, 0o600))
	require.NoError(t, os.Rename(file+".new", file))
}

func runOn(ctx context.Context, in io.Reader, args ...string) (out, err string, code int) {
	var stdout, stderr bytes.Buffer
	code = run(ctx, args, streams{in, &stdout, &stderr})
	return stdout.String(), stderr.String(), code
}

func operator(_ testing.TB, args ...string) (out, err string, code int) {
	return runOn(context.Background(), strings.NewReader(""), args...)
}

func program(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), programVariable+"=1")
	return cmd
}

func withModule(t testing.TB, args ...string) []string {
	return append(args, "--module", origintest.ModuleFile(t), "--cache-dir", moduletest.CacheDir())
}

type shell struct {
	testing.TB
	database string
}

func newShell(t testing.TB) *shell {
	s := &shell{t, "sqlite:" + filepath.Join(t.TempDir(), "a.db")}
	s.must("account create --email you@example.org --plan enterprise")
	return s
}

func (s *shell) run(line string, more ...string) (out, err string, code int) {
	args := strings.Fields(line)
	if s.database != "" {
		args = append(args, "--database", s.database)
	}
	return operator(s, append(args, more...)...)
}

func (s *shell) must(line string, more ...string) string {
	s.Helper()
	out, err, code := s.run(line, more...)
	require.Zero(s, code, "%s: %s", line, err)
	return out
}

func (s *shell) refused(line, message string, more ...string) (code int) {
	s.Helper()
	out, err, code := s.run(line, more...)
	require.NotZero(s, code, "%s: %s", line, out)
	require.Contains(s, err, message, line)
	return code
}

func (s *shell) rows(line string) [][]string {
	s.Helper()
	return must(csv.NewReader(strings.NewReader(s.must(line + " --to csv"))).ReadAll())(s)[1:]
}

func lastWord(out string) string {
	words := strings.Fields(out)
	return words[len(words)-1]
}

// An instance is a running `addrspec serve`, in this process unless launch started it.
type instance struct {
	hostPort string
	database string
	ledger   *ledger.Ledger // the same database, opened a second time
	log      *origintest.Log
	stop     context.CancelFunc
	exit     chan int
}

func start(t testing.TB, args ...string) *instance {
	t.Helper()
	s := &instance{database: origintest.NewDatabase(t), log: new(origintest.Log), exit: make(chan int, 1)}
	args = origintest.ServeArgs(t, s.database, args...)
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	out, in := io.Pipe()
	go func() { s.exit <- run(ctx, args, streams{strings.NewReader(""), in, s.log}); in.Close() }()
	t.Cleanup(func() { stop(); <-s.exit })
	line, err := origintest.FirstLine(out)
	require.NoError(t, err, s.log)
	return s.connected(t, line)
}

func (s *instance) connected(t testing.TB, line string) *instance {
	t.Helper()
	var err error
	s.hostPort, err = origintest.AddressIn(line)
	require.NoError(t, err)
	s.ledger = ledgertest.Open(t, s.database)
	return s
}

func (s *instance) requireStopped(t testing.TB) {
	t.Helper()
	require.Zero(t, <-s.exit)
	s.exit <- 0 // for the clean-up of start
}

type process struct {
	*instance
	*origintest.Process
}

// launch starts a service without a resolver, unless args name one. change may change the command.
func launch(t testing.TB, change func(*exec.Cmd), args ...string) *process {
	t.Helper()
	return launchOn(t, origintest.NewDatabase(t), change, args...)
}

func launchOn(t testing.TB, database string, change func(*exec.Cmd), args ...string) *process {
	t.Helper()
	s := &instance{database: database, log: new(origintest.Log)}
	if !slices.Contains(args, "--dns") {
		args = append(args, "--dns", "127.0.0.1:1")
	}
	cmd := program(origintest.ServeArgs(t, database, args...)...)
	cmd.Stderr = s.log
	if change != nil {
		change(cmd)
	}
	p, err := origintest.Start(cmd, origintest.OnStdout)
	require.NoError(t, err, s.log)
	t.Cleanup(p.Kill)
	return &process{s.connected(t, p.FirstLine), p}
}

const testAccount = "batch@contract.test"

func (s *instance) newKey(t testing.TB) string {
	return ledgertest.NewAccount(t, s.ledger, testAccount)
}

func (s *instance) limitedKey(t testing.TB, points book.Limit) (key string, account int64) {
	return ledgertest.NewAccountOn(t, s.ledger, testAccount, book.Terms{Rate: ledgertest.Unlimited(), Points: &points})
}

func (s *instance) policyKey(t testing.TB, account int64, policy, document string) (key string) {
	t.Helper()
	must(s.ledger.SetPolicy(t.Context(), account, policy, document))(t)
	key, _, err := s.ledger.CreateKey(t.Context(), account, policy, book.KeyTerms{Policy: policy})
	require.NoError(t, err)
	return key
}

func (s *instance) used(t testing.TB) int64 { return ledgertest.Used(t, s.ledger, testAccount) }

var httpClient = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}

// ask sends a request with further headers. Like get and post it may run outside the test's
// goroutine.
func (s *instance) ask(method, path, key, body string, more http.Header) (*http.Response, string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), hung)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, "http://"+s.hostPort+path, strings.NewReader(body))
	if err != nil {
		return new(http.Response), "", err
	}
	request.Header = http.Header{"X-Api-Key": {key}, "Content-Type": {"application/json"}}
	maps.Copy(request.Header, more)
	response, err := httpClient.Do(request)
	if err != nil {
		return new(http.Response), "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response, string(text), err
}

func (s *instance) send(t testing.TB, method, path, key, body string, more http.Header) (*http.Response, string) {
	t.Helper()
	response, text, err := s.ask(method, path, key, body, more)
	require.NoError(t, err)
	return response, text
}

func (s *instance) get(key, path string) (status int, body string, err error) {
	response, body, err := s.ask(http.MethodGet, path, key, "", nil)
	return response.StatusCode, body, err
}

type envelope struct {
	Success, Partial bool
	Total            int
	Points           int `json:"usage_points"`
	Results          []struct {
		Email, Status string
		Result        struct{ Disposable bool }
	}
}

func (s *instance) post(key string, emails []string) (status int, e envelope, err error) {
	body, _ := json.Marshal(map[string][]string{"emails": emails}) // strings always encode
	response, text, err := s.ask(http.MethodPost, "/v1/emails", key, string(body), nil)
	if err == nil {
		err = json.Unmarshal([]byte(text), &e)
	}
	return response.StatusCode, e, err
}

func (s *instance) requireStatus(t testing.TB, status int, path, key, want string) {
	t.Helper()
	response, body := s.send(t, http.MethodGet, path, key, "", nil)
	require.Equal(t, status, response.StatusCode, body)
	require.Contains(t, body, want)
}

func (s *instance) awaitStatus(t testing.TB, status int, path, key, want string) {
	t.Helper()
	await(t, func() bool {
		got, body, err := s.get(key, path)
		return err == nil && got == status && strings.Contains(body, want)
	}, s.log)
}

func (s *instance) requireHealthy(t testing.TB) {
	t.Helper()
	s.requireStatus(t, http.StatusOK, "/healthz", "", "")
}

func (s *instance) metric(t testing.TB, name string) float64 {
	t.Helper()
	_, page := s.send(t, http.MethodGet, "/metrics", "", "", nil)
	line := regexp.MustCompile(`(?m)^` + name + ` (.*)$`).FindStringSubmatch(page)
	require.NotNil(t, line, name)
	return must(strconv.ParseFloat(line[1], 64))(t)
}

func (s *instance) awaitMetric(t testing.TB, name string, value float64) {
	t.Helper()
	await(t, func() bool { return s.metric(t, name) == value })
}

func (s *instance) awaitLog(t testing.TB, words string) {
	t.Helper()
	await(t, func() bool { return s.log.Contains(words) }, s.log)
}

// wholeLog returns the log once it has a line for each request served so far.
func (s *instance) wholeLog(t testing.TB) string {
	last := rand.Text()
	s.send(t, http.MethodGet, "/healthz", "", "", http.Header{"X-Request-Id": {last}})
	s.awaitLog(t, last)
	return s.log.String()
}

func listOf(count int) string {
	var list strings.Builder
	for n := range count {
		fmt.Fprintf(&list, "user%d@mail.example\n", n)
	}
	return list.String()
}

// logIfFailed returns a buffer whose content is logged if the test fails.
func logIfFailed(t testing.TB) io.Writer {
	var b bytes.Buffer
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s", &b)
		}
	})
	return &b
}
