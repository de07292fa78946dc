package input

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

// A layout is how the records are laid out.
type layout struct {
	format string
	comma  byte // of CSV, else 0
	skip   int  // rows before the header that are no records, blank ones apart
	silent int  // of these, the first ones that are not passed through

	column   int      // of the addresses
	names    []string // of the columns, nil without a header
	width    int      // cells of a row
	preamble [][]string
	key      string // of the addresses in a JSON object
}

// begin finds out about the input.
func (r *Reader) begin() error {
	if !slices.Contains([]string{"", Auto, Text, CSV, TSV, NDJSON}, r.options.Format) {
		return fmt.Errorf("there is no input format %q: use auto, text, csv, tsv or ndjson", r.options.Format)
	}
	decoded, err := r.decode(r.window.in)
	if err != nil {
		return err
	}
	w := &r.window
	w.in = decoded
	for w.err == nil && len(w.rest()) < bufferSize && !hasLineEnd(bytes.TrimLeft(w.rest(), " \t\r\n")) {
		w.more()
	}
	if r.book != nil {
		r.options.Format = CSV
	}
	for tries := 1; ; tries++ {
		var decided bool
		r.layout, decided, err = r.options.recognise(w.rest(), w.ended())
		if decided || w.err != nil {
			break
		}
		if len(w.rest()) >= bufferSize {
			if r.layout.comma != 0 && r.layout.width == 0 {
				return errFirstRow
			}
			break
		}
		// Another line, or as much as is looked at if the first ones did not decide.
		for before := len(w.rest()); w.err == nil && len(w.rest()) < bufferSize; {
			w.more()
			if tries < sampleRows && hasLineEnd(w.rest()[before:]) {
				break
			}
		}
	}
	if err != nil {
		return err
	}
	lossy := r.Encoding().Name
	if lossy == "utf-8" || lossy == "xlsx" {
		lossy = ""
	}
	switch r.layout.format {
	case NDJSON:
		r.records = newObjects(w.rest(), r.layout.key)
	case Text:
		r.records = &text{decoded: lossy}
	default:
		skip := r.layout.skip
		if r.layout.names != nil {
			skip++
		}
		r.records = &table{rows: rows{comma: r.layout.comma}, layout: &r.layout, skip: skip, silent: r.layout.silent, decoded: lossy}
	}
	return nil
}

// errFirstRow is the error of CSV whose first row is not complete in what is looked
// at.
var errFirstRow = fmt.Errorf("the first row is longer than %d KiB, or a quotation mark in it is not closed",
	bufferSize>>10)

var errTextColumn = errors.New("the input looks like text with an address a line, which has no columns: " +
	"leave out --column, or give the format with --from csv or ndjson")

// recognise returns the layout of an input that begins so. decided is false if more
// rows may change it.
func (o *Options) recognise(beginning []byte, ended bool) (l layout, decided bool, err error) {
	beginning = bytes.TrimLeft(bytes.TrimPrefix(beginning, []byte(markUTF8)), "\r\n")
	auto := o.Format == "" || o.Format == Auto
	if auto {
		err = refuse(beginning)
		if err != nil {
			return l, true, err
		}
	}
	switch {
	case o.Format == Text:
		return layout{format: Text}, true, nil
	case o.isJSON(beginning):
		l = layout{format: NDJSON, key: o.Column}
		if l.key == "" {
			l.key = "email"
		}
		return l, true, nil
	}
	ext := extension(o.Name)
	best := o.guessComma(beginning, ended)
	if !auto || ext == ".csv" || ext == ".tsv" || declaredComma(beginning) != 0 ||
		o.looksLikeTable(best, beginning, ended) {
		return o.table(best, beginning, ended)
	}
	l = layout{format: Text}
	if o.Column != "" {
		err = errTextColumn
	}
	// Another line may show that this one, without an address, is a header or before one, or that a
	// mailbox begins.
	hasAddress := slices.ContainsFunc(best.sample, func(cells []string) bool {
		return slices.ContainsFunc(cells, isAddress)
	})
	rows := len(best.sample)
	open := rows == 0 || rows == 1 && len(best.sample[0]) > 1 || !hasAddress && rows <= maxPreamble ||
		rows == 1 && bytes.HasPrefix(beginning, []byte("From "))
	return l, !open, err
}

// isJSON reports whether an input that begins so is read as JSON: it begins with an object or an
// array of objects or strings. A bracket alone is not enough, since an address may begin with a
// brace. A file's name may say that there is a string a line.
func (o *Options) isJSON(beginning []byte) bool {
	if o.Format != "" && o.Format != Auto {
		return o.Format == NDJSON
	}
	text := bytes.TrimLeft(beginning, " \t\r\n")
	if len(text) == 0 {
		return false
	}
	next := bytes.TrimLeft(text[1:], " \t\r\n")
	switch text[0] {
	case '"':
		return slices.Contains([]string{".ndjson", ".jsonl", ".json"}, extension(o.Name))
	case '{':
		return len(next) == 0 || strings.IndexByte(`"}`, next[0]) >= 0
	case '[':
		return len(next) == 0 || strings.IndexByte(`{"]`, next[0]) >= 0
	}
	return false
}

