package main

import (
	"go/format"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTablesAreCurrent compares the committed tables with the generator's output.
func TestTablesAreCurrent(t *testing.T) {
	committed, err := os.ReadFile("../tables.go")
	require.NoError(t, err)
	source, err := format.Source(tables())
	require.NoError(t, err)
	require.True(t, string(committed) == string(source), "run go generate ./core/idna")
}
