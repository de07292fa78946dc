package input

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/addrspec/addrspec/origin/check/pipeline"
)

// A layout is how the records are laid out.
type layout struct {
	format string // Text, NDJSON or CSV, whatever the separator
	key    string // of the addresses in a JSON object

	comma    byte     // of CSV, else 0
	skip     int      // rows that are no records, the header and those before it, blank ones apart
	column   int      // of the addresses
	names    []string // of the columns, nil without a header
	width    int      // cells of a row
	preamble [][]string
}

// commas are the separators that are recognised.
const commas = ",;\t|"

// declared matches a first line that declares the separator to Excel.
var declared = regexp.MustCompile(`(?i)^"?sep=([` + commas + `])"?(\r\n|\r|\n|$)`)

// begin finds out about the input.
func (r *Reader) begin() error {
	o, w := &r.options, &r.window
	decoded, err := r.decode(w.in)
	if err != nil {
		return err
	}
	w.in = decoded
	if r.book != nil {
		o.Format = CSV
	}
	possible := commas
	if o.Format == TSV || o.Format == Auto && extension(o.Name) == ".tsv" {
		possible = "\t"
	}
	for done := false; !done; {
		before := len(w.rest())
		w.more()
		all := w.err != nil || len(w.rest()) >= bufferSize
		line := hasLineEnd(w.rest()[before:]) && hasLineEnd(bytes.TrimLeft(w.rest(), " \t\r\n"))
		if !all && !line {
			continue
		}
		first := declared.FindSubmatch(w.rest())
		if first != nil && o.Format != Text && o.Format != NDJSON {
			possible = string(first[1])
			w.use(len(first[0]))
		}
		var decided bool
		r.layout, decided, err = o.recognise(w.rest(), possible, w.ended())
		if !decided && w.err == nil && all && r.layout.format == CSV && r.layout.width == 0 {
			return fmt.Errorf("the first row is longer than %d KiB, or a quotation mark in it is not closed",
				bufferSize>>10)
		}
		done = decided || all
	}
	if err != nil {
		return err
	}
	switch r.layout.format {
	case NDJSON:
		// A line is a value, unless an array begins, or an object that goes on in the next line.
		first, _, _ := bytes.Cut(bytes.TrimLeft(w.rest(), " \t\r\n"), []byte("\n"))
		first = bytes.TrimSpace(first)
		values := objects{key: r.layout.key, spans: bytes.HasPrefix(first, []byte("[")) || string(first) == "{"}
		r.next = func() (pipeline.Record, error) { return values.next(w) }
	case Text:
		r.next = r.nextLine
	default:
		r.next = r.nextRow
	}
	return nil
}

// recognise returns the layout of an input that begins so, with one of the possible separators.
// decided is false if more rows may change it.
func (o *Options) recognise(beginning []byte, possible string, ended bool) (l layout, decided bool, err error) {
	beginning = bytes.TrimLeft(bytes.TrimPrefix(beginning, []byte(markUTF8)), "\r\n")
	if o.Format == Auto {
		start := bytes.TrimSpace(beginning[:min(len(beginning), 4<<10)])
		for _, d := range documents {
			if d.begins.Match(start) {
				return l, true, fmt.Errorf("this is %s and not a list: %s instead; "+
					"with --from text, each line is an address all the same", d.name, d.advice)
			}
		}
	}
	switch {
	case o.Format == Text:
		return layout{format: Text}, true, nil
	case o.isJSON(beginning):
		return layout{format: NDJSON, key: cmp.Or(o.Column, "email")}, true, nil
	}
	best := o.guess(beginning, possible, ended)
	if o.Format != Auto || len(possible) == 1 || extension(o.Name) == ".csv" ||
		o.looksLikeTable(best, beginning, ended) {
		return o.table(best)
	}
	if o.Column != "" {
		err = errors.New("the input looks like text with an address a line, which has no columns: " +
			"leave out --column, or give the format with --from csv or ndjson")
	}
	// Another line may show that this one, without an address, is a header or before one, or that a
	// mailbox begins.
	rows := len(best.rows)
	open := rows == 0 || rows == 1 && len(best.rows[0]) > 1 ||
		rows <= maxPreamble && !slices.ContainsFunc(best.rows, hasAddress) ||
		rows == 1 && bytes.HasPrefix(beginning, []byte("From "))
	return layout{format: Text}, !open, err
}

