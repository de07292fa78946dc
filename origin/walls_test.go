package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The origin gets its answers from the module alone: with core in the program
// a second body of checks could answer, and edge and origin could differ.
func TestOriginNeverImportsCore(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "github.com/addrspec/addrspec/origin/...").Output()
	require.NoError(t, err)
	packages := strings.Fields(string(out))
	require.Contains(t, packages, "github.com/addrspec/addrspec/wasm/host")
	for _, walled := range []string{"core", "lists"} {
		require.NotContains(t, packages, "github.com/addrspec/addrspec/"+walled)
	}
}
