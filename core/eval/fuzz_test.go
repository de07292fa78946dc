package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzTable(f *testing.F) {
	f.Add("domain\tlabel\na\tx\n")
	f.Add("a\n\n\tb")
	f.Fuzz(func(t *testing.T, text string) {
		parsed, err := parseTable("t.tsv", text)
		if err != nil {
			return
		}
		for _, row := range parsed.rows {
			require.Len(t, row, len(parsed.header))
		}
		rows, err := parsed.columns(parsed.header[0])
		require.NoError(t, err)
		require.Len(t, rows, len(parsed.rows))
	})
}

func FuzzFormat(f *testing.F) {
	f.Add([]byte(`{"email": "a@b", "valid": true, "normalized": null}` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := parseFormat("dev.jsonl", text); err != nil {
			require.ErrorContains(t, err, "dev.jsonl: ")
		}
	})
}
