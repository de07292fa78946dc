package core

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the table of reasons in the reference")

// refusals is the customers' page with every reason.
const refusals = "../origin/dashboard/docs/reference/refusals.md"

// TestDocumentListsEveryReason compares the table of the reference with the catalogue.
func TestDocumentListsEveryReason(t *testing.T) {
	const head = "| code | section | sentence |\n|---|---|---|\n"
	table := head
	for _, e := range catalogue[1:] {
		table += fmt.Sprintf("| `%s` | %s | %s |\n", e.code, e.section, e.sentence)
	}
	document, err := os.ReadFile(refusals)
	require.NoError(t, err)
	text, _, _ := strings.Cut(string(document), head)
	if *update {
		require.NoError(t, os.WriteFile(refusals, []byte(text+table), 0o644))
		return
	}
	for line := range strings.Lines(table) {
		require.True(t, strings.Contains(string(document), line), "%s lacks the line %q: run go test ./core -run Document -update", refusals, line)
	}
	require.True(t, text+table == string(document), "the table of %s has other lines or another order: run go test ./core -run Document -update", refusals)
}
