package edge_test

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/moduletest"

	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// leftToCI skips a test that takes too long for the fast layer.
func leftToCI(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("left to ./build.sh test ci")
	}
}

// needs skips the test if a file of a tool is missing.
func needs(t testing.TB, file, how string) {
	t.Helper()
	if _, err := os.Stat(file); err != nil {
		t.Skipf("skipped: %s is missing; %s", file, how)
	}
}

// needsNode skips the test if the worker cannot be built.
func needsNode(t testing.TB) {
	t.Helper()
	moduletest.Tool(t, "node")
	needs(t, "node_modules/esbuild", "run npm ci in edge/")
}

var (
	bundling sync.Once
	bundled  string
)

// bundle builds the worker for every platform, once for all tests, and returns the
// directory.
func bundle(t testing.TB) string {
	t.Helper()
	needsNode(t)
	bundling.Do(func() {
		moduletest.Inputs(t, ".")
		dir := filepath.Join(common, "workers")
		run(t, exec.Command("node", "build.mjs", "workers", origintest.ModuleFile(t), dir))
		bundled = dir
	})
	require.NotEmpty(t, bundled, "the worker was not built")
	return bundled
}

// workerdProgram returns the path of the runtime itself, not of its npm script.
func workerdProgram(t testing.TB) string {
	t.Helper()
	needs(t, "node_modules/workerd", "run npm ci in edge/")
	out, err := exec.Command("node", "-p", "require('workerd').default").Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

// startWorkerd runs the worker in front of the origin at originURL.
func startWorkerd(t testing.TB, originURL string, settings ...string) *process {
	t.Helper()
	settings = append([]string{"ADDRSPEC_ORIGIN=" + originURL, "ADDRSPEC_EDGE_SECRET=" + secret}, settings...)
	return runWorkerd(t, []string{"serve", "--binary", filepath.Join(bundle(t), "workerd.bin")}, settings)
}

// serveWorkerd runs workerd with a configuration, at a free port.
func serveWorkerd(t testing.TB, config string, settings ...string) *process {
	t.Helper()
	return runWorkerd(t, []string{"serve", config}, settings)
}

// runWorkerd runs workerd with these arguments, at a free port.
func runWorkerd(t testing.TB, args, settings []string) *process {
	t.Helper()
	cmd := exec.Command(workerdProgram(t), append(args, "--socket-addr", "http=127.0.0.1:0", "--control-fd=3")...)
	cmd.Env = append(os.Environ(), settings...)
	p, line := startProcess(t, cmd, origintest.OnDescriptor3)
	p.hostPort = net.JoinHostPort("127.0.0.1", strconv.Itoa(portIn(t, line)))
	return p
}

// portIn returns the port in workerd's event about its socket.
func portIn(t testing.TB, line string) int {
	t.Helper()
	var event struct {
		Event, Socket string
		Port          int
	}
	require.NoError(t, json.Unmarshal([]byte(line), &event), line)
	require.Equal(t, "listen", event.Event)
	return event.Port
}
