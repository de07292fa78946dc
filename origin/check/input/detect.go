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

// begin finds out about the input.
func (r *Reader) begin() error {
	if !slices.Contains([]string{"", Auto, Text, CSV, TSV, NDJSON}, r.options.Format) {
		return fmt.Errorf("there is no input format %q: use auto, text, csv, tsv or ndjson", r.options.Format)
	}
	if !slices.Contains([]string{"", Auto, UTF8, UTF16LE, UTF16BE, Windows1252}, r.options.Encoding) {
		return fmt.Errorf("there is no input encoding %q: use auto, utf-8, utf-16le, utf-16be or windows-1252", r.options.Encoding)
	}
	decoded, err := r.decode(r.window.in)
	if err != nil {
		return err
	}
	r.window.in = decoded
	for !r.window.enough() {
		r.window.more()
	}
	if err := r.recognise(); err != nil {
		return err
	}
	r.start()
	return nil
}

// enough reports whether a line has arrived that is not blank, or nothing more
// can decide.
func (w *window) enough() bool {
	return w.err != nil || len(w.rest()) >= bufferSize || hasLineEnd(bytes.TrimLeft(w.rest(), " \t\r\n"))
}

// recognise sets the layout, and waits for more lines where the first does not
// decide.
func (r *Reader) recognise() (err error) {
	for tries := 1; ; tries++ {
		var decided bool
		r.layout, decided, err = r.options.recognise(r.window.rest(), r.window.ended())
		if decided || r.window.err != nil {
			return err
		}
		if len(r.window.rest()) >= bufferSize {
			return errors.Join(err, r.layout.unknown())
		}
		r.window.moreLines(tries >= sampleRows)
	}
}

// moreLines reads on to the next line end, or as much as is looked at.
func (w *window) moreLines(all bool) {
	for before := len(w.rest()); w.err == nil && len(w.rest()) < bufferSize; {
		if w.more(); !all && hasLineEnd(w.rest()[before:]) {
			return
		}
	}
}

// errFirstRow is the error of CSV whose first row is not complete in what is looked
// at.
var errFirstRow = fmt.Errorf("the first row is longer than %d KiB, or a quotation mark in it is not closed", bufferSize>>10)

// unknown returns an error if no row could be looked at.
func (l *layout) unknown() error {
	if l.comma != 0 && l.width == 0 {
		return errFirstRow
	}
	return nil
}

// start begins to parse records.
func (r *Reader) start() {
	utf16 := strings.HasPrefix(r.Encoding().Name, "utf-16")
	switch r.layout.format {
	case NDJSON:
		r.records = newObjects(r.window.rest(), r.layout.key)
	case Text:
		r.records = &text{utf16: utf16}
	default:
		r.records = newTable(&r.layout, utf16)
	}
}

// recognise returns the layout of an input that begins so. decided is false if more
// rows may change it.
func (o *Options) recognise(beginning []byte, ended bool) (l layout, decided bool, err error) {
	beginning = bytes.TrimLeft(beginning, "\r\n")
	switch o.Format {
	case Text:
		return o.text()
	case NDJSON:
		return o.objects()
	case CSV, TSV:
		return o.table(beginning, ended)
	}
	switch ext := extension(o.Name); {
	case o.isJSON(beginning):
		return o.objects()
	case o.looksLikeTable(beginning, ended), ext == ".csv", ext == ".tsv":
		return o.table(beginning, ended)
	case mayBeHeader(beginning, ended):
		l, _, err = o.text()
		return l, false, err
	}
	return o.text()
}

var errTextColumn = errors.New("the input looks like text with an address a line, which has no columns: leave out --column, or give the format with --from csv or ndjson")

func (o *Options) text() (layout, bool, error) {
	if o.Column != "" && o.Format != Text {
		return layout{format: Text}, true, errTextColumn
	}
	return layout{format: Text}, true, nil
}

