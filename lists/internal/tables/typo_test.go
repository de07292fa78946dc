package tables

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReadTopLevels(t *testing.T) {
	dir := t.TempDir()
	write := func(file, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644))
	}
	write("top-levels.txt", "# comment\ncom\njp\n")
	_, err := ReadTopLevels(dir)
	require.ErrorIs(t, err, os.ErrNotExist)
	write("second-levels.txt", "co.jp\nne.jp\n")
	got, err := ReadTopLevels(dir)
	require.NoError(t, err)
	require.Equal(t, "co.jp\ncom\njp\nne.jp\n", string(got))
	write("second-levels.txt", "ne.jp\nco.jp\n")
	_, err = ReadTopLevels(dir)
	require.ErrorContains(t, err, "co.jp comes after ne.jp")
}
