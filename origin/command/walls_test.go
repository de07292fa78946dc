package command

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const project = "github.com/addrspec/addrspec/"

// goList runs go list and returns its lines without the project's name.
func goList(t *testing.T, args ...string) []string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list"}, args...)...).Output()
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(strings.ReplaceAll(string(out), project, "")), "\n")
}

// linked returns what each package of the origin links.
func linked(t *testing.T) map[string][]string {
	t.Helper()
	links := map[string][]string{}
	for _, line := range goList(t, "-f", `{{.ImportPath}} {{join .Deps " "}}`, project+"origin/...") {
		words := strings.Fields(line)
		links[words[0]] = words[1:]
	}
	return links
}

// below reports whether a package is one of parts, or below it.
func below(name string, parts ...string) bool {
	for _, part := range parts {
		if name == part || strings.HasPrefix(name, part+"/") {
			return true
		}
	}
	return false
}

// Each part knows only what is below it.
func TestWalls(t *testing.T) {
	t.Parallel()
	links := linked(t)
	require.Contains(t, links["origin"], "origin/ledger")
	for _, wall := range []struct{ parts, not, why string }{
		{"origin/api origin/mx origin/ledger", "origin/dashboard origin/identity origin/webhook",
			"the dashboard is a client of the rest"},
		{"origin/identity origin/webhook", "origin/dashboard", "the dashboard is a client of the rest"},
		{"origin", "origin/rig wasm/moduletest lists/feed/feedtest", "the product links no helper of the tests"},
		{"origin/rig/origintest",
			"origin",
			"the tests of every part can use origintest"},
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
}

// The origin's results come from the module alone. A program that also linked
// core would have two implementations of the checks, and origin and edge could
// differ. Of lists it uses what verifies newer ones, which opens them; no package
// of the origin can look anything up in them.
func TestOriginDoesNotImportCore(t *testing.T) {
	t.Parallel()
	links := linked(t)
	delete(links, "origin/rig/bench") // a program of its own, which measures core beside the module
	require.Contains(t, links["origin"], "wasm/host")
	for part, names := range links {
		require.NotContains(t, names, "core", part)
		require.NotContains(t, names, "origin/rig/bench", part)
	}
	imports := goList(t, "-f", `{{.ImportPath}} {{join .Imports " "}}`, project+"origin/...")
	require.Contains(t, strings.Join(imports, " "), " lists/feed ")
	for _, line := range imports {
		if !strings.HasPrefix(line, "origin/rig/bench ") {
			require.NotContains(t, strings.Fields(line), "lists", line)
		}
	}
}

// A list is checked without an account: what checks it, and its tests, link neither the
// API nor the ledger.
func TestChecksLinkNoService(t *testing.T) {
	t.Parallel()
	list := goList(t, "-deps", "-test", project+"origin/check/pipeline", project+"origin/check/input", project+"origin/check/output",
		project+"origin/check/client", project+"origin/mcp")
	require.Contains(t, list, "origin/check/client")
	for _, name := range list {
		require.False(t, below(name, "origin/api", "origin/ledger", "origin/identity", "origin/dashboard",
			"origin/signuphook", "origin/webhook"), name)
	}
}

// The rooms of the ledger know only those below: what owners change never touches a view, and
// what is decided touches no writer.
func TestRoomsOfTheLedger(t *testing.T) {
	t.Parallel()
	rooms, links := []string{"origin/ledger/store", "origin/ledger/book", "origin/ledger/state",
		"origin/ledger/commit"}, linked(t)
	for n, room := range rooms {
		for _, name := range links[room] {
			require.False(t, below(name, "origin") && !below(name, rooms[:n]...), "%s links %s", room, name)
		}
		require.Subset(t, links[room], rooms[:n])
	}
}
