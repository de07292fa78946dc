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

	"github.com/addrspec/addrspec/origin/check/input/charset"
	"github.com/addrspec/addrspec/origin/check/pipeline"
)

type layout struct {
	format string // Text, NDJSON or CSV, whatever the separator
	key    string // of the addresses in a JSON object

	pipeline.Layout     // of CSV
	skip            int // rows that are no records, the header and those before it, blank ones apart
	column          int // of the addresses
}

const commas = ",;\t|"

var declared = regexp.MustCompile(`(?i)^"?sep=([` + commas + `])"?(\r\n|\r|\n|$)`)

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
		if !decided && w.err == nil && all && r.layout.format == CSV && r.layout.Width == 0 {
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
		values := objects{key: r.layout.key}
		r.next = func() (pipeline.Record, error) { return values.next(w) }
	case Text:
		r.next = r.nextLine
	default:
		r.next = r.nextRow
	}
	return nil
}

// recognise returns the layout of an input that begins so, with one of the possible separators. decided is false
// if more rows may change it.
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
	// Another line may show that this one, without an address, is a header or before one, or that a mailbox begins.
	rows := len(best.rows)
	open := rows == 0 || rows == 1 && len(best.rows[0]) > 1 ||
		rows <= maxPreamble && !slices.ContainsFunc(best.rows, hasAddress) ||
		rows == 1 && bytes.HasPrefix(beginning, []byte("From "))
	return layout{format: Text}, !open, err
}

// beginsJSON matches an object.
var beginsJSON = regexp.MustCompile(`^\s*\{\s*(["}]|$)`)

// isJSON reports whether an input that begins so is read as JSON. A file's name may say it of strings, one a line.
func (o *Options) isJSON(beginning []byte) bool {
	if o.Format != Auto {
		return o.Format == NDJSON
	}
	named := slices.Contains([]string{".ndjson", ".jsonl", ".json"}, extension(o.Name))
	return beginsJSON.Match(beginning) || named && bytes.HasPrefix(bytes.TrimSpace(beginning), []byte(`"`))
}

var inQuotes = regexp.MustCompile(`^("[^\r\n]*"(\s*[\r\n]\s*|$))*$`)

// looksLikeTable reports whether text looks like CSV with a column of addresses: by its separator, by a known
// name, or since every line that has arrived whole is in quotation marks. An address has a domain after them.
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

func (o *Options) table(best guess) (l layout, decided bool, err error) {
	l = layout{format: CSV, skip: best.preamble, Layout: pipeline.Layout{Comma: best.comma, Width: widest(best.rows)}}
	if l.Width == 0 {
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
		l.Header, l.Width = best.rows[0], len(best.rows[0])
		_ = valid(l.Header) // they are written in any case
	}
	return l, (decided || named) && !errors.Is(err, errNoColumn), err // a later row may have an address
}

// minRegular is the share of rows with as many cells as the first that a separator must exceed.
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

// extension returns the extension of a file's name in lower case, without that of the compression.
func extension(name string) string {
	return path.Ext(strings.TrimSuffix(strings.ToLower(name), ".gz"))
}

type signature struct {
	magic    string
	encoding string // that such a byte order mark names (Unicode 16, section 23.8)
	err      error  // why such a file is not read; nil if it is
}

const (
	gzipMagic = "\x1f\x8b"
	markUTF8  = "\xef\xbb\xbf"
	zipMagic  = "PK\x03\x04"
	saveSheet = "open it and save the sheet as CSV UTF-8"
)

// signatures are the formats that are recognised before their encoding, by the first that fits. Addresses do not
// begin with any of them whole: with BZh9 they may.
var signatures = []signature{
	{magic: gzipMagic, err: errors.New("this is compressed twice with gzip: decompress it once, " +
		"as with gzip -dc FILE | addrspec check -")},
	{magic: "\xff\xfe\x00\x00", err: errUTF32},
	{magic: "\x00\x00\xfe\xff", err: errUTF32},
	{magic: markUTF8, encoding: charset.UTF8},
	{magic: "\xff\xfe", encoding: charset.UTF16LE},
	{magic: "\xfe\xff", encoding: charset.UTF16BE},
	{magic: "\x28\xb5\x2f\xfd", err: compressed("Zstandard", "zstd -dc")},
	{magic: "\xfd7zXZ\x00", err: compressed("xz", "xz -dc")},
	{magic: "7z\xbc\xaf\x27\x1c", err: compressed("7-Zip", "7z x -so")},
	{magic: "BZh91AY&SY", err: compressed("bzip2", "bzip2 -dc")}, // 9 is the level that all tools write
	{magic: zipMagic, err: errors.New("this is a ZIP archive or a spreadsheet: unpack an archive; give a workbook " +
		"(.xlsx) by its name and not in a pipe or gzip; of another spreadsheet (.ods), " + saveSheet)},
	{magic: "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", err: errors.New("this is an Excel workbook of the old format " +
		"(.xls) or with a password, or another old Office document, and not text: " + saveSheet)},
	{magic: "%PDF-", err: errors.New("this is a PDF document: take the list from where it was made, as CSV or text")},
}

var errUTF32 = errors.New("this is UTF-32: convert it, as with iconv -f UTF-32 -t UTF-8")

func compressed(name, command string) error {
	return errors.New("this is compressed with " + name + ", and only gzip is read: decompress it, " +
		"as with " + command + " FILE | addrspec check -")
}

// documents are texts that are no lists, by how they begin: every line would be an address that is not valid.
var documents = []struct {
	begins       *regexp.Regexp
	name, advice string
}{
	{regexp.MustCompile(`(?i)^BEGIN:V(CARD|CALENDAR)`), "a file of contacts (vCard)", exportContacts},
	{regexp.MustCompile(`(?i)^(#.*\s+)*(version: ?\d+\s+)?(#.*\s+)*dn::? ?\S+=`), "a directory's export (LDIF)",
		"export the attribute mail as text, as with ldapsearch -LLL mail | sed -n 's/^mail: //p'"},
	{regexp.MustCompile(`(?i)^(<!--[\s\S]*?-->\s*)?<(!doctype\s+html|html|head|body|table)\b`), "a web page (HTML)",
		"export the list as CSV, or copy the table into a spreadsheet and save that as CSV UTF-8"},
	{regexp.MustCompile(`^<\?xml\b`), "XML", "export the list as CSV or JSON"},
	{regexp.MustCompile(`^From \S.*\d{4}\r?\n[A-Za-z-]+: |^(?i:Return-Path|Received|Delivered-To|X-Gmail-Labels|` +
		`Message-ID|MIME-Version|X-GM-THRID|DKIM-Signature): `), "a message or a mailbox (mbox)", exportContacts},
	{regexp.MustCompile(`(?i)^(--[^\n]*\s+|/\*[\s\S]*?\*/;?\s*|(SET|USE|PRAGMA|BEGIN|LOCK|START)\b[^;\n]*;\s*)*` +
		`(CREATE\s+(TABLE|DATABASE|SCHEMA)|INSERT\s+INTO|DROP\s+TABLE|COPY\s+\S+\s*\(.*FROM\s+stdin)\b`),
		"a dump of a database (SQL)", "export the table as CSV, as with COPY … TO … WITH CSV HEADER"},
	{regexp.MustCompile(`^(\[\s*([{"\]]|$)|\{\s*([\r\n]|$))`), "JSON whose values span lines",
		"write one value a line, as with jq -c '.[]' FILE for an array"},
}

const exportContacts = "export the contacts as CSV"
