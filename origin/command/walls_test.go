package command

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const project = "github.com/addrspec/addrspec/"

// dependencies lists the project's packages that other ones link, without the
// project's name.
func dependencies(t *testing.T, packages ...string) (list []string) {
	t.Helper()
	args := []string{"list", "-deps"}
	for _, name := range packages {
		args = append(args, project+name)
	}
	out, err := exec.Command("go", args...).Output()
	require.NoError(t, err)
	for _, dep := range strings.Fields(string(out)) {
		if name, ours := strings.CutPrefix(dep, project); ours {
			list = append(list, name)
		}
	}
	return list
}

// partsOfOrigin lists all packages of the origin but its performance table, a program
// of its own, which measures core beside the module.
func partsOfOrigin(t *testing.T) (list []string) {
	t.Helper()
	out, err := exec.Command("go", "list", project+"origin/...").Output()
	require.NoError(t, err)
	for _, path := range strings.Fields(string(out)) {
		if name := strings.TrimPrefix(path, project); name != "origin/rig/bench" {
			list = append(list, name)
		}
	}
	return list
}

// The origin's results come from the module alone. A program that also linked
// core would have two implementations of the checks, and origin and edge could
// differ. Of lists it uses what verifies newer ones, which opens them; no package
// of the origin can look anything up in them.
func TestOriginDoesNotImportCore(t *testing.T) {
	t.Parallel()
	list := dependencies(t, partsOfOrigin(t)...)
	require.Contains(t, list, "wasm/host")
	require.NotContains(t, list, "core")
	require.NotContains(t, list, "origin/rig/bench")
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, project+"origin/...").Output()
	require.NoError(t, err)
	require.Contains(t, string(out), project+"lists/feed ")
	for _, line := range strings.Split(string(out), "\n") {
		if !strings.HasPrefix(line, project+"origin/rig/bench ") {
			require.NotContains(t, strings.Fields(line), project+"lists", line)
		}
	}
}

// The product links no helper of the tests.
func TestProductDoesNotImportTestPackages(t *testing.T) {
	t.Parallel()
	list := dependencies(t, "origin")
	require.Contains(t, list, "origin/ledger")
	for _, name := range []string{"origin/rig/origintest", "origin/rig/ledgertest", "origin/rig/storetest", "origin/rig/passkeytest", "origin/rig/contract", "origin/rig/contract/description", "origin/rig/mxtest", "origin/rig/pgtest", "wasm/moduletest", "lists/feed/feedtest"} {
		require.NotContains(t, list, name)
	}
}

// The tests of every part of the origin can use origintest, which imports no part.
func TestOrigintestImportsNoOtherPart(t *testing.T) {
	t.Parallel()
	for _, name := range dependencies(t, "origin/rig/origintest") {
		require.False(t, name != "origin/rig/origintest" && strings.HasPrefix(name, "origin/"), name)
	}
}

// Only programs that open a database link its driver, which takes long to compile and
// to link.
func TestPartsLinkNoDriver(t *testing.T) {
	for _, part := range []string{"origin/api", "origin/check", "origin/check/client", "origin/identity", "origin/ledger", "origin/mx", "origin/rig/origintest", "origin/signuphook", "origin/webhook"} {
		for _, name := range dependencies(t, part) {
			require.NotContains(t, name, "origin/ledger/store/", part)
		}
	}
}

// A list is checked without an account: what checks it, and its tests, link neither the
// API nor the ledger.
func TestChecksLinkNoService(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-test", project+"origin/check/...", project+"origin/mcp").Output()
	require.NoError(t, err)
	list := strings.Fields(string(out))
	require.Contains(t, list, project+"origin/check/client")
	for _, path := range list {
		for _, part := range []string{"api", "ledger", "identity", "dashboard", "signuphook", "webhook"} {
			require.False(t, path == project+"origin/"+part || strings.HasPrefix(path, project+"origin/"+part+"/"), path)
		}
	}
}

// The dashboard is a client of the rest: the API, the resolver and the ledger know
// nothing of it, nor of who signs in.
func TestThinOriginKnowsNoDashboard(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"origin/api", "origin/mx", "origin/ledger"} {
		for _, name := range []string{"origin/dashboard", "origin/identity", "origin/webhook", "origin/identity/openid"} {
			require.NotContains(t, dependencies(t, part), name, part)
		}
	}
	require.NotContains(t, dependencies(t, "origin/identity"), "origin/dashboard")
	require.NotContains(t, dependencies(t, "origin/webhook"), "origin/dashboard")
}

// The rooms of the ledger know only those below: what owners change never touches a view, and
// what is decided touches no writer.
func TestRoomsOfTheLedger(t *testing.T) {
	t.Parallel()
	rooms := []string{"origin/ledger/store", "origin/ledger/book", "origin/ledger/state", "origin/ledger/commit"}
	for n, room := range rooms {
		require.ElementsMatch(t, rooms[:n+1], dependencies(t, room))
	}
}
