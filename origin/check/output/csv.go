package output

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

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
	Safe     bool   // escape cells for spreadsheets, and begin with a byte order mark
	NoHeader bool   // as for a run that is resumed

	comma byte
	width int // of the input
	kept  bool
}

// Head appends the header.
func (f *CSV) Head(dst []byte) ([]byte, error) {
	input := inputColumns(f.Layout)
	f.comma, f.width, f.kept = ',', len(input), f.Keep
	if isCSV(f.Layout) {
		f.comma, f.kept = f.Layout.Comma(), false
	}
	if f.NoHeader {
		return dst, nil
	}
	if f.Safe {
		dst = append(dst, byteOrderMark...)
	}
	row := f.row(dst)
	for _, name := range append(input, distinct(f.columns(), input)...) {
		row.add(name)
	}
	return append(row.dst, '\n'), nil
}

// columns returns the names of the columns that follow those of the input.
func (f *CSV) columns() []string {
	names := slices.Clone(resultColumns)
	if f.Details {
		names = append(names, detailColumns...)
	}
	if f.Policy {
		names = append(names, verdictColumns...)
	}
	if f.kept {
		names = append(names, "line", "input")
	}
	return names
}

func (f *CSV) row(dst []byte) csvRow { return csvRow{dst: dst, comma: f.comma, safe: f.Safe} }

// Append appends the row of one record.
func (f *CSV) Append(dst []byte, r *pipeline.Record, o *pipeline.Outcome) ([]byte, error) {
	row := f.row(dst)
	extra := f.input(&row, r)
	if err := f.result(&row, r, o); err != nil {
		return dst, err
	}
	if f.Policy { // empty without a result
		row.add(o.Verdict.Action)
		row.add(o.Verdict.Reason)
		row.add(o.Verdict.Rule)
	}
	if f.kept {
		row.add(lineNumber(r))
		row.add(string(inputOf(r, nil)))
	}
	for _, cell := range extra {
		row.add(cell)
	}
	return append(row.dst, '\n'), nil
}

// input appends the cells of the input. It returns those beyond its width.
func (f *CSV) input(row *csvRow, r *pipeline.Record) (extra []string) {
	cells := r.Cells
	if !isCSV(f.Layout) {
		cells = []string{r.Email}
	}
	if len(cells) > f.width {
		cells, extra = cells[:f.width], cells[f.width:]
	}
	for _, cell := range cells {
		row.add(cell)
	}
	row.skip(f.width - len(cells))
	return extra
}

// result appends the columns of the result, or of the error.
func (f *CSV) result(row *csvRow, r *pipeline.Record, o *pipeline.Outcome) error {
	switch {
	case r.Err != nil:
		f.problem(row, problemOf(r.Err))
	case o.Code != "":
		f.problem(row, problem{o.Code, o.Message})
	default:
		return f.fields(row, o)
	}
	return nil
}

func (f *CSV) problem(row *csvRow, p problem) {
	row.skip(len(resultColumns) - 2)
	row.add(p.Code)
	row.add(p.Message)
	if f.Details {
		row.skip(len(detailColumns))
	}
}

// fields appends the columns of a result.
func (f *CSV) fields(row *csvRow, o *pipeline.Outcome) error {
	values, err := result.Split(o.JSON)
	if err != nil {
		return err
	}
	for _, value := range values[result.Valid:] {
		row.value(value)
	}
	if !f.Details {
		f.reason(row, &o.Refusal)
		return nil
	}
	return f.details(row, o)
}

// reason appends the columns reason, reason_offset, error and message.
func (f *CSV) reason(row *csvRow, refusal *result.Refusal) {
	if refusal.Code == "" {
		row.skip(4)
		return
	}
	row.add(refusal.Code)
	row.add(strconv.Itoa(refusal.Offset))
	row.skip(1)
	row.add(refusal.Sentence)
}

// details appends the same columns and those of the evidence.
func (f *CSV) details(row *csvRow, o *pipeline.Outcome) error {
	parsed, err := result.Parse(o.JSON)
	if err != nil {
		return err
	}
	refusal := refusalOf(&parsed, o)
	f.reason(row, &refusal)
	d := evidenceOf(&parsed)
	for _, cell := range []string{refusal.Section, d.Canonical, d.CanonicalRule, d.Role.Word, d.Role.Match,
		d.Provider.Entry, d.Provider.Class, strings.Join(d.Provider.Sources, " "), strings.Join(d.Form, " "),
		d.Exchange.Class, d.Exchange.Provider, d.Exchange.Entry, d.Exchange.Host, optional(d.Exchange.AddressRecord)} {
		row.add(cell)
	}
	return nil
}

// lineNumber is empty for an argument.
func lineNumber(r *pipeline.Record) string {
	if r.Line == 0 {
		return ""
	}
	return strconv.FormatInt(r.Line, 10)
}

