package command

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// The memory of backup, restore, export and import does not depend on the size of
// the ledger. The test runs alone: a process's peak is at least what its parent, here
// all other tests, had when it was started.
func TestCopiesHaveConstantMemory(t *testing.T) {
	leftToCI(t)
	const moreMemory = 12 << 20 // that ten times as many rows may take; their export is longer
	peaks := map[string][]int64{}
	for name, rows := range map[string]int{"small": 10_000, "large": 100_000} {
		database, place := newLedger(t, rows), filepath.Join(t.TempDir(), name)
		postgres := pgtest.NeedDatabase(t)
		for _, args := range [][]string{
			{"backup", place + ".db", "--database", database},
			{"restore", place + ".db", "--database", "sqlite:" + place + ".restored"},
			{"export", place + ".ndjson", "--database", database},
			{"import", place + ".ndjson", "--database", "sqlite:" + place + ".imported"},
			{"import", place + ".ndjson", "--database", postgres},
			{"export", place + ".again", "--database", postgres},
		} {
			cmd := program(args...)
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, string(out))
			peaks[name] = append(peaks[name], cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss<<10)
		}
		info, err := os.Stat(place + ".again")
		require.NoError(t, err)
		require.True(t, name == "small" || info.Size() > 3*moreMemory/2, "%d bytes", info.Size())
	}
	t.Log("bytes:", peaks)
	for i := range peaks["large"] {
		require.Less(t, peaks["large"][i], peaks["small"][i]+moreMemory, "command %d", i)
	}
}
