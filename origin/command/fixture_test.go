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
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

// programVariable makes TestMain run Main instead of the tests. A test that needs
// the program in another process runs its own binary with it.
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

// leftToCI skips a test in the fast layer.
func leftToCI(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("left to ./build.sh test ci")
	}
}

// shorter returns a size for the run with -short, and the whole one for
// ./build.sh test ci.
func shorter(whole, short int) int {
	if testing.Short() {
		return short
	}
	return whole
}

func fileOf(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// replace replaces a file atomically.
func replace(t *testing.T, file string, content []byte) {
	require.NoError(t, os.WriteFile(file+".new", content, 0o600))
	require.NoError(t, os.Rename(file+".new", file))
}

// runOn runs a command in this process and returns its output.
func runOn(ctx context.Context, in io.Reader, args ...string) (out, err string, code int) {
	var stdout, stderr bytes.Buffer
	code = run(ctx, args, streams{in, &stdout, &stderr})
	return stdout.String(), stderr.String(), code
}

// operator is runOn without input.
func operator(_ testing.TB, args ...string) (out, err string, code int) {
	return runOn(context.Background(), strings.NewReader(""), args...)
}

// program returns a command in a process of its own.
func program(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), programVariable+"=1")
	return cmd
}

// withModule adds the module that the tests build to a command line.
func withModule(t testing.TB, args ...string) []string {
	return append(args, "--module", origintest.ModuleFile(t), "--cache-dir", moduletest.CacheDir())
}

// A shell runs commands, on one database if it has one.
type shell struct {
	testing.TB
	database string
}

// newShell returns a shell on a new database that has the account you@example.org.
func newShell(t testing.TB) *shell {
	s := &shell{t, "sqlite:" + filepath.Join(t.TempDir(), "a.db")}
	s.must("account create --email you@example.org --plan enterprise")
	return s
}

// run runs a line of words, then further ones.
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

// refused runs a command that must fail with a message, and returns its exit code.
func (s *shell) refused(line, message string, more ...string) (code int) {
	s.Helper()
	out, err, code := s.run(line, more...)
	require.NotZero(s, code, "%s: %s", line, out)
	require.Contains(s, err, message, line)
	return code
}

// rows returns the rows of a list after its header.
func (s *shell) rows(line string) [][]string {
	s.Helper()
	rows, err := csv.NewReader(strings.NewReader(s.must(line + " --to csv"))).ReadAll()
	require.NoError(s, err)
	return rows[1:]
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

// connect fills the instance in from the first line that the service prints.
func (s *instance) connect(t testing.TB, line string, err error) {
	t.Helper()
	require.NoError(t, err, s.log)
	s.hostPort, err = origintest.AddressIn(line)
	require.NoError(t, err)
	s.ledger = ledgertest.Open(t, s.database)
}

// start runs serve until the test ends.
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
	s.connect(t, line, err)
	return s
}

// requireStopped waits until serve has returned 0.
func (s *instance) requireStopped(t testing.TB) {
	t.Helper()
	require.Zero(t, <-s.exit)
	s.exit <- 0 // for the clean-up of start
}

// A process is a service in a process of its own.
type process struct {
	*instance
	*origintest.Process
}

// launch starts a service whose resolver is args' or does not exist. change may change the
// command before.
func launch(t *testing.T, change func(*exec.Cmd), args ...string) *process {
	t.Helper()
	return launchOn(t, origintest.NewDatabase(t), change, args...)
}

func launchOn(t *testing.T, database string, change func(*exec.Cmd), args ...string) *process {
	t.Helper()
	s := &instance{database: database, log: new(origintest.Log)}
	if !strings.Contains(strings.Join(args, " "), "--dns ") {
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
	s.connect(t, p.FirstLine, nil)
	return &process{s, p}
}

const testAccount = "batch@contract.test"

// newKey makes testAccount, without limits, and a key for it.
func (s *instance) newKey(t testing.TB) string {
	return ledgertest.NewAccount(t, s.ledger, testAccount)
}

// limitedKey makes testAccount with a limit of points, and a key for it.
func (s *instance) limitedKey(t testing.TB, points book.Limit) (key string, account int64) {
	return ledgertest.NewAccountOn(t, s.ledger, testAccount, book.Terms{Rate: ledgertest.Unlimited(), Points: &points})
}

// policyKey gives an account a policy, and returns a key that has it by default.
func (s *instance) policyKey(t testing.TB, account int64, policy, document string) (key string) {
	t.Helper()
	_, err := s.ledger.SetPolicy(t.Context(), account, policy, document)
	require.NoError(t, err)
	key, _, err = s.ledger.CreateKey(t.Context(), account, policy, book.KeyTerms{Policy: policy})
	require.NoError(t, err)
	return key
}

// used returns the points of testAccount.
func (s *instance) used(t testing.TB) int64 { return ledgertest.Used(t, s.ledger, testAccount) }

// httpClient keeps a connection for each of 16 concurrent requests.
var httpClient = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}

