package archive

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// content is what an export contains.
type content struct {
	rows map[string][][]any
	last map[string]int64
}

// readAll decodes an export into memory.
func readAll(r io.Reader) (*content, error) {
	c := &content{map[string][][]any{}, map[string]int64{}}
	in, err := uncompressed(r)
	if err != nil {
		return nil, err
	}
	d := newDecoder(in)
	err = d.Header()
	for _, t := range tables {
		if err == nil {
			err = c.readTable(d, t)
		}
	}
	if err != nil {
		return nil, err
	}
	return c, d.End()
}

func (c *content) readTable(d *decoder, t table) error {
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
	whole := sample(t)
	_, err := readAll(bytes.NewReader(whole))
	require.NoError(t, err)
	for n := range whole {
		_, err := readAll(bytes.NewReader(whole[:n]))
		require.ErrorIs(t, err, errDamaged, "the first %d bytes", n)
		require.ErrorContains(t, err, "line ")
		changed := bytes.Clone(whole)
		changed[n] ^= 1
		_, err = readAll(bytes.NewReader(changed))
		require.Error(t, err, "byte %d", n)
	}
}

// Each is refused with the number of its line, and no value of the row is quoted.
func TestRefusedExports(t *testing.T) {
	whole := string(sample(t))
	for name, c := range map[string]struct{ old, new, want string }{
		"another file":       {`{"format":"addrspec ledger"`, `{"format":"x"`, "line 1: it does not begin an export"},
		"newer format":       {`"version":1`, `"version":2`, "import it with the newer release"},
		"newer schema":       {`"schema":7`, `"schema":8`, "import it with the newer release"},
		"older schema":       {`"schema":7`, `"schema":6`, "with that older release"},
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
	first, _, _ := strings.Cut(string(sample(t)), "\n")
	endless := io.MultiReader(strings.NewReader(first+"\n[\""), io.LimitReader(letters{}, 1<<40))
	_, err := readAll(endless)
	require.ErrorContains(t, err, "line 2: it is longer than 16777216 bytes")

	var out bytes.Buffer
	row := []any{int64(1), "r", "h", make([]byte, 16<<20), int64(1), int64(1)}
	require.ErrorContains(t, newEncoder(&out).Row(tables[5], row), "table answers, row 1: it is longer")
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
		err := newEncoder(io.Discard).Row(tables[0], []any{bad, int64(1), int64(1), true, int64(1)})
		require.EqualError(t, err, "table plans, row 1, column name: it is not valid UTF-8 text, or contains a zero byte")
	}
}

// A compressed export that is truncated is found, too.
func TestTruncatedGzip(t *testing.T) {
	var file bytes.Buffer
	z := gzip.NewWriter(&file)
	_, err := z.Write(sample(t))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	whole := file.Bytes()
	_, err = readAll(bytes.NewReader(whole))
	require.NoError(t, err)
	for n := range whole {
		_, err := readAll(bytes.NewReader(whole[:n]))
		require.ErrorIs(t, err, errDamaged, "the first %d bytes", n)
	}
}

// FuzzDecode: the decoder never panics, and what it accepts is encoded as a file
// that it reads the same way.
func FuzzDecode(f *testing.F) {
	whole := sample(f)
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
			again, err := readAll(bytes.NewReader(encodeAll(t, read.rows, read.last)))
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

// sampleRows has rows in every table: null and all kinds of values, IDs with gaps,
// text that sorts differently by bytes and by language.
var sampleRows = map[string][][]any{
	"plans":    {{"Zebra", int64(-1), int64(-1), false, int64(0)}, {"free", int64(1), int64(1000), true, int64(1 << 40)}, {"Ärzte", int64(7), int64(5), true, int64(1)}},
	"accounts": {{int64(2), "b@example.org", "free", nil, nil, int64(5), int64(24322), int64(9), int64(1795000000123456789), nil, nil, int64(3), int64(1)}, {int64(5), "ä<&>\u2028\"\\\t@example.org", "Ärzte", int64(-1), int64(0), int64(5), int64(0), int64(0), int64(0), true, int64(77), int64(0), int64(0)}},
	"keys":     {{int64(3), int64(2), "laptop", "ask_ab", int64(1), nil, nil, nil, nil, int64(0), int64(0), int64(0), "https://shop.example", false, "sign-up", true}, {int64(4), int64(2), "", "ask_cd", int64(1), int64(2), int64(3), int64(0), int64(9), int64(24322), int64(4), int64(-5), "", true, "", false}},
	"secrets":  {{"B" + sampleHash, int64(3), nil}, {"a" + sampleHash, int64(3), int64(8)}},
	"usage":    {{int64(2), int64(3), int64(20757), int64(9), int64(2), int64(1), int64(4), int64(5), int64(1), int64(1), int64(1), int64(1), int64(1), int64(1), int64(1)}},
	"answers":  {{int64(2), "r1", "h", []byte{}, int64(0), int64(9)}, {int64(2), "r2", "h", []byte{0, 255, '\n', '{'}, int64(4), int64(9)}},
	"users":    {{int64(2), "Bea", "$argon2id$x", true, "SECRET", int64(58), "handle", int64(1)}},
	"sessions": {{int64(9), sampleHash, int64(2), "Firefox on Linux", int64(1), int64(2), int64(3), int64(4), true}},
	"links":    {{sampleHash, int64(2), int64(5)}}, "recovery_codes": {{int64(2), "A"}, {int64(2), "b"}},
	"passkeys":   {{"id", int64(2), "phone", `{"k":"v"}`, int64(1), int64(2)}},
	"identities": {{"https://id.example", "B", int64(2), int64(1)}, {"https://id.example", "a", int64(2), int64(1)}},
	"challenges": {{sampleHash, "{}", int64(4)}}, "attempts": {{sampleHash, int64(6)}},
	"audit":      {{int64(1), int64(2), int64(3), "owner", "key.create", "3 laptop"}},
	"policies":   {{int64(2), "sign-up", `{"block":{"reasons":["disposable"]}}`, int64(1), int64(1)}},
	"webhooks":   {{int64(2), "https://hook.example/x", "whsec_x", "", int64(0), int64(0), int64(1)}},
	"deliveries": {{int64(2), int64(24322), int64(80), "msg_1", "{}", int64(1), int64(2), int64(1), int64(0), "503"}},
}

const sampleHash = "0000000000000000000000000000000000000000000000000000000000000000"

// sampleLast is the highest ID given out; nothing was ever given out for others.
var sampleLast = map[string]int64{"accounts": 8, "keys": 4, "sessions": 9, "audit": 1}

// sample returns an export of the sample rows.
func sample(t testing.TB) []byte { return encodeAll(t, sampleRows, sampleLast) }

// encodeAll returns an export of rows.
func encodeAll(t testing.TB, rows map[string][][]any, last map[string]int64) []byte {
	var out bytes.Buffer
	e := newEncoder(&out)
	require.NoError(t, e.Header())
	for _, table := range tables {
		require.NoError(t, e.Begin(table, last[table.Name]))
		for _, row := range rows[table.Name] {
			require.NoError(t, e.Row(table, row))
		}
	}
	require.NoError(t, e.End())
	return out.Bytes()
}
