package command

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/contract"
)

// packLists packs the project's lists with one more disposable domain, by the
// command that an operator runs.
func packLists(t *testing.T, domain string) []byte {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("../../lists")))
	table := filepath.Join(dir, "disposable.txt")
	text, err := os.ReadFile(table)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(table, append(text, domain+"\n"...), 0o600))
	out, err := exec.Command("go", "run", "github.com/addrspec/addrspec/lists/pack", "-dir", dir).CombinedOutput()
	require.NoError(t, err, string(out))
	blob, err := os.ReadFile(filepath.Join(dir, "lists.blob"))
	require.NoError(t, err)
	return blob
}

// isDisposable returns the service's result for an address.
func (s *instance) isDisposable(t *testing.T, key, address string) bool {
	request, _ := http.NewRequest(http.MethodGet, "http://"+s.hostPort+"/v1/email/"+address, nil)
	request.Header.Set("X-API-Key", key)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)
	var facts struct{ Disposable bool }
	require.NoError(t, json.NewDecoder(response.Body).Decode(&facts))
	return facts.Disposable
}

// A running service reloads its lists when their file changes and on SIGHUP. A
// damaged file changes nothing.
func TestReloadLists(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lists.blob")
	first, err := os.ReadFile("../../lists/lists.blob")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, first, 0o600))
	s := start(t, "--dns", contract.Serve(t), "--lists", file)
	key := s.newKey(t)
	const address = "jane@d.bulk.example"
	require.False(t, s.isDisposable(t, key, address))

	replace(t, file, packLists(t, "d.bulk.example"))
	require.Eventually(t, func() bool { return s.isDisposable(t, key, address) }, hung, 50*time.Millisecond, "%s", s.log)

	replace(t, file, first[:len(first)/2])
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
	require.Eventually(t, func() bool { return s.log.Contains("lists are invalid") }, hung, 10*time.Millisecond)
	require.True(t, s.isDisposable(t, key, address), "the lists before the damaged ones remain in use")

	replace(t, file, first)
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
	require.Eventually(t, func() bool { return !s.isDisposable(t, key, address) }, hung, 50*time.Millisecond)
}

// replace replaces a file atomically.
func replace(t *testing.T, file string, content []byte) {
	require.NoError(t, os.WriteFile(file+".new", content, 0o600))
	require.NoError(t, os.Rename(file+".new", file))
}

// SIGHUP does not end a service, even if there is nothing to reload.
func TestHangUpWithNothingToReload(t *testing.T) {
	t.Parallel()
	p := launch(t, nil)
	for range 3 {
		require.NoError(t, p.Signal(syscall.SIGHUP))
	}
	require.Eventually(t, func() bool { return p.log.Contains("nothing to reload") }, hung, 10*time.Millisecond)
	p.requireHealthy(t)
	require.NoError(t, p.Terminate(hung))
}

// SIGHUP reloads the plans of --plans. An invalid file changes nothing.
func TestHangUpReloadsPlans(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "plans.json")
	plans := func(text string) { replace(t, file, []byte(text)) }
	plans(`[{"name": "team", "rate": 10, "points": 100}]`)
	p := launch(t, nil, "--plans", file)
	listed := func() string {
		out, err, code := operator(t, "plan", "list", "--database", p.database)
		require.Zero(t, code, err)
		return out
	}
	require.Regexp(t, `team +10 +100`, listed())
	plans(`[{"name": "team", "rate": 20, "points": 200}]`)
	require.NoError(t, p.Signal(syscall.SIGHUP))
	require.Eventually(t, func() bool { return p.log.Contains("reloaded the plans") }, hung, 10*time.Millisecond)
	require.Regexp(t, `team +20 +200`, listed())
	plans(`[{"name": "team"}]`)
	require.NoError(t, p.Signal(syscall.SIGHUP))
	require.Eventually(t, func() bool { return p.log.Contains("the new plans are invalid") }, hung, 10*time.Millisecond)
	require.Regexp(t, `team +20 +200`, listed())
	require.NoError(t, p.Terminate(hung))
}
