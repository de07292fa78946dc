package command

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
)

// Only the commands whose purpose it is make a database. Every other command leaves no file
// behind where there is none, and says what to do.
func TestOnlyServeAndAccountCreateMakeADatabase(t *testing.T) {
	exampleDirectory(t)
	tried := 0
	eachCommand(model(t).Model.Node, func(n *kong.Node) {
		path := n.Path()
		has := slices.ContainsFunc(n.Flags, func(f *kong.Flag) bool { return f.Name == "database" })
		if !has || slices.Contains([]string{"serve", "account create", "restore", "import"}, path) {
			return
		}
		tried++
		directory := t.TempDir()
		database := filepath.Join(directory, "sub", "a.db")
		args := append(arguments(t, commandExamples[path][0]), "--database", "sqlite:"+database)
		out, problem, code := operator(t, args...)
		require.Equal(t, 1, code, "%s: %s%s", path, out, problem)
		require.Regexp(t, "there is no (ledger|such file)", out+problem)
		require.Contains(t, out+problem, database)
		left, err := os.ReadDir(directory)
		require.NoError(t, err)
		require.Empty(t, left)
	})
	require.Greater(t, tried, 15)
}

// emptyLedger returns the URL of a database with a ledger and no account.
func emptyLedger(t *testing.T) string {
	t.Helper()
	url := "sqlite:" + filepath.Join(t.TempDir(), "a.db")
	l, err := ledger.Open(t.Context(), url)
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return url
}