// ask sends a request with further headers. It may run outside the test's goroutine.
func (s *instance) ask(method, path, key, body string, more http.Header) (*http.Response, string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), hung)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, "http://"+s.hostPort+path, strings.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	request.Header = http.Header{"X-Api-Key": {key}, "Content-Type": {"application/json"}}
	for name, values := range more {
		request.Header[name] = values
	}
	response, err := httpClient.Do(request)
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response, string(text), err
}

// send is ask for a request that must get a response.
func (s *instance) send(t testing.TB, method, path, key, body string, more http.Header) (*http.Response, string) {
	t.Helper()
	response, text, err := s.ask(method, path, key, body, more)
	require.NoError(t, err)
	return response, text
}

// get may run outside the test's goroutine.
func (s *instance) get(key, path string) (status int, body string, err error) {
	response, body, err := s.ask(http.MethodGet, path, key, "", nil)
	if err != nil {
		return 0, "", err
	}
	return response.StatusCode, body, nil
}

// An envelope is the response to a batch as a client reads it.
type envelope struct {
	Success, Partial bool
	Total            int
	Points           int `json:"usage_points"`
	Results          []struct {
		Email, Status string
		Result        struct{ Disposable bool }
	}
}

// post sends a batch. It may run outside the test's goroutine.
func (s *instance) post(key string, emails []string) (status int, e envelope, err error) {
	body, _ := json.Marshal(map[string][]string{"emails": emails}) // strings always encode
	response, text, err := s.ask(http.MethodPost, "/v1/emails", key, string(body), nil)
	if err != nil {
		return 0, e, err
	}
	return response.StatusCode, e, json.Unmarshal([]byte(text), &e)
}

// requireStatus gets a page with a status and some words.
func (s *instance) requireStatus(t testing.TB, status int, path, key, want string) {
	t.Helper()
	response, body := s.send(t, http.MethodGet, path, key, "", nil)
	require.Equal(t, status, response.StatusCode, body)
	require.Contains(t, body, want)
}

func (s *instance) awaitStatus(t testing.TB, status int, path, key, want string) {
	t.Helper()
	require.Eventually(t, func() bool {
		got, body, err := s.get(key, path)
		return err == nil && got == status && strings.Contains(body, want)
	}, hung, 20*time.Millisecond, "%s", s.log)
}

func (s *instance) requireHealthy(t testing.TB) {
	t.Helper()
	s.requireStatus(t, http.StatusOK, "/healthz", "", "")
}

// metric returns the value of a series without labels.
func (s *instance) metric(t testing.TB, name string) float64 {
	t.Helper()
	_, page := s.send(t, http.MethodGet, "/metrics", "", "", nil)
	line := regexp.MustCompile(`(?m)^` + name + ` (.*)$`).FindStringSubmatch(page)
	require.NotNil(t, line, name)
	value, err := strconv.ParseFloat(line[1], 64)
	require.NoError(t, err)
	return value
}

func (s *instance) awaitMetric(t testing.TB, name string, value float64) {
	t.Helper()
	require.Eventually(t, func() bool { return s.metric(t, name) == value }, hung, 5*time.Millisecond)
}

func (s *instance) awaitLog(t testing.TB, words string) {
	t.Helper()
	require.Eventually(t, func() bool { return s.log.Contains(words) }, hung, 10*time.Millisecond, "%s", s.log)
}

// wholeLog returns the log once it has a line for each request served so far:
// lines are written in the background.
func (s *instance) wholeLog(t testing.TB) string {
	last := rand.Text()
	s.send(t, http.MethodGet, "/healthz", "", "", http.Header{"X-Request-Id": {last}})
	s.awaitLog(t, last)
	return s.log.String()
}

// listOf returns a list of different addresses, a line each.
func listOf(count int) string {
	var list strings.Builder
	for n := range count {
		fmt.Fprintf(&list, "user%d@mail.example\n", n)
	}
	return list.String()
}
