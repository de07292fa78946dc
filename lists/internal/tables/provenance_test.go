package tables

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProvenance(t *testing.T) {
	const row = "D pypi:list@1.2 MIT 2026-11-20 3 sha256:ab a remark\n"
	for text, want := range map[string]string{
		"checked 2026-11-22\n" + row:            "",
		row:                                     `no line "checked DAY"`,
		"checked today\n" + row:                 "provenance.txt:1: parsing time",
		"checked 2026-11-22\nD pypi:list@1.2\n": "provenance.txt:2: want letter, package",
		"D list@1.2 MIT 2026-11-20 3 sha a b\n": `provenance.txt:1: want registry:package@version, got "list@1.2"`,
	} {
		dir := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(dir, "sources"), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "sources", "provenance.txt"), []byte(text), 0o644))
		day, err := ReadChecked(dir)
		if want != "" {
			require.ErrorContains(t, err, want)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, "2026-11-22", day)
		sources, err := ReadProvenance(dir)
		require.NoError(t, err)
		require.Equal(t, []Source{{"D", "pypi", "list@1.2", "MIT", "2026-11-20", "3", "sha256:ab", "a remark"}}, sources)
	}
}
