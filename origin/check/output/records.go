package output

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/addrspec/addrspec/origin/check/pipeline"
	"github.com/addrspec/addrspec/wasm/result"
)

// CSV writes a row a record: the columns of the input with their cells as they came, then the result. The
// separator is that of the input; rows end with LF.
//
// Of an input that is not CSV, the first column is email. A cell is empty where the result has null, such as
// mx where nothing was looked up. The columns reason and reason_offset are the code of a refusal and the
// offset of the offending byte; error is the code of an address that could not be checked, NO_ADDRESS or
// BAD_LINE; message says either in words, and which address is meant. The page Lists of the dashboard writes
// the same layout (list-file.js). A bad row keeps its cells: those beyond the width of the table follow the
// result, so that the columns of the result remain in their place.
type CSV struct {
	Layout  pipeline.Layout
	Details bool // add the columns of the evidence
	Policy  bool // add the columns of the verdict
	Safe    bool // escape cells for spreadsheets
	BOM     bool // begin with a byte order mark

	input   int       // how many columns it has
	writers sync.Pool // of *rowWriter, since several goroutines append
}

type rowWriter struct {
	*csv.Writer
	text bytes.Buffer
}

// resultColumns follow those of the input, which has email.
var resultColumns = append(result.Names[result.Valid:], "reason", "reason_offset", "error", "message")

var detailColumns = []string{"reason_section", "canonical", "canonical_rule", "role_word", "role_match",
	"provider_entry", "provider_class", "provider_sources", "form",
	"exchange_class", "exchange_provider", "exchange_entry", "exchange_host", "address_record"}

// Head appends the rows of the input before its header, and the header.
func (f *CSV) Head(dst []byte) ([]byte, error) {
	names, input := slices.Clone(resultColumns), inputColumns(f.Layout)
	if f.Details {
		names = append(names, detailColumns...)
	}
	if f.Policy { // the column reason is that of a refusal
		names = append(names, "verdict", "verdict_reason", "verdict_rule")
	}
	f.input = len(input)
	if f.BOM {
		dst = append(dst, "\uFEFF"...) // by which Excel reads UTF-8
	}
	return f.write(dst, append(slices.Clip(f.Layout.Preamble), append(input, distinct(names, input)...)))
}

// Append appends the row of one record.
func (f *CSV) Append(dst []byte, r *pipeline.Record, o *pipeline.Outcome) ([]byte, error) {
	cells := r.Cells
	if f.Layout.Comma == 0 {
		cells = []string{r.Email}
	}
	row := make([]string, f.input+len(resultColumns), f.input+len(resultColumns)+len(detailColumns)+8)
	more, found := cells[copy(row[:f.input], cells):], row[f.input:]
	var details []string
	if p := problemOf(r, o); p.Code != "" {
		copy(found[len(found)-2:], []string{p.Code, p.Message})
		details = make([]string, len(detailColumns))
	} else {
		values, err := result.Split(o.JSON)
		if err != nil {
			return dst, err
		}
		for n, value := range values[result.Valid:] {
			found[n] = result.Text(value)
		}
		if why := o.Refusal; why.Code != "" {
			copy(found[len(found)-4:], []string{why.Code, strconv.Itoa(why.Offset), "", why.Message()})
		}
		if f.Details {
			details, err = detailCells(o)
			if err != nil {
				return dst, err
			}
		}
	}
	if f.Details {
		row = append(row, details...)
	}
	if f.Policy { // empty without a result
		row = append(row, o.Verdict.Action, o.Verdict.Reason, o.Verdict.Rule)
	}
	return f.write(dst, [][]string{append(row, more...)})
}

func detailCells(o *pipeline.Outcome) ([]string, error) {
	parsed, err := result.Parse(o.JSON)
	if err != nil {
		return nil, err
	}
	d := cmp.Or(parsed.Details, new(result.Details))
	role, provider := cmp.Or(d.Role, new(result.RoleEvidence)), cmp.Or(d.Provider, new(result.ProviderEvidence))
	exchange, record := cmp.Or(d.Exchange, new(result.Exchange)), ""
	if exchange.AddressRecord != nil {
		record = strconv.FormatBool(*exchange.AddressRecord)
	}
	return []string{o.Refusal.Section, d.Canonical, d.CanonicalRule, role.Word, role.Match,
		provider.Entry, provider.Class, strings.Join(provider.Sources, " "), strings.Join(d.Form, " "),
		exchange.Class, exchange.Provider, exchange.Entry, exchange.Host, record}, nil
}

func (f *CSV) write(dst []byte, rows [][]string) ([]byte, error) {
	if f.Safe {
		for n, row := range rows {
			rows[n] = slices.Clone(row) // it may be the input's
			for i, cell := range row {
				rows[n][i] = Formula(cell)
			}
		}
	}
	w, _ := f.writers.Get().(*rowWriter)
	if w == nil {
		w = &rowWriter{}
		w.Writer = csv.NewWriter(&w.text)
		w.Comma = rune(cmp.Or(f.Layout.Comma, ','))
	}
	defer f.writers.Put(w)
	w.text.Reset()
	err := w.WriteAll(rows)
	return append(dst, w.text.Bytes()...), err
}

