package archive

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkExport measures the export of a million rows, and its import.
func BenchmarkExport(b *testing.B) {
	url := newSQLite(b)
	newLedger(b, url)
	grow(b, url, 1_000_000)
	var out bytes.Buffer
	b.Run("export", func(b *testing.B) {
		for b.Loop() {
			out.Reset()
			_, err := Export(b.Context(), url, &out)
			require.NoError(b, err)
		}
	})
	b.Run("import", func(b *testing.B) {
		for b.Loop() {
			_, err := Import(b.Context(), newSQLite(b), bytes.NewReader(out.Bytes()), parsePolicy)
			require.NoError(b, err)
		}
	})
}
