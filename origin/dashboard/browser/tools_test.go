package browser

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/mxtest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

// common is the directory of what is built once for all tests.
var common string

func TestMain(m *testing.M) {
	var err error
	if common, err = os.MkdirTemp("", "addrspec-browser-test-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	stopChromium()
	pgtest.RemoveShared()
	os.RemoveAll(common)
	os.Exit(code)
}

// leftToCI skips the test in the fast layer.
func leftToCI(t testing.TB) {
	if testing.Short() {
		t.Skip("left to ./build.sh test ci")
	}
}

func needsNode(t testing.TB) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	if _, err := os.Stat("node_modules/.package-lock.json"); err != nil {
		t.Skip("no packages: npm ci --prefix origin/dashboard/browser")
	}
}

var stopChromium = func() {}

var sharedChromium = sync.OnceValues(func() (*origintest.Process, error) {
	path := os.Getenv("ADDRSPEC_CHROMIUM")
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	if path == "" {
		return nil, errors.New("Chromium is not installed: install its package, or give its path as ADDRSPEC_CHROMIUM")
	}
	cmd := exec.Command("node", "chromium.mjs", path)
	var log origintest.Log
	cmd.Stderr = &log
	in, err := cmd.StdinPipe() // closes with this process
	if err != nil {
		return nil, err
	}
	p, err := origintest.Start(cmd, origintest.OnStdout)
	if err != nil {
		return nil, fmt.Errorf("%s does not start: %s", path, strings.TrimSpace(log.String()))
	}
	stopChromium = func() { in.Close(); p.Wait() }
	return p, nil
})

// endpoint returns where scripts connect to Chromium. It skips the test without a
// Chromium that starts.
func endpoint(t testing.TB) string {
	needsNode(t)
	p, err := sharedChromium()
	if err != nil {
		t.Skip(err)
	}
	return p.FirstLine
}

func script(t testing.TB, file string, args ...string) string {
	directory := must(filepath.Abs("../../../dist/browser"))(t)
	require.NoError(t, os.MkdirAll(directory, 0o755))
	picture := filepath.Join(directory, filepath.Base(t.Name())+".png") // of a failure
	cmd := exec.CommandContext(t.Context(), "node", append([]string{file, endpoint(t), picture}, args...)...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s\nthe page: %s", out, picture)
	return string(out)
}

// sources are what the command is built of, and the scripts.
var sources = []string{"../..", "../../../core", "../../../lists", "../../../wasm", "../../../go.mod", "../../../go.sum"}

var binary = sync.OnceValues(func() (string, error) {
	path := filepath.Join(common, "addrspec")
	cmd := exec.Command("go", "build", "-o", path, "../..")
	cmd.Stderr = os.Stderr
	return path, cmd.Run()
})

func command(t testing.TB, args ...string) *exec.Cmd {
	moduletest.Inputs(t, sources...)
	path := must(binary())(t)
	cmd := exec.Command(path, args...)
	cmd.Stderr = logWriter{t}
	return cmd
}

// logWriter writes the warnings and errors of a process to the test's log.
type logWriter struct{ testing.TB }

func (w logWriter) Write(text []byte) (int, error) {
	for line := range bytes.Lines(text) {
		if !bytes.Contains(line, []byte("level=INFO")) {
			w.Logf("%s", bytes.TrimSpace(line))
		}
	}
	return len(text), nil
}

const zone = `
example.com. MX 10 mail.example.com.
mail.example. MX 10 mail.example.com.
mail.example.com. A 192.0.2.1
`

type service struct {
	database string
	url      string // http://localhost:PORT, as the printed links have it
	host     string // HOST:PORT
	link     string // of the demo account, with --demo
}

// serve starts the command on a database, and ends it with the test.
func serve(t testing.TB, database string, flags ...string) *service {
	flags = append([]string{"--dns", mxtest.Start(t, zone), "--log", "text"}, flags...)
	cmd := command(t, origintest.ServeArgs(t, database, flags...)...)
	out := must(cmd.StdoutPipe())(t)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		require.NoError(t, cmd.Wait())
	})
	s, link, lines := &service{database: database}, slices.Contains(flags, "--demo"), bufio.NewScanner(out)
	for (s.host == "" || link && s.link == "") && lines.Scan() {
		if found := addressLine.FindStringSubmatch(lines.Text()); found != nil {
			s.host = found[1]
			_, port, _ := strings.Cut(s.host, ":")
			s.url = "http://localhost:" + port
		}
		if found := linkLine.FindStringSubmatch(lines.Text()); found != nil {
			s.link = found[1]
		}
	}
	require.NotEmpty(t, s.host, "the service did not start")
	require.Equal(t, link, s.link != "", "the link")
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return s
}

var (
	addressLine = regexp.MustCompile(`listens on http://(\S+)`)
	linkLine    = regexp.MustCompile(`^\s*(http://\S+/link/\S+)$`)
)

func (s *service) account(t testing.TB, email string, operator bool) (link string) {
	l := ledgertest.Open(t, s.database)
	a := must(l.CreateAccount(t.Context(), email, book.Terms{Plan: "pro"}))(t)
	require.NoError(t, identity.New(l).SetOperator(t.Context(), a.ID, operator))
	return s.linkTo(t, l, a.ID)
}

func (s *service) linkTo(t testing.TB, l *ledger.Ledger, account int64) string {
	token := must(identity.New(l).CreateLink(t.Context(), account))(t)
	return s.url + "/link/" + url.PathEscape(token)
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		require.NoError(t, err)
		return v
	}
}
