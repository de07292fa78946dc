package main

import (
	"go/format"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTablesAreCurrent: the committed tables are what the generator writes,
// every time.
func TestTablesAreCurrent(t *testing.T) {
	committed, err := os.ReadFile("../tables.go")
	require.NoError(t, err)
	source, err := format.Source(tables())
	require.NoError(t, err)
	require.True(t, string(committed) == string(source), "run go generate ./core/idna")
}
