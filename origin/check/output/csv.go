package output

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/addrspec/addrspec/origin/check/pipeline"
	"github.com/addrspec/addrspec/wasm/result"
)

// byteOrderMark makes Excel read a file as UTF-8.
const byteOrderMark = "\uFEFF"

// CSV writes a row a record: the columns of the input with their cells as they
// came, then the result. The separator is that of the input; rows end with LF.
//
// Of an input that is not CSV, the first column is email. A cell is empty where the
// result has null, such as mx where nothing was looked up. The columns reason and
// reason_offset are the code of a refusal and the offset of the offending byte;
// error is the code of an address that could not be checked, NO_ADDRESS or BAD_LINE;
// message says either in words. The page Lists of the dashboard writes the same layout
// (list-file.js).
//
// A bad row keeps its cells. Those beyond the width of the table follow the result,
// so that the columns of the result remain in their place.
type CSV struct {
	Layout   Layout // nil if records have no cells
	Details  bool   // add the columns of the evidence
	Policy   bool   // add the columns of the verdict
	Keep     bool   // add the columns line and input for records without cells
	Safe     bool   // escape cells for spreadsheets
	BOM      bool   // begin with a byte order mark
	NoHeader bool   // as for a run that is resumed

	input   int       // how many columns it has
	writers sync.Pool // of *csvWriter, since several goroutines append
}

// resultColumns are the columns that follow those of the input: the fields of a result
// in their order, but for email, which the input has.
var resultColumns = append(result.Names[result.Valid:], "reason", "reason_offset", "error", "message")

// detailColumns follow with details.
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
	if f.Keep && !isCSV(f.Layout) {
		names = append(names, "line", "input")
	}
	f.input = len(input)
	f.writers.New = func() any {
		w := &csvWriter{row: make([]string, len(input)+len(names)), safe: f.Safe}
		w.Writer = csv.NewWriter(&w.text)
		if isCSV(f.Layout) {
			w.Comma = rune(f.Layout.Comma())
		}
		return w
	}
	if f.NoHeader {
		return dst, nil
	}
	if f.BOM {
		dst = append(dst, byteOrderMark...)
	}
	rows := [][]string{append(input, distinct(names, input)...)}
	if f.Layout != nil {
		rows = append(slices.Clone(f.Layout.Preamble()), rows...)
	}
	w := f.writers.Get().(*csvWriter)
	for _, row := range rows {
		var err error
		dst, err = w.append(dst, slices.Clone(row))
		if err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// Append appends the row of one record.
func (f *CSV) Append(dst []byte, r *pipeline.Record, o *pipeline.Outcome) ([]byte, error) {
	cells := r.Cells
	if !isCSV(f.Layout) {
		cells = []string{r.Email}
	}
	w := f.writers.Get().(*csvWriter)
	defer f.writers.Put(w)
	clear(w.row)
	width := copy(w.row[:f.input], cells)
	columns := w.row[f.input:]
	if p := problemOf(r, o); p.Code != "" {
		copy(columns[len(resultColumns)-2:], []string{p.Code, p.Message})
	} else if err := f.result(columns, o); err != nil {
		return dst, err
	}
	columns = columns[len(resultColumns):]
	if f.Details {
		columns = columns[len(detailColumns):]
	}
	if f.Policy { // empty without a result
		n := copy(columns, []string{o.Verdict.Action, o.Verdict.Reason, o.Verdict.Rule})
		columns = columns[n:]
	}
	if len(columns) > 0 { // line and input
		if r.Line > 0 { // else it is an argument
			columns[0] = strconv.FormatInt(r.Line, 10)
		}
		columns[1] = string(inputOf(r, nil))
	}
	return w.append(dst, append(slices.Clip(w.row), cells[width:]...))
}

// result sets the columns of a result.
func (f *CSV) result(columns []string, o *pipeline.Outcome) error {
	values, err := result.Split(o.JSON)
	if err != nil {
		return err
	}
	for n, value := range values[result.Valid:] {
		switch string(value) { // most values need no copy
		case "true":
			columns[n] = "true"
		case "false":
			columns[n] = "false"
		default:
			columns[n] = result.Text(value)
		}
	}
	refusal := o.Refusal
	if f.Details {
		parsed, err := result.Parse(o.JSON)
		if err != nil {
			return err
		}
		refusal = refusalOf(&parsed, o)
		d := cmp.Or(parsed.Details, new(result.Details))
		role, provider := cmp.Or(d.Role, new(result.RoleEvidence)), cmp.Or(d.Provider, new(result.ProviderEvidence))
		exchange, record := cmp.Or(d.Exchange, new(result.Exchange)), ""
		if exchange.AddressRecord != nil {
			record = strconv.FormatBool(*exchange.AddressRecord)
		}
		copy(columns[len(resultColumns):], []string{refusal.Section, d.Canonical, d.CanonicalRule, role.Word, role.Match,
			provider.Entry, provider.Class, strings.Join(provider.Sources, " "), strings.Join(d.Form, " "),
			exchange.Class, exchange.Provider, exchange.Entry, exchange.Host, record})
	}
	if refusal.Code != "" {
		copy(columns[len(resultColumns)-4:], []string{refusal.Code, strconv.Itoa(refusal.Offset), "", refusal.Sentence})
	}
	return nil
}

// A csvWriter writes rows to its text. It is used again, as is its row.
type csvWriter struct {
	*csv.Writer
	text bytes.Buffer
	row  []string
	safe bool
}

// append appends a row, whose cells it may escape.
func (w *csvWriter) append(dst []byte, row []string) ([]byte, error) {
	if w.safe {
		for n, cell := range row {
			row[n] = Formula(cell)
		}
	}
	w.text.Reset()
	err := w.Write(row)
	w.Flush()
	return append(dst, w.text.Bytes()...), err
}

// refusalOf returns why an address is not valid. A service gives it with the
// details, the module in any case.
func refusalOf(r *result.Result, o *pipeline.Outcome) result.Refusal {
	if o.Refusal.Code == "" && r.Details != nil && r.Details.Refusal != nil {
		return *r.Details.Refusal
	}
	return o.Refusal
}

// inputColumns returns the names of the input's columns.
func inputColumns(l Layout) []string {
	if !isCSV(l) {
		return []string{"email"}
	}
	names := slices.Clone(l.Header())
	for n := len(names); n < l.Width(); n++ {
		names = append(names, columnName(n))
	}
	return names
}

// columnName is the name of a column without one.
func columnName(index int) string { return "column_" + strconv.Itoa(index+1) }

// distinct returns the names with a prefix that makes them different from those of
// the input, if one of them is not: the same for all, so that a reader finds them.
// The n-th check of the same file has the n-th prefix.
func distinct(names, input []string) []string {
	taken := make(map[string]bool, len(input))
	for _, name := range input {
		taken[strings.ToLower(strings.TrimSpace(name))] = true
	}
	isTaken := func(name string) bool { return taken[name] }
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

// keys returns the names of the input's columns as keys of an object: one that is
// missing becomes column_3, one that occurs before gets its column's number too.
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