// resultColumns are the columns that follow those of the input: the fields of a result
// in their order, but for email, which the input has.
var resultColumns = append(result.Names[result.Valid:], "reason", "reason_offset", "error", "message")

// detailColumns follow with details.
var detailColumns = []string{"reason_section", "canonical", "canonical_rule", "role_word", "role_match",
	"provider_entry", "provider_class", "provider_sources", "form",
	"exchange_class", "exchange_provider", "exchange_entry", "exchange_host", "address_record"}

// optional is the cell of a value that may be null.
func optional(value *bool) string {
	if value == nil {
		return ""
	}
	return strconv.FormatBool(*value)
}

// verdictColumns follow with a policy. The column reason is that of a refusal.
var verdictColumns = []string{"verdict", "verdict_reason", "verdict_rule"}

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
func distinct(names, input []string) []string {
	taken := make(map[string]bool, len(input))
	for _, name := range input {
		taken[strings.ToLower(strings.TrimSpace(name))] = true
	}
	isTaken := func(name string) bool { return taken[name] }
	unique := slices.Clone(names)
	for n := 1; slices.ContainsFunc(unique, isTaken); n++ {
		for i, name := range names {
			unique[i] = prefix(n) + name
		}
	}
	return unique
}

// prefix is that of the results of the n-th check of the same file.
func prefix(n int) string {
	if n == 1 {
		return "addrspec_"
	}
	return "addrspec" + strconv.Itoa(n) + "_"
}

// keys returns the names of the input's columns as keys of an object: one that is
// missing becomes column_3, one that occurs before gets its column's number too.
func keys(names []string) []string {
	used := map[string]bool{}
	list := slices.Clone(names)
	for n, name := range list {
		name = strings.ToValidUTF8(name, "\uFFFD") // as in the object
		if name == "" {
			name = columnName(n)
		}
		for used[name] {
			name += "_" + strconv.Itoa(n+1)
		}
		list[n], used[name] = name, true
	}
	return list
}

// A csvRow appends the cells of one row (RFC 4180).
type csvRow struct {
	dst   []byte
	comma byte
	safe  bool // escape what a spreadsheet would evaluate
	cells int
}

// add appends a cell.
func (r *csvRow) add(text string) {
	if r.safe {
		text = Formula(text)
	}
	r.dst = appendCell(r.separate(), text, r.comma)
}

// value appends the cell of a JSON value. Most values are appended without a copy.
func (r *csvRow) value(v []byte) {
	switch {
	case r.safe || bytes.IndexByte(v, '\\') >= 0:
		r.add(result.Text(v))
	case len(v) > 1 && v[0] == '"':
		r.dst = appendCell(r.separate(), v[1:len(v)-1], r.comma)
	case len(v) == 4 && string(v) == "null":
		r.dst = r.separate()
	default:
		r.dst = appendCell(r.separate(), v, r.comma)
	}
}

// skip appends empty cells.
func (r *csvRow) skip(n int) {
	for range n {
		r.dst = r.separate()
	}
}

func (r *csvRow) separate() []byte {
	if r.cells++; r.cells > 1 {
		return append(r.dst, r.comma)
	}
	return r.dst
}

// appendCell appends a cell, in quotation marks if it needs them. As in
// encoding/csv, one that begins with white space gets them too.
func appendCell[T string | []byte](dst []byte, text T, comma byte) []byte {
	if !needsQuotes(text, comma) {
		return append(dst, text...)
	}
	dst = slices.Grow(dst, len(text)+2)
	dst = append(dst, '"')
	for n := range len(text) {
		if text[n] == '"' {
			dst = append(dst, '"')
		}
		dst = append(dst, text[n])
	}
	return append(dst, '"')
}

func needsQuotes[T string | []byte](text T, comma byte) bool {
	if len(text) > 0 && strings.IndexByte(" \t", text[0]) >= 0 {
		return true
	}
	for n := range len(text) {
		if c := text[n]; c == comma || c == '"' || c == '\n' || c == '\r' {
			return true
		}
	}
	return false
}

// refusalOf returns why an address is not valid. A service gives it with the
// details, the module in any case.
func refusalOf(r *result.Result, o *pipeline.Outcome) result.Refusal {
	if o.Refusal.Code == "" && r.Details != nil && r.Details.Refusal != nil {
		return *r.Details.Refusal
	}
	return o.Refusal
}

// evidenceOf returns the details with empty values in place of nil ones.
func evidenceOf(r *result.Result) result.Details {
	var d result.Details
	if r.Details != nil {
		d = *r.Details
	}
	if d.Role == nil {
		d.Role = new(result.RoleEvidence)
	}
	if d.Provider == nil {
		d.Provider = new(result.ProviderEvidence)
	}
	if d.Exchange == nil {
		d.Exchange = new(result.Exchange)
	}
	return d
}
