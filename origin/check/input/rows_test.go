package input

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/check/pipeline"
)

// readTable decodes a table of test cases that the dashboard's tests read too.
func readTable(t testing.TB, file string, into any) {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, into))
}

type rowsCase struct {
	Name, Text string
	Rows       [][]string
}

// takeAll returns the cells of all rows, also of blank ones, and the errors.
func takeAll(t testing.TB, in io.Reader, comma byte) (cells [][]string, errs []error) {
	cells = [][]string{}
	w := &window{in: in}
	for line := int64(0); ; {
		at := w.lines + 1
		found, err := w.row(comma)
		if err == errMore {
			if w.err != nil {
				require.Equal(t, io.EOF, w.err)
				return cells, errs
			}
			w.more()
			continue
		}
		require.Greater(t, at, line)
		line = at
		cells, errs = append(cells, found), append(errs, err)
	}
}

func TestRows(t *testing.T) {
	var cases []rowsCase
	readTable(t, "testdata/rows.json", &cases)
	require.Greater(t, len(cases), 10)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			inTurn(t, []byte(c.Text), func(t *testing.T, in io.Reader) {
				cells, _ := takeAll(t, in, ',')
				require.Equal(t, c.Rows, cells)
			})
		})
	}
}

func TestLayouts(t *testing.T) {
	var cases []struct {
		Name, File, Text, Delimiter string
		Header                      bool
		Column                      int
	}
	readTable(t, "testdata/layouts.json", &cases)
	require.Greater(t, len(cases), 5)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			r := New(strings.NewReader(c.Text), Options{Name: c.File})
			_, err := readAll(r)
			require.NoError(t, err)
			require.Equal(t, c.Delimiter, strings.Trim(string(rune(r.Layout().Comma)), "\x00"))
			require.Equal(t, c.Header, r.Layout().Header != nil)
			require.Equal(t, c.Column, r.layout.column)
		})
	}
}

// TestLongRows: what is too long is one bad record, and the rows after it are read, however the input arrives.
func TestLongRows(t *testing.T) {
	long := strings.Repeat("x", maxRow)
	lines := strings.Repeat("some text\r\n", maxRow/11+10)
	for name, c := range map[string]struct {
		in    string
		want  int // rows
		err   error
		bad   int // index of the bad row
		after int64
	}{
		"at the limit":               {in: long + "\na,b\n", want: 2, bad: -1, after: 2},
		"beyond the limit":           {in: "a\n" + long + "x\na,b\n", want: 3, err: errLongRow, bad: 1, after: 3},
		"far beyond the limit":       {in: long + long + long + "\na,b\n", want: 2, err: errLongRow, after: 2},
		"at the end":                 {in: "a,b\n" + long + long, want: 2, err: errLongRow, bad: 1, after: 1},
		"a quote without line end":   {in: "\"" + long + "\na,b\n", want: 2, err: errLongRow, after: 2},
		"after a line end in a cell": {in: "\"x\ny\"," + long + "\na,b\n", want: 2, err: errLongRow, after: 3},
		"an open quote":              {in: "x,\"y\r\n" + lines + "a,b\n", want: 2 + maxRow/11 + 10, err: errOpenQuote, after: 2 + maxRow/11 + 10},
		"an open quote at the end":   {in: "x,\"y\r\nc,d\na,b\n", want: 3, err: errOpenQuote, after: 3},
		"a quote that is missing":    {in: "x,\"y\nc,\"d\"\na,b\n", want: 3, err: errOpenQuote, after: 3},
	} {
		t.Run(name, func(t *testing.T) {
			for _, in := range []io.Reader{strings.NewReader(c.in), iotest.HalfReader(strings.NewReader(c.in)), chunks(c.in, 20_000)} {
				cells, errs := takeAll(t, in, ',')
				require.Len(t, cells, c.want)
				for n, err := range errs {
					if n == c.bad {
						require.Equal(t, c.err, err)
					} else if err != nil {
						require.NoError(t, err, "row %d", n)
					}
				}
				require.Equal(t, c.after, lineOf(t, c.in, []string{"a", "b"}))
			}
		})
	}
}