// looksLikeTable reports whether text looks like CSV with a column of addresses: by its separator, by
// a known name, or since every line that has arrived whole is in quotation marks. An address has a
// domain after them.
func (o *Options) looksLikeTable(best guess, text []byte, ended bool) bool {
	rows := best.sample[best.preamble:]
	if best.regular > minRegular {
		_, err := findColumn(rows)
		return o.Column != "" || len(rows) > 1 || !errors.Is(err, errNoColumn)
	}
	if widest(rows) != 1 || isName(rows[0][0]) {
		return widest(rows) == 1
	}
	if end := bytes.LastIndexAny(text, "\r\n"); !ended && end >= 0 {
		text = text[:end]
	}
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && (len(line) < 2 || line[0] != '"' || line[len(line)-1] != '"') {
			return false
		}
	}
	return true
}

// table returns the layout of CSV.
func (o *Options) table(best guess, beginning []byte, ended bool) (l layout, decided bool, err error) {
	l.comma = declaredComma(beginning)
	switch {
	case l.comma != 0:
		l.skip, l.silent = 1, 1
	case o.Format == TSV || o.Format != CSV && extension(o.Name) == ".tsv":
		l.comma = '\t'
	case best.regular > minRegular:
		l.comma = best.comma
	default:
		l.comma = ','
	}
	l.format = CSV
	if l.comma == '\t' {
		l.format = TSV
	}
	rows := sample(beginning, ended, l.comma)
	rows = rows[min(l.silent, len(rows)):]
	before := 0
	if o.Header != HeaderNo {
		before = preamble(rows, o.Column)
	}
	l.skip += before
	rows = rows[before:]
	if len(rows) == 0 {
		return l, false, nil
	}
	named := false
	if o.Column != "" {
		l.column, named, err = chooseColumn(rows, o.Column)
	} else {
		l.column, err = findColumn(rows)
		if widest(rows) == 1 {
			err = nil // there is no choice
		}
	}
	header, decided := findHeader(rows, l.column)
	if o.Header != HeaderAuto {
		header, decided = o.Header == HeaderYes, true
	}
	l.width = widest(rows)
	if header || named || before > 0 {
		l.names, l.width = rows[0], len(rows[0])
		_ = valid(l.names) // they are written in any case
	}
	return l, (decided || named) && !errors.Is(err, errNoColumn), err // a later row may have an address
}

// minRegular is the share of rows with as many cells as the first that a separator
// must exceed.
const minRegular = 0.6

// commas are the separators that are recognised.
const commas = ",;\t|"

// A guess is what a separator would make of the beginning of an input.
type guess struct {
	comma    byte
	sample   [][]string
	preamble int     // rows before the header
	regular  float64 // the share of rows with as many cells as the first, or more than 1 if that is a header
}

func (o *Options) guessComma(beginning []byte, ended bool) (best guess) {
	for _, comma := range []byte(commas) {
		g := guess{comma: comma, sample: sample(beginning, ended, comma)}
		g.preamble = preamble(g.sample, o.Column)
		rows := g.sample[g.preamble:]
		if len(rows) > 0 && len(rows[0]) > 1 {
			same := 0
			if slices.ContainsFunc(rows[0], isName) {
				same = len(rows)
			}
			for _, cells := range rows {
				if len(cells) == len(rows[0]) {
					same++
				}
			}
			g.regular = float64(same) / float64(len(rows))
		}
		if best.comma == 0 || g.regular > best.regular {
			best = g
		}
	}
	return best
}

// sample returns the first rows that are neither bad nor blank.
func sample(beginning []byte, ended bool, comma byte) (cells [][]string) {
	w := &window{buf: beginning}
	if ended {
		w.err = io.EOF
	}
	r := rows{comma: comma}
	for len(cells) < sampleRows {
		found, err := r.take(w)
		if err == errMore {
			break
		}
		if err == nil && !isBlank(found.cells) {
			cells = append(cells, found.cells)
		}
	}
	return cells
}

// declaredComma returns the separator that a first line such as "sep=;" declares to
// Excel, or 0.
func declaredComma(beginning []byte) byte {
	line := beginning
	if end := bytes.IndexAny(line, "\r\n"); end >= 0 {
		line = line[:end]
	}
	line = bytes.Trim(line, `"`)
	if len(line) == len("sep=;") && strings.EqualFold(string(line[:4]), "sep=") &&
		strings.IndexByte(commas, line[4]) >= 0 {
		return line[4]
	}
	return 0
}

// extension returns the extension of a file's name in lower case, without that of
// the compression.
func extension(name string) string {
	return path.Ext(strings.TrimSuffix(strings.ToLower(name), ".gz"))
}
