package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// The commands of the handbook move an account to a second cluster, with its points, and
// leave the others where they are.
func TestSecondClusterOfTheHandbook(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../deploy/sizing.md")
	require.NoError(t, err)
	commands := regexp.MustCompile("(?s)\n## A second cluster\n.*?\n```sh\n(.*?)```\n").FindSubmatch(page)
	require.NotNil(t, commands)

	directory := t.TempDir()
	a, b := "sqlite:"+filepath.Join(directory, "a.db"), pgtest.NeedDatabase(t)
	service := ledgertest.Open(t, a)
	mover, stayer := ledgertest.NewAccount(t, service, "mover@example.com"), ledgertest.NewAccount(t, service, "stayer@example.com")
	usePoints(t, service, mover)
	usePoints(t, service, stayer)
	require.NoError(t, os.Symlink(os.Args[0], filepath.Join(directory, "addrspec")))
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", string(commands[1]))
	cmd.Dir = directory
	cmd.Env = append(os.Environ(), programVariable+"=1", "PATH="+directory+":"+os.Getenv("PATH"),
		"A="+a, "B="+b, "OWNER=mover@example.com", "STAYS=stayer@example.com")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.NoFileExists(t, filepath.Join(directory, "move.ndjson.gz"))

	first, second := ledgertest.Open(t, a), ledgertest.Open(t, b) // which know no key yet
	requireUse(t, second, mover, 7)
	requireUse(t, first, stayer, 7)
	requireUse(t, first, mover, -1)
	requireUse(t, second, stayer, -1)
}

// usePoints uses seven points.
func usePoints(t *testing.T, l *ledger.Ledger, secret string) {
	r, _, err := l.Begin(t.Context(), secret, "")
	require.NoError(t, err)
	defer r.End()
	_, err = r.Claim(7, nil)
	require.NoError(t, err)
	_, err = r.Charge(ledger.Charge{Points: 7})
	require.NoError(t, err)
}

// requireUse requires that a key has used so many points, or is unknown if points is -1.
func requireUse(t *testing.T, l *ledger.Ledger, secret string, points int64) {
	t.Helper()
	r, d, err := l.Begin(t.Context(), secret, "")
	require.NoError(t, err)
	if points < 0 {
		require.Equal(t, ledger.UnknownKey, d.Kind)
		return
	}
	require.Equal(t, ledger.Good, d.Kind)
	defer r.End()
	require.Equal(t, points, d.Usage.Current)
}