// lineOf returns the line of the row with these cells.
func lineOf(t *testing.T, in string, cells []string) int64 {
	w := &window{in: strings.NewReader(in)}
	for {
		line := w.lines + 1
		found, err := w.row(',')
		switch {
		case err == errMore:
			require.NoError(t, w.err)
			w.more()
		case slices.Equal(found, cells):
			return line
		}
	}
}

// chunks returns a reader of text that returns at most size bytes at a time.
func chunks(text string, size int) io.Reader {
	return &chunkReader{strings.NewReader(text), size}
}

type chunkReader struct {
	in   io.Reader
	size int
}

func (c *chunkReader) Read(p []byte) (int, error) { return c.in.Read(p[:min(len(p), c.size)]) }

// TestOpenQuotesTakeLinearTime: rows that are scanned again are not scanned again
// and again. A quadratic reader needs minutes.
func TestOpenQuotesTakeLinearTime(t *testing.T) {
	for name, piece := range map[string]string{
		"one a line":        "\"x\n",
		"odd, then even":    "\"x\n\"\"\n\"y\"\n",
		"in another column": "a,\"b\nc\"d,\"e\n",
		"three":             "\"\"\"a\n",
	} {
		t.Run(name, func(t *testing.T) {
			in := strings.Repeat(piece, 2<<20/len(piece))
			w := &window{in: strings.NewReader(in)}
			for w.err == nil || len(w.rest()) > 0 {
				if _, err := w.row(','); err == errMore {
					w.more()
				}
			}
			require.EqualValues(t, strings.Count(in, "\n"), w.lines)
		})
	}
}

func FuzzRowsWhateverArrives(f *testing.F) {
	var cases []rowsCase
	readTable(f, "testdata/rows.json", &cases)
	for _, c := range cases {
		f.Add([]byte(c.Text))
	}
	f.Add([]byte("\"a\nb\"c,d\n\"e\r"))
	f.Fuzz(func(t *testing.T, in []byte) {
		want, wantErrs := takeAll(t, bytes.NewReader(in), ',')
		got, gotErrs := takeAll(t, iotest.OneByteReader(bytes.NewReader(in)), ',')
		require.Equal(t, want, got)
		require.Equal(t, wantErrs, gotErrs)
	})
}

// FuzzRowsLikeStandardLibrary: what encoding/csv reads without an error is read equally, but for CRLF in cells.
func FuzzRowsLikeStandardLibrary(f *testing.F) {
	var cases []rowsCase
	readTable(f, "testdata/rows.json", &cases)
	for _, c := range cases {
		f.Add([]byte(c.Text))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if bytes.Contains(bytes.ReplaceAll(in, []byte("\r\n"), nil), []byte("\r")) {
			t.Skip("encoding/csv does not end a line at CR")
		}
		standard := csv.NewReader(bytes.NewReader(in))
		standard.FieldsPerRecord = -1
		w := &window{in: bytes.NewReader(in)}
		for {
			want, err := standard.Read()
			if errors.Is(err, csv.ErrQuote) || errors.Is(err, csv.ErrBareQuote) {
				return
			}
			if err == nil && len(want) == 1 && strings.TrimSpace(want[0]) == "" {
				continue // blank
			}
			found, at, foundErr := nextRow(w)
			if err == io.EOF {
				require.Equal(t, errMore, foundErr)
				return
			}
			require.NoError(t, foundErr)
			for n := range found {
				found[n] = strings.ReplaceAll(found[n], "\r\n", "\n")
			}
			require.Equal(t, want, found)
			line, _ := standard.FieldPos(0)
			require.EqualValues(t, line, at)
		}
	})
}

// nextRow returns the next row that is not blank and its line, and errMore at the end of the input.
func nextRow(w *window) (cells []string, line int64, err error) {
	for {
		line = w.lines + 1
		cells, err = w.row(',')
		switch {
		case err == nil && filled(cells) == 0 && len(cells) == 1:
		case err != errMore || w.err != nil:
			return cells, line, err
		default:
			w.more()
		}
	}
}

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
