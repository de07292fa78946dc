package ndjson_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/archive/ndjson"
	"github.com/addrspec/addrspec/origin/ledger/archive/ndjson/ndjsontest"
)

// content is what an export contains.
type content struct {
	rows map[string][][]any
	last map[string]int64
}

// readAll decodes an export into memory.
func readAll(r io.Reader) (*content, error) {
	c := &content{map[string][][]any{}, map[string]int64{}}
	in, err := ndjson.Uncompressed(r)
	if err != nil {
		return nil, err
	}
	d := ndjson.NewDecoder(in)
	err = d.Header()
	for _, t := range ndjson.Tables {
		if err == nil {
			err = c.readTable(d, t)
		}
	}
	if err != nil {
		return nil, err
	}
	return c, d.End()
}

func (c *content) readTable(d *ndjson.Decoder, t ndjson.Table) error {
	if err := d.Begin(t); err != nil {
		return err
	}
	for {
		values, err := d.Row(t)
		if err != nil || values == nil {
			c.last[t.Name] = d.LastID
			return err
		}
		c.rows[t.Name] = append(c.rows[t.Name], values)
	}
}

// Every truncation is found, wherever it is, and every changed byte.
func TestDamageIsFound(t *testing.T) {
	whole := ndjsontest.Sample(t)
	_, err := readAll(bytes.NewReader(whole))
	require.NoError(t, err)
	for n := range whole {
		_, err := readAll(bytes.NewReader(whole[:n]))
		require.ErrorIs(t, err, ndjson.ErrDamaged, "the first %d bytes", n)
		require.ErrorContains(t, err, "line ")
		changed := bytes.Clone(whole)
		changed[n] ^= 1
		_, err = readAll(bytes.NewReader(changed))
		require.Error(t, err, "byte %d", n)
	}
}

// Each is refused with the number of its line, and no value of the row is quoted.
func TestRefusedExports(t *testing.T) {
	whole := string(ndjsontest.Sample(t))
	for name, c := range map[string]struct{ old, new, want string }{
		"another file":       {`{"format":"addrspec ledger"`, `{"format":"x"`, "line 1: it does not begin an export"},
		"newer format":       {`"version":1`, `"version":2`, "import it with the newer release"},
		"newer schema":       {`"schema":5`, `"schema":6`, "import it with the newer release"},
		"older schema":       {`"schema":5`, `"schema":4`, "with that older release"},
		"another table":      {`{"table":"plans"`, `{"table":"secrets"`, "line 2: it does not start table plans"},
		"another column":     {`"rate","points","overage","stored"]`, `"rate","points","overage"]`, "line 2: it does not start table plans"},
		"unknown member":     {`{"table":"plans",`, `{"table":"plans","x":1,`, "line 2: it is not the start of table plans"},
		"too few values":     {`["free",1,1000,true,`, `["free",1,1000,`, "line 4: it has 4 values, table plans has 5 columns"},
		"a fraction":         {`["free",1,`, `["free",1.5,`, "line 4: column rate: it is not a whole number"},
		"beyond 64 bits":     {`["free",1,`, `["free",9223372036854775808,`, "line 4: column rate: it is not a whole number"},
		"text as number":     {`["free",1,`, `[5,1,`, "line 4: column name: it is not a string"},
		"a zero byte":        {`["free",1,`, `["fr\u0000ee",1,`, "line 4: column name: it is not a string"},
		"number as boolean":  {`1000,true`, `1000,1`, "line 4: column overage: it is not true or false"},
		"bad base 64":        {`"AP8Kew=="`, `"AP8Kew="`, "column answer: it is not a string in base 64"},
		"not JSON":           {`["free",1,1000,true,1099511627776]`, `["free"`, "line 4: it is not a row"},
		"two values":         {`["free",1,`, `[] ["free",1,`, "line 4: it is not a row"},
		"an empty line":      {"[\"free\"", "\n[\"free\"", "line 4: it is not a row"},
		"not UTF-8":          {`["free"`, "[\"\xff\"", "line 4: it is not UTF-8"},
		"ID beyond last_id":  {`"last_id":8`, `"last_id":4`, "line 8: its ID is not between"},
		"IDs out of order":   {`[5,"ä`, `[1,"ä`, "line 8: its ID is not between"},
		"last_id missing":    {`,"last_id":8`, ``, "line 6: it does not start table accounts"},
		"last_id too large":  {`"last_id":8`, `"last_id":4611686018427387904`, "line 6: last_id is out of range"},
		"a row less":         {`["free",1,1000,true,1099511627776]` + "\n", "", "the counts differ"},
		"a changed value":    {`["free",1,`, `["free",2,`, "the checksum differs"},
		"a changed checksum": {`"sha256":"`, `"sha256":"0`, "the checksum differs"},
		"more text":          {`"}` + "\n", "\"}\nx", "there is text after the line with the checksum"},
	} {
		at := strings.LastIndex(whole, c.old)
		require.Positive(t, at+1, name)
		if name != "more text" {
			at = strings.Index(whole, c.old)
		}
		_, err := readAll(strings.NewReader(whole[:at] + c.new + whole[at+len(c.old):]))
		require.ErrorContains(t, err, c.want, name)
		require.NotContains(t, err.Error(), "example.org", name)
	}
}

