package tables

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/lists"
)

// TestCorrectedDomains: no domain that a correction names is disposable or looks so, but
// the lent names, whatever the published lists have today.
func TestCorrectedDomains(t *testing.T) {
	m, err := project()
	require.NoError(t, err)
	lenders, lent, err := readLent("../..")
	require.NoError(t, err)
	for name := range lenders {
		require.Zero(t, m.Lookup(name), name)
	}
	for _, name := range lent {
		require.Equal(t, lists.Disposable, m.Lookup("x."+name), name)
	}
	withdrawn, err := readWithdrawn("../..")
	require.NoError(t, err)
	votes, err := readVotes("../..")
	require.NoError(t, err)
	for name := range withdrawn {
		if !votes[name].proven() && !votes[name].observed() {
			require.Zero(t, m.Lookup(name), name)
		}
	}
}

func FuzzCorrections(f *testing.F) {
	f.Add("a.example b.a.example,c.a.example 2026-11-28 service\n", "a.example MIB 2026-11-28 reason\n", "hair\n")
	f.Add("a.example a.example 2026-11-28 x\n", "b.example\tM 2026-13-28 x\n", "co.uk a note\n")
	f.Fuzz(func(t *testing.T, lent, withdrawn, endings string) {
		dir := t.TempDir()
		for file, text := range map[string]string{lentFile: lent, withdrawnFile: withdrawn, endingsFile: endings} {
			require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644))
		}
		if lenders, names, err := readLent(dir); err == nil {
			for _, name := range names {
				owned := false
				for parent := Parent(name); parent != ""; parent = Parent(parent) {
					owned = owned || lenders[parent]
				}
				require.True(t, owned, name)
			}
		}
		if votes, err := readWithdrawn(dir); err == nil {
			for name, letters := range votes {
				require.Empty(t, letters.without(withdrawable), name)
			}
		}
		if names, err := readEndings(dir); err == nil {
			for _, name := range names {
				require.False(t, strings.Contains(name, "."), name)
			}
		}
	})
}
