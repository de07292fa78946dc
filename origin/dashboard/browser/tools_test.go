package browser

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

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
	t.Helper()
	if testing.Short() {
		t.Skip("left to ./build.sh test ci")
	}
}

// needsNode skips the test without Node and its packages.
func needsNode(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	if _, err := os.Stat("node_modules/.package-lock.json"); err != nil {
		t.Skip("no packages: npm ci --prefix origin/dashboard/browser")
	}
}

// findChromium returns the path of Chromium.
func findChromium() (string, error) {
	if path := os.Getenv("ADDRSPEC_CHROMIUM"); path != "" {
		return path, nil
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("Chromium is not installed: install the package chromium, or give its path as ADDRSPEC_CHROMIUM")
}

var stopChromium = func() {}

// sharedChromium starts the one Chromium of all tests.
var sharedChromium = sync.OnceValues(func() (*origintest.Process, error) {
	path, err := findChromium()
	if err != nil {
		return nil, err
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
	t.Helper()
	needsNode(t)
	p, err := sharedChromium()
	if err != nil {
		t.Skip(err)
	}
	return p.FirstLine
}

// script runs a script that connects to Chromium, and returns what it prints.
func script(t testing.TB, file string, args ...string) string {
	t.Helper()
	picture := pictureFile(t)
	cmd := exec.CommandContext(t.Context(), "node", append([]string{file, endpoint(t), picture}, args...)...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s\nthe page: %s", out, picture)
	return string(out)
}

// pictureFile returns where a picture of a failure is kept.
func pictureFile(t testing.TB) string {
	t.Helper()
	directory, err := filepath.Abs("../../../dist/browser")
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(directory, 0o755))
	return filepath.Join(directory, filepath.Base(t.Name())+".png")
}

// sources are what the command is built of, and the scripts.
var sources = []string{"../..", "../../../core", "../../../lists", "../../../wasm", "../../../go.mod", "../../../go.sum"}

// binary builds the command once.
var binary = sync.OnceValues(func() (string, error) {
	path := filepath.Join(common, "addrspec")
	cmd := exec.Command("go", "build", "-o", path, "../..")
	cmd.Stderr = os.Stderr
	return path, cmd.Run()
})

// command returns a command of addrspec.
func command(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	moduletest.Inputs(t, sources...)
	path, err := binary()
	require.NoError(t, err)
	cmd := exec.Command(path, args...)
	cmd.Stderr = logWriter{t}
	return cmd
}

// logWriter writes the warnings and errors of a process to the test's log.
type logWriter struct{ testing.TB }

var _ io.Writer = logWriter{}

func (w logWriter) Write(text []byte) (int, error) {
	for line := range bytes.Lines(text) {
		if !bytes.Contains(line, []byte("level=INFO")) {
			w.Logf("%s", bytes.TrimSpace(line))
		}
	}
	return len(text), nil
}
