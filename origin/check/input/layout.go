package input

import (
	"bytes"
	"io"
	"path"
	"slices"
	"strings"
)

// sampleRows is how many rows decide about the separator, the column and the
// header, if so many have arrived.
const sampleRows = 100

// minRegular is the share of rows with as many cells as the first that a separator
// must exceed.
const minRegular = 0.6

// commas are the separators that are recognised.
const commas = ",;\t|"

// A layout is how the records are laid out.
type layout struct {
	format string
	comma  byte // of CSV, else 0
	skip   int  // rows before the header that are no records

	column int      // of the addresses
	names  []string // of the columns, nil without a header
	width  int      // cells of a row
	key    string   // of the addresses in a JSON object
}

// A guess is what a separator would make of the beginning of an input.
type guess struct {
	comma   byte
	sample  [][]string
	regular float64 // the share of rows with as many cells as the first, or more than 1 if that is a header
}

func guessComma(beginning []byte, ended bool) (best guess) {
	for _, comma := range []byte(commas) {
		g := guess{comma: comma, sample: sample(beginning, ended, comma)}
		g.regular = regularity(g.sample)
		if best.comma == 0 || g.regular > best.regular {
			best = g
		}
	}
	return best
}

// sample returns the first rows that are not bad.
func sample(beginning []byte, ended bool, comma byte) (cells [][]string) {
	w := &window{buf: beginning}
	if ended {
		w.err = io.EOF
	}
	r := rows{comma: comma}
	for len(cells) < sampleRows {
		found, err := r.next(w)
		if err == errMore {
			break
		}
		if err == nil {
			cells = append(cells, found.cells)
		}
	}
	return cells
}

func regularity(sample [][]string) float64 {
	if len(sample) == 0 || len(sample[0]) == 1 {
		return 0
	}
	same := 0
	if slices.ContainsFunc(sample[0], isName) {
		same = len(sample)
	}
	for _, cells := range sample {
		if len(cells) == len(sample[0]) {
			same++
		}
	}
	return float64(same) / float64(len(sample))
}

// declaredComma returns the separator that a first line such as "sep=;" declares to
// Excel, or 0.
func declaredComma(beginning []byte) byte {
	line := beginning
	if end := bytes.IndexAny(line, "\r\n"); end >= 0 {
		line = line[:end]
	}
	line = bytes.Trim(line, `"`)
	if len(line) == len("sep=;") && strings.EqualFold(string(line[:4]), "sep=") && strings.IndexByte(commas, line[4]) >= 0 {
		return line[4]
	}
	return 0
}

// extension returns the extension of a file's name in lower case, without that of
// the compression.
func extension(name string) string {
	return path.Ext(strings.TrimSuffix(strings.ToLower(name), ".gz"))
}