// beginsJSON matches an object, or an array of objects or strings. A bracket alone is not enough,
// since an address may begin with a brace.
var beginsJSON = regexp.MustCompile(`^\s*(\{\s*(["}]|$)|\[\s*([{"\]]|$))`)

// isJSON reports whether an input that begins so is read as JSON. A file's name may say that there
// is a string a line.
func (o *Options) isJSON(beginning []byte) bool {
	if o.Format != Auto {
		return o.Format == NDJSON
	}
	named := slices.Contains([]string{".ndjson", ".jsonl", ".json"}, extension(o.Name))
	return beginsJSON.Match(beginning) || named && bytes.HasPrefix(bytes.TrimSpace(beginning), []byte(`"`))
}

// inQuotes matches lines in quotation marks, and blank ones.
var inQuotes = regexp.MustCompile(`^("[^\r\n]*"(\s*[\r\n]\s*|$))*$`)

// looksLikeTable reports whether text looks like CSV with a column of addresses: by its separator, by
// a known name, or since every line that has arrived whole is in quotation marks. An address has a
// domain after them.
func (o *Options) looksLikeTable(best guess, text []byte, ended bool) bool {
	if best.regular > minRegular {
		_, err := findColumn(best.rows)
		return o.Column != "" || len(best.rows) > 1 || !errors.Is(err, errNoColumn)
	}
	if widest(best.rows) != 1 || isName(best.rows[0][0]) {
		return widest(best.rows) == 1
	}
	if end := bytes.LastIndexAny(text, "\r\n"); !ended && end >= 0 {
		text = text[:end]
	}
	return inQuotes.Match(bytes.TrimSpace(text))
}

// table returns the layout of CSV.
func (o *Options) table(best guess) (l layout, decided bool, err error) {
	l = layout{format: CSV, comma: best.comma, skip: best.preamble, width: widest(best.rows)}
	if l.width == 0 {
		return l, false, nil
	}
	named := false
	if o.Column != "" {
		l.column, named, err = chooseColumn(best.rows, o.Column)
	} else {
		l.column, err = findColumn(best.rows)
	}
	header, decided := findHeader(best.rows, l.column)
	if o.Header == "yes" || o.Header == "no" {
		header, decided = o.Header == "yes", true
	}
	if header || named || best.preamble > 0 {
		l.skip++
		l.names, l.width = best.rows[0], len(best.rows[0])
		_ = valid(l.names) // they are written in any case
	}
	return l, (decided || named) && !errors.Is(err, errNoColumn), err // a later row may have an address
}

// minRegular is the share of rows with as many cells as the first that a separator
// must exceed.
const minRegular = 0.6

// A guess is what a separator would make of the beginning of an input.
type guess struct {
	comma    byte
	preamble int        // rows before the header
	rows     [][]string // the header, if there is one, and those after it
	regular  float64    // the share of rows with as many cells as the first, or more than 1 if that is a header
}

// guess returns the best guess: the first one, if no other makes regular rows.
func (o *Options) guess(beginning []byte, possible string, ended bool) (best guess) {
	for n, comma := range []byte(possible) {
		g := guess{comma: comma, rows: sample(beginning, ended, comma)}
		if o.Header != "no" {
			g.preamble = preamble(g.rows, o.Column)
		}
		g.rows = g.rows[g.preamble:]
		if len(g.rows) > 0 && len(g.rows[0]) > 1 {
			same := 0
			if slices.ContainsFunc(g.rows[0], isName) {
				same = len(g.rows)
			}
			for _, cells := range g.rows {
				if len(cells) == len(g.rows[0]) {
					same++
				}
			}
			g.regular = float64(same) / float64(len(g.rows))
		}
		if n == 0 || g.regular > max(best.regular, minRegular) {
			best = g
		}
	}
	return best
}

// sample returns the first rows that are neither bad nor blank.
func sample(beginning []byte, ended bool, comma byte) (rows [][]string) {
	w := &window{buf: beginning}
	if ended {
		w.err = io.EOF
	}
	for len(rows) < sampleRows {
		cells, err := w.row(comma)
		if err == errMore {
			break
		}
		if err == nil && filled(cells) > 0 {
			rows = append(rows, cells)
		}
	}
	return rows
}

// extension returns the extension of a file's name in lower case, without that of
// the compression.
func extension(name string) string {
	return path.Ext(strings.TrimSuffix(strings.ToLower(name), ".gz"))
}
