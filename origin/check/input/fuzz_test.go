package input

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/check/pipeline"
)

// FuzzReader: no input makes the reader panic, wait for ever or lose count of its lines. Text and NDJSON are read
// equally however they arrive. In CSV the rows that have arrived decide about the layout.
func FuzzReader(f *testing.F) {
	for _, file := range files {
		f.Add([]byte(file.in), file.options.Format, file.options.Column)
	}
	for _, c := range refused {
		f.Add([]byte(c.in), c.options.Format, c.options.Column)
	}
	f.Fuzz(func(t *testing.T, in []byte, format, column string) {
		options := Options{Format: format, Column: column}
		records, err := readAll(New(bytes.NewReader(in), options))
		requireLines(t, in, records)
		slow, slowErr := readAll(New(iotest.OneByteReader(bytes.NewReader(in)), options))
		requireLines(t, in, slow)
		sameEncoding := !bytes.HasPrefix(in, []byte(gzipMagic)) && bytes.IndexByte(in, 0) < 0 // what has arrived decides about UTF-16
		if sameEncoding && (format == Text || format == NDJSON) {
			require.Equal(t, records, slow)
			require.Equal(t, err == nil, slowErr == nil)
		}
	})
}

// requireLines requires lines that ascend and, in what is not compressed, exist.
func requireLines(t *testing.T, in []byte, records []pipeline.Record) {
	last := int64(1)
	for _, r := range records {
		require.GreaterOrEqual(t, r.Line, last)
		last = r.Line
	}
	if !bytes.HasPrefix(in, []byte(gzipMagic)) {
		require.LessOrEqual(t, last, lineEnds(in)+int64(bytes.Count(in, []byte("\r")))+1)
	}
}

// FuzzDecode: compression and encoding do not depend on how the input arrives.
func FuzzDecode(f *testing.F) {
	for _, file := range files {
		f.Add([]byte(file.in))
	}
	for _, c := range refused {
		f.Add([]byte(c.in))
	}
	f.Add([]byte(gzipped("a", "b") + "\x00"))
	f.Fuzz(func(t *testing.T, in []byte) {
		want, _ := decodeAll(bytes.NewReader(in))
		got, _ := decodeAll(iotest.HalfReader(bytes.NewReader(in)))
		if bytes.HasPrefix(in, []byte(markUTF8)) || bytes.HasPrefix(in, []byte("\xfe\xff")) {
			require.Equal(t, want, got) // without a mark, what has arrived decides
		}
	})
}

func decodeAll(in io.Reader) ([]byte, error) {
	text, err := New(nil, Options{}).decode(in)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(text, 1<<20))
}

// FuzzValues: the elements of an array are those that encoding/json finds.
func FuzzValues(f *testing.F) {
	f.Add([]byte("[1,\"a,]\\\"\", {\"x\":[{}]} ,\nnull]"))
	f.Add([]byte("[[],[[]],{}]"))
	f.Fuzz(func(t *testing.T, in []byte) {
		var want []json.RawMessage
		if json.Unmarshal(in, &want) != nil || len(bytes.TrimSpace(in)) == 0 || bytes.TrimSpace(in)[0] != '[' {
			_, _ = takeValues(in) // it must not panic
			return
		}
		got, err := takeValues(in)
		require.Equal(t, io.EOF, err)
		require.Len(t, got, len(want))
		for n := range want {
			require.Equal(t, string(bytes.TrimSpace(want[n])), got[n])
		}
	})
}

func takeValues(in []byte) (got []string, err error) {
	o, w := objects{spans: true}, &window{in: iotest.HalfReader(bytes.NewReader(in))}
	for {
		value, _, err := o.element(w)
		switch {
		case err == nil:
			got = append(got, string(value))
		case err != errMore:
			return got, err
		case w.err != nil:
			return got, w.err
		default:
			w.more()
		}
	}
}

// FuzzObject: an address that is found is the one that encoding/json finds.
func FuzzObject(f *testing.F) {
	for _, file := range files {
		for line := range strings.Lines(file.in) {
			f.Add([]byte(line))
		}
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		o := objects{key: "email"}
		email, err := o.email(in)
		if err != nil {
			return
		}
		require.True(t, utf8.Valid(in) && utf8.ValidString(email) && json.Valid(in))
		var text string
		if json.Unmarshal(in, &text) == nil && !isNull(in) {
			require.Equal(t, text, email)
			return
		}
		var members map[string]any
		require.NoError(t, json.Unmarshal(in, &members))
		if exact, ok := members["email"]; ok {
			require.Equal(t, exact, email)
		}
	})
}

func isNull(in []byte) bool { return string(bytes.TrimSpace(in)) == "null" }
