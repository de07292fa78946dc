package input

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/check/pipeline"
)

const benchRecords = 100_000

// benchInput returns records of a format as they are in lists.
func benchInput(format string) string {
	var out strings.Builder
	for n := range benchRecords {
		fmt.Fprintf(&out, format+"\n", n)
	}
	return out.String()
}

var benchInputs = map[string]string{
	Text:   benchInput("somebody.%d@mail.example"),
	CSV:    benchInput(`%d,"Some, Body",somebody@mail.example,2026-11-22,"Main Street 1",x`),
	NDJSON: benchInput(`{"id":%d,"email":"somebody@mail.example","name":"Some Body"}`),
}

// BenchmarkRead reads 100,000 records.
func BenchmarkRead(b *testing.B) {
	for format, in := range benchInputs {
		b.Run(format, func(b *testing.B) { benchRead(b, func() io.Reader { return strings.NewReader(in) }) })
	}
	b.Run("gzip", func(b *testing.B) {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		io.WriteString(w, benchInputs[Text])
		w.Close()
		benchRead(b, func() io.Reader { return bytes.NewReader(out.Bytes()) })
	})
	b.Run("utf16", func(b *testing.B) {
		in := "\xff\xfe" + wide(benchInputs[Text])
		benchRead(b, func() io.Reader { return strings.NewReader(in) })
	})
}

// wide returns ASCII as UTF-16 LE.
func wide(text string) string {
	out := make([]byte, 0, 2*len(text))
	for n := range len(text) {
		out = append(out, text[n], 0)
	}
	return string(out)
}

func benchRead(b *testing.B, in func() io.Reader) {
	b.ReportAllocs()
	for b.Loop() {
		r, n := New(in(), Options{}), 0
		for {
			records, err := r.Read(make([]pipeline.Record, 0, 256))
			if n += len(records); err == io.EOF {
				break
			}
			require.NoError(b, err)
		}
		require.Equal(b, benchRecords, n)
	}
}
