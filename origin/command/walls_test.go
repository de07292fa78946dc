package command

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const project = "github.com/addrspec/addrspec/"

// goList runs go list and returns for each package, without the project's name, the words of its line.
func goList(t *testing.T, args ...string) map[string][]string {
	t.Helper()
	out := must(exec.Command("go", append([]string{"list"}, args...)...).Output())(t)
	packages := map[string][]string{}
	for line := range strings.Lines(strings.ReplaceAll(string(out), project, "")) {
		words := strings.Fields(line)
		packages[words[0]] = words[1:]
	}
	return packages
}

func linked(t *testing.T) map[string][]string {
	t.Helper()
	return goList(t, "-f", `{{.ImportPath}} {{join .Deps " "}}`, project+"origin/...")
}

func below(name string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return name == part || strings.HasPrefix(name, part+"/") })
}

// Each part knows only what is below it.
func TestWalls(t *testing.T) {
	t.Parallel()
	links := linked(t)
	// A list is checked without an account: what checks it, and its tests.
	checks := goList(t, "-deps", "-test", project+"origin/check/pipeline", project+"origin/check/input",
		project+"origin/check/output", project+"origin/check/client", project+"origin/mcp")
	for name := range checks {
		links["checks"] = append(links["checks"], name)
	}
	require.Contains(t, links["checks"], "origin/check/client")
	require.Contains(t, links["origin"], "origin/ledger")
	for _, wall := range []struct{ parts, not, why string }{
		{"checks", "origin/api origin/ledger origin/identity origin/dashboard origin/signuphook origin/webhook",
			"a list is checked without an account"},
		{"origin/api origin/mx origin/ledger", "origin/dashboard origin/identity origin/webhook",
			"the dashboard is a client of the rest"},
		{"origin/identity origin/webhook", "origin/dashboard", "the dashboard is a client of the rest"},
		{"origin", "origin/rig wasm/moduletest lists/feed/feedtest", "the product links no helper of the tests"},
		{"origin/rig/origintest", "origin", "the tests of every part can use origintest"},
		{"origin/api origin/check/client origin/identity origin/ledger origin/mx origin/signuphook origin/webhook",
			"origin/ledger/store/sqlite origin/ledger/store/postgres",
			"only programs that open a database link its driver, which takes long to compile and to link"},
	} {
		for _, part := range strings.Fields(wall.parts) {
			require.NotEmpty(t, links[part], part)
			for _, name := range links[part] {
				require.False(t, below(name, strings.Fields(wall.not)...), "%s links %s: %s", part, name, wall.why)
			}
		}
	}
	// What owners change never touches a view, and what is decided touches no writer.
	rooms := []string{"origin/ledger/store", "origin/ledger/book", "origin/ledger/state", "origin/ledger/commit"}
	for n, room := range rooms {
		for _, name := range links[room] {
			require.False(t, below(name, "origin") && !below(name, rooms[:n]...), "%s links %s", room, name)
		}
		require.Subset(t, links[room], rooms[:n])
	}
}

// The origin's results come from the module alone. A program that also linked
// core would have two implementations of the checks, and origin and edge could
// differ. Of lists it uses what verifies newer ones, which opens them; no package
// of the origin can look anything up in them.
func TestOriginDoesNotImportCore(t *testing.T) {
	t.Parallel()
	const bench = "origin/rig/bench" // a program of its own, which measures core beside the module
	links := linked(t)
	require.Contains(t, links["origin"], "wasm/host")
	for part, names := range links {
		if part != bench {
			require.NotContains(t, names, "core", part)
			require.NotContains(t, names, bench, part)
		}
	}
	imports := goList(t, "-f", `{{.ImportPath}} {{join .Imports " "}}`, project+"origin/...")
	require.Contains(t, imports["origin/command"], "lists/feed")
	for part, names := range imports {
		require.False(t, part != bench && slices.Contains(names, "lists"), part)
	}
}
