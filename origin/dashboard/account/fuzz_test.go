package account

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/host"
)

// Whatever a document is and wherever its flaw is, a few lines of bounded length show it.
func FuzzFlawOf(f *testing.F) {
	f.Add(`{"block": {"reasons": ["disposible"]}}`, 50, "block.reasons[1]", "x")
	f.Add("\xff\r\n", -1, "line 1, column 1", "x")
	f.Add(strings.Repeat("ä", 500), 1<<30, "the document", "it has more than x")
	f.Fuzz(func(t *testing.T, document string, offset int, place, problem string) {
		refused := &host.PolicyError{Place: place, Offset: offset, Sentence: place + ": " + problem}
		flaw := flawOf(document, refused)
		require.LessOrEqual(t, len(flaw.Lines), 5)
		for _, line := range flaw.Lines {
			require.LessOrEqual(t, len(line.Text), 8*flawWidth+2*len("…"))
			require.NotContains(t, line.Text, "\n")
		}
		_, err := json.Marshal(flaw)
		require.NoError(t, err)
	})
}
