package core_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// walls are the packages that the checks and the lists must not draw in, each
// with what it would cost. Their tests may use them.
var walls = map[string]string{
	"net":                               "core does no I/O: MX look-ups are the origin's",
	"os":                                "core reads no files and no environment; the module has neither",
	"encoding/json":                     "304 KB gzip in the module; core writes its JSON by hand",
	"fmt":                               "189 KB gzip in the module",
	"regexp":                            "173 KB gzip in the module, and slow on the check path",
	"golang.org/x/net/idna":             "298 KB gzip in the module; core has tables of its own",
	"golang.org/x/text/unicode/norm":    "156 KB gzip in the module; core has tables of its own",
	"github.com/tetratelabs/wazero":     "core does not know what runs it",
	"github.com/addrspec/addrspec/wasm": "arrows run one way: the module is built on core",
}

// Lists know nobody, their tools included; core's tools may read them.
func TestListsKnowNobody(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "github.com/addrspec/addrspec/lists/...").Output()
	require.NoError(t, err)
	for _, dep := range strings.Fields(string(out)) {
		if room, ours := strings.CutPrefix(dep, "github.com/addrspec/addrspec/"); ours {
			require.True(t, room == "lists" || strings.HasPrefix(room, "lists/"), "lists draw in %s", dep)
		}
	}
}

// TestIDNAImportsNothingOfCore: of this module it may import helpers on bytes
// alone, so that core depends on it and never the reverse.
func TestIDNAImportsNothingOfCore(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "github.com/addrspec/addrspec/core/idna").Output()
	require.NoError(t, err)
	for _, dep := range strings.Fields(string(out)) {
		if room, ours := strings.CutPrefix(dep, "github.com/addrspec/addrspec/"); ours {
			require.Contains(t, []string{"core/idna", "core/internal/ascii"}, room)
		}
	}
}

func TestWallsHold(t *testing.T) {
	for _, room := range []string{"core", "lists"} {
		out, err := exec.Command("go", "list", "-deps", "github.com/addrspec/addrspec/"+room).Output()
		require.NoError(t, err)
		deps := strings.Fields(string(out))
		require.Contains(t, deps, "github.com/addrspec/addrspec/"+room)
		for _, dep := range deps {
			for wall, why := range walls {
				require.False(t, dep == wall || strings.HasPrefix(dep, wall+"/"), "%s draws in %s: %s", room, dep, why)
			}
		}
	}
}
