package command

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
)

// creators are the commands that may make a database: those whose purpose it is.
var creators = []string{"serve", "account create", "restore", "import"}

// Every other command with --database leaves no file behind where there is none, and
// says what to do.
func TestOnlyServeAndAccountCreateMakeADatabase(t *testing.T) {
	t.Parallel()
	parser, err := newParser(t.Context(), streams{err: new(bytes.Buffer), out: new(bytes.Buffer)})
	require.NoError(t, err)
	tried := 0
	for _, command := range parser.Model.Leaves(true) {
		name := strings.TrimPrefix(command.Path(), "addrspec ")
		if !hasFlag(command, "database") || isCreator(name) {
			continue
		}
		tried++
		t.Run(name, func(t *testing.T) {
			directory, file := t.TempDir(), filepath.Join(t.TempDir(), "given")
			require.NoError(t, os.WriteFile(file, []byte("[]"), 0o600))
			database := filepath.Join(directory, "sub", "a.db")
			var out, problem bytes.Buffer
			args := append(strings.Fields(name), "--database", "sqlite:"+database)
			if name == "backup" || name == "export" {
				file += ".new" // which they make
			}
			args = append(append(args, requiredOf(command, file)...), needed[name]...)
			code := run(context.Background(), args, streams{strings.NewReader(""), &out, &problem})
			require.Equal(t, 1, code, "%v: %s%s", args, out.String(), problem.String())
			require.Regexp(t, "there is no (ledger|such file)", out.String()+problem.String())
			require.Contains(t, out.String()+problem.String(), database)
			left, err := os.ReadDir(directory)
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
	require.Greater(t, tried, 15)
}

// needed are further flags without which a command does nothing.
var needed = map[string][]string{"account change": {"--plan=free"}}

func isCreator(name string) bool {
	for _, creator := range creators {
		if name == creator || strings.HasPrefix(name, creator+" ") {
			return true
		}
	}
	return false
}

func hasFlag(command *kong.Node, name string) bool {
	for _, group := range command.AllFlags(false) {
		for _, flag := range group {
			if flag.Name == name {
				return true
			}
		}
	}
	return false
}

// requiredOf returns values for the flags and arguments without which the command
// does not run.
func requiredOf(command *kong.Node, file string) (args []string) {
	value := func(v *kong.Value) string {
		switch {
		case v.Target.Kind().String() == "int64":
			return "1"
		case strings.Contains(strings.ToUpper(v.Name+v.Help), "FILE"):
			return file
		}
		return "a@example.org"
	}
	given := map[string]bool{} // groups of which one flag is enough
	for _, flag := range command.Flags {
		group := strings.Join(flag.Xor, ",")
		if flag.Required && !(group != "" && given[group]) {
			given[group] = true
			args = append(args, "--"+flag.Name+"="+value(flag.Value))
		}
	}
	for _, positional := range command.Positional {
		if positional.Required {
			args = append(args, value(positional))
		}
	}
	return args
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
