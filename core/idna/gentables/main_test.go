package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/core/idna"
)

// TestTablesAreCurrent compares the committed tables with the generator's output.
func TestTablesAreCurrent(t *testing.T) {
	d := read("unicode.json.gz")
	require.Equal(t, d.Version, idna.UnicodeVersion)
	for file, content := range map[string][]byte{"../tables.bin": d.tables(), "../../typo/looks.bin": d.looks()} {
		committed, err := os.ReadFile(file)
		require.NoError(t, err)
		require.True(t, string(committed) == string(content), "%s: run go generate ./core/idna", file)
	}
}