func (o *Options) objects() (layout, bool, error) {
	key := o.Column
	if key == "" {
		key = "email"
	}
	return layout{format: NDJSON, key: key}, true, nil
}

// isJSON reports whether an input that begins so is read as JSON.
func (o *Options) isJSON(beginning []byte) bool {
	if o.Format != "" && o.Format != Auto {
		return o.Format == NDJSON
	}
	return looksLikeJSON(beginning) || bytes.HasPrefix(beginning, []byte(`"`)) && slices.Contains([]string{".ndjson", ".jsonl", ".json"}, extension(o.Name))
}

// looksLikeJSON reports whether text begins with an object or an array of objects
// or strings. A bracket alone is not enough: an address may begin with a brace.
func looksLikeJSON(text []byte) bool {
	text = bytes.TrimLeft(text, " \t\r\n")
	if len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return false
	}
	next := bytes.TrimLeft(text[1:], " \t\r\n")
	if len(next) == 0 {
		return true
	}
	return text[0] == '{' && strings.IndexByte(`"}`, next[0]) >= 0 ||
		text[0] == '[' && strings.IndexByte(`{"]`, next[0]) >= 0
}

// looksLikeTable reports whether text looks like CSV with a column of addresses.
func (o *Options) looksLikeTable(text []byte, ended bool) bool {
	if declaredComma(text) != 0 {
		return true
	}
	best := guessComma(text, ended)
	if best.regular > minRegular {
		_, err := findColumn(best.sample)
		return o.Column != "" || len(best.sample) > 1 || !errors.Is(err, errNoColumn)
	}
	return widest(best.sample) == 1 && (isName(best.sample[0][0]) || allQuoted(text, ended))
}

// mayBeHeader reports whether text, which does not look like a table, may do so with
// another line: it is one row of several cells, or a quotation mark is open in it.
func mayBeHeader(text []byte, ended bool) bool {
	sample := guessComma(text, ended).sample
	return len(sample) == 0 || len(sample) == 1 && len(sample[0]) > 1
}

// allQuoted reports whether every line that has arrived whole is in quotation
// marks: one column of CSV, since an address has a domain after them.
func allQuoted(text []byte, ended bool) bool {
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
func (o *Options) table(beginning []byte, ended bool) (l layout, decided bool, err error) {
	l.comma = declaredComma(beginning)
	if l.comma != 0 {
		l.skip = 1
	} else {
		l.comma = o.comma(beginning, ended)
	}
	l.format = CSV
	if l.comma == '\t' {
		l.format = TSV
	}
	rows := sample(beginning, ended, l.comma)
	rows = rows[min(l.skip, len(rows)):]
	decided, err = o.columns(&l, rows)
	return l, decided, err
}

// comma returns the separator.
func (o *Options) comma(beginning []byte, ended bool) byte {
	if o.Format == TSV || o.Format != CSV && extension(o.Name) == ".tsv" {
		return '\t'
	}
	if best := guessComma(beginning, ended); best.regular > minRegular {
		return best.comma
	}
	return ','
}

// columns finds the column of addresses and the header.
func (o *Options) columns(l *layout, rows [][]string) (decided bool, err error) {
	if len(rows) == 0 {
		return false, nil
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
	if header || named {
		l.names, l.width = rows[0], len(rows[0])
		_ = valid(l.names) // they are written in any case
	}
	return (decided || named) && !errors.Is(err, errNoColumn), err // a later row may have an address
}

// newObjects returns a parser of JSON values. A line is a value, unless the input
// begins with an array, or with an object that goes on in the next line.
func newObjects(beginning []byte, key string) *objects {
	o := &objects{key: key}
	beginning = bytes.TrimLeft(beginning, " \t\r\n")
	line, _, _ := bytes.Cut(beginning, []byte("\n"))
	line = bytes.TrimSpace(line)
	if bytes.HasPrefix(line, []byte("[")) || string(line) == "{" {
		o.values = &values{}
	}
	return o
}

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