const begins = "-=+@\t\r\n\x00＝＋－＠"

var formula = regexp.MustCompile("(^|[;,\t\r\n])([" + begins + "])") // the hyphen is first, so no range

// Formula inserts a single quote before a character that begins a formula, so that a spreadsheet does not
// evaluate the text (OWASP, "CSV Injection"; ASVS 5.0 1.2.10). With some system settings a semicolon or a tab
// starts a cell too.
func Formula(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	switch {
	case strings.ContainsAny(text, ";,\t\r\n"): // few cells do, and the expression takes microseconds
		return formula.ReplaceAllString(text, "$1'$2")
	case size > 0 && strings.ContainsRune(begins, first):
		return "'" + text
	}
	return text
}

func inputColumns(l pipeline.Layout) []string {
	if l.Comma == 0 {
		return []string{"email"}
	}
	names := slices.Clone(l.Header)
	for n := len(names); n < l.Width; n++ {
		names = append(names, columnName(n))
	}
	return names
}

func columnName(index int) string { return "column_" + strconv.Itoa(index+1) }

// distinct returns the names with a prefix that makes them different from those of the input, if one of them
// is not: the same for all, so that a reader finds them. The n-th check of a file has the n-th prefix.
func distinct(names, input []string) []string {
	isTaken := func(name string) bool {
		return slices.ContainsFunc(input, func(column string) bool {
			return strings.EqualFold(strings.TrimSpace(column), name)
		})
	}
	unique := slices.Clone(names)
	for n := 1; slices.ContainsFunc(unique, isTaken); n++ {
		prefix := "addrspec_"
		if n > 1 {
			prefix = fmt.Sprintf("addrspec%d_", n)
		}
		for i, name := range names {
			unique[i] = prefix + name
		}
	}
	return unique
}

// keys returns the names of columns as keys of an object: one that is missing becomes column_3, one that
// occurs before gets its column's number too.
func keys(names []string) []string {
	used := map[string]bool{}
	list := slices.Clone(names)
	for n, name := range list {
		name = cmp.Or(strings.ToValidUTF8(name, "\uFFFD"), columnName(n)) // valid as in the object
		for used[name] {
			name += "_" + strconv.Itoa(n+1)
		}
		list[n], used[name] = name, true
	}
	return list
}

// NDJSON writes one JSON object a record: the result with its bytes unchanged, or
// {"email":…,"error":{"code":…,"message":…}}, or for a record without an address
// {"error":{"code":"NO_ADDRESS","message":…},"line":…}, or BAD_LINE for one that cannot be read. So the n-th
// line of the output is the n-th record of the input, whatever happened to it.
type NDJSON struct {
	// Keep adds the members file (if several are read), line and input. The last is the object of NDJSON, or an
	// object of a row's cells by their column's name; text has none, since it would be the address again.
	Keep   bool
	Layout pipeline.Layout // for Keep

	keys []string
}

// Head appends nothing.
func (f *NDJSON) Head(dst []byte) ([]byte, error) {
	if f.Layout.Comma != 0 {
		f.keys = keys(inputColumns(f.Layout))
	}
	return dst, nil
}

// Append appends the line of one record.
func (f *NDJSON) Append(dst []byte, r *pipeline.Record, o *pipeline.Outcome) ([]byte, error) {
	line := o.JSON
	if p := problemOf(r, o); p.Code != "" {
		object := struct {
			Email *string `json:"email,omitzero"`
			Error problem `json:"error"`
		}{&r.Email, p}
		if r.Err != nil { // what may be garbled is no address
			object.Email = nil
		}
		var err error
		line, err = json.Marshal(object, jsontext.AllowInvalidUTF8(true)) // which becomes U+FFFD
		if err != nil {
			return dst, err
		}
	}
	dst = append(dst, line...)
	if f.Keep || r.Err != nil {
		dst = bytes.TrimSuffix(dst, []byte("}"))
		if r.File != "" {
			dst, _ = jsontext.AppendQuote(append(dst, `,"file":`...), r.File)
		}
		if r.Line > 0 {
			dst = strconv.AppendInt(append(dst, `,"line":`...), r.Line, 10)
		}
		if input := inputOf(r, f.keys); f.Keep && input != nil {
			dst = append(append(dst, `,"input":`...), input...)
		}
		dst = append(dst, '}')
	}
	return append(dst, '\n'), nil
}

// inputOf returns the input of a record as JSON in a line, nil if it is only an address. Cells have the names.
func inputOf(r *pipeline.Record, names []string) []byte {
	if r.Cells == nil {
		object := jsontext.Value(slices.Clone(r.Object))
		if object.Compact() != nil { // no JSON, or nothing
			return nil
		}
		return object
	}
	if more := len(r.Cells) - len(names); more > 0 { // a bad row
		names = keys(append(slices.Clone(names), make([]string, more)...))
	}
	dst := []byte("{")
	for n, cell := range r.Cells {
		if n > 0 {
			dst = append(dst, ',')
		}
		dst, _ = jsontext.AppendQuote(dst, names[n]) // its error is of what becomes U+FFFD
		dst, _ = jsontext.AppendQuote(append(dst, ':'), cell)
	}
	return append(dst, '}')
}
