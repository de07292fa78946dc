package browser

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/check"
	"github.com/addrspec/addrspec/origin/check/input"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

// A reading is a file and what the command reads in it.
type reading struct {
	Name    string
	Content []byte

	Encoding input.Encoding
	Comma    string
	Column   int
	Names    []string
	Rows     []readRow
}

type readRow struct {
	Cells                []string
	Email, Code, Message string
}

// The page Lists reads what the command reads, in files of pieces that are hard to read.
func TestReadersAgree(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	moduletest.Inputs(t, ".", "../assets", "../../check/input")
	random := rand.New(rand.NewPCG(1, 2)) // the same files each time
	var readings []reading
	for len(readings) < 3000 {
		if r, ok := read(t, hardFile(random), []string{"x.csv", "x.txt", "x.tsv"}[random.IntN(3)]); ok {
			readings = append(readings, r)
		}
	}
	file := filepath.Join(t.TempDir(), "readings.json")
	text, err := json.Marshal(readings)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, text, 0o600))
	out, err := exec.Command("node", "readers.mjs", file).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

var pieces = []string{"a@b.c", "x", `"`, `""`, ",", ",", ";", "\n", "\n", "\r\n", "\r", " ", "email", "name", "\t", "|", "sep=;", "ä", "\xe9", "\xc3", "\ufeff",
	"\u0085", "\u3000", "=1", "Mail", "😀", "{", "[", "\n\n", "\xa0", "@", "e-mail", `"a@b",`, "q,r,s\n", "j@k,l,m\n"}

func hardFile(random *rand.Rand) []byte {
	var content bytes.Buffer
	content.WriteString([]string{"", "", "name,email\n", "email;x\r\n", "a,b,c\n", "\"E-Mail\"\n", "ä\n"}[random.IntN(7)])
	for range 1 + random.IntN(40) {
		content.WriteString(pieces[random.IntN(len(pieces))])
	}
	return content.Bytes()
}

// read reads a file. It is not ok if the command refuses it, as for JSON or for two
// columns of addresses, where the page lets its user choose.
func read(t *testing.T, content []byte, name string) (r reading, ok bool) {
	reader := input.New(bytes.NewReader(content), input.Options{Name: name})
	records, err := reader.Read(make([]check.Record, 0, 1000))
	if err != nil && len(records) == 0 || reader.Format() == input.NDJSON {
		return r, false
	}
	r = reading{Name: name, Content: content, Encoding: reader.Encoding(), Column: max(0, reader.Column()), Names: reader.Header()}
	if reader.Comma() != 0 {
		r.Comma = string(rune(reader.Comma()))
	}
	for err == nil {
		var more []check.Record
		more, err = reader.Read(make([]check.Record, 0, 1000))
		records = append(records, more...)
	}
	r.Encoding = reader.Encoding()
	for _, record := range records {
		row := readRow{Cells: record.Cells, Email: record.Email}
		if row.Cells == nil && r.Comma == "" {
			row.Cells = []string{record.Email}
		}
		if record.Err != nil {
			row.Code, row.Message = "BAD_LINE", record.Err.Error()
		}
		if errors.Is(record.Err, check.ErrNoAddress) {
			row.Code = "NO_ADDRESS"
		}
		r.Rows = append(r.Rows, row)
	}
	return r, true
}