func TestLongLine(t *testing.T) {
	first, _, _ := strings.Cut(string(ndjsontest.Sample(t)), "\n")
	endless := io.MultiReader(strings.NewReader(first+"\n[\""), io.LimitReader(letters{}, 1<<40))
	_, err := readAll(endless)
	require.ErrorContains(t, err, "line 2: it is longer than 16777216 bytes")

	var out bytes.Buffer
	row := []any{int64(1), "r", "h", make([]byte, 16<<20), int64(1), int64(1)}
	require.ErrorContains(t, ndjson.NewEncoder(&out).Row(ndjson.Tables[5], row), "table answers, row 1: it is longer")
}

type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}

// Text that PostgreSQL could not store is not exported.
func TestUnexportableText(t *testing.T) {
	for _, bad := range []string{"\xff", "a\x00b"} {
		err := ndjson.NewEncoder(io.Discard).Row(ndjson.Tables[0], []any{bad, int64(1), int64(1), true, int64(1)})
		require.EqualError(t, err, "table plans, row 1, column name: it is not valid UTF-8 text, or contains a zero byte")
	}
}

// A compressed export that is truncated is found, too.
func TestTruncatedGzip(t *testing.T) {
	var file bytes.Buffer
	z := gzip.NewWriter(&file)
	_, err := z.Write(ndjsontest.Sample(t))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	whole := file.Bytes()
	_, err = readAll(bytes.NewReader(whole))
	require.NoError(t, err)
	for n := range whole {
		_, err := readAll(bytes.NewReader(whole[:n]))
		require.ErrorIs(t, err, ndjson.ErrDamaged, "the first %d bytes", n)
	}
}

// FuzzDecode: the decoder never panics, and what it accepts is encoded as a file
// that it reads the same way.
func FuzzDecode(f *testing.F) {
	whole := ndjsontest.Sample(f)
	f.Add(whole)
	f.Add(whole[:len(whole)/2])                                          // truncated
	f.Add(bytes.Replace(whole, []byte("1000"), []byte("null"), 1))       // null where a number is
	f.Add(bytes.Replace(whole, []byte(`"free"`), []byte(`"\ud800"`), 1)) // half of a surrogate pair
	f.Add([]byte("\x1f\x8b\x08"))                                        // gzip, cut off
	f.Fuzz(func(t *testing.T, file []byte) {
		for _, text := range [][]byte{file, withChecksum(file)} {
			read, err := readAll(bytes.NewReader(text))
			if err != nil {
				continue
			}
			again, err := readAll(bytes.NewReader(ndjsontest.Encode(t, read.rows, read.last)))
			require.NoError(t, err)
			require.Equal(t, read, again)
		}
	})
}

// withChecksum corrects the checksum, so that fuzzing reaches what is behind it.
func withChecksum(file []byte) []byte {
	last := bytes.LastIndexByte(bytes.TrimSuffix(file, []byte("\n")), '\n') + 1
	at := bytes.LastIndex(file[last:], []byte(`"sha256":"`))
	if at < 0 || len(file) < last+at+10+64 {
		return file
	}
	sum := sha256.Sum256(file[:last])
	fixed := bytes.Clone(file)
	hex.Encode(fixed[last+at+10:], sum[:])
	return fixed
}
