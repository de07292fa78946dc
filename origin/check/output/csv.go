package output

import (
	"slices"
	"strconv"
	"strings"

	"github.com/addrspec/addrspec/origin/check"
	"github.com/addrspec/addrspec/origin/result"
)

// byteOrderMark makes Excel read a file as UTF-8.
const byteOrderMark = "\uFEFF"

// CSV writes a row a record: the columns of the input with their cells as they
// came, then the result. The separator is that of the input; rows end with LF.
//
// Of an input that is not CSV, the first column is email. A cell is empty where the
// result has null, and mx where nothing was looked up. The columns reason and
// reason_offset are the code of a refusal and the offset of the offending byte;
// error is the code of an address that could not be checked, or BAD_LINE; message
// says either in words.
//
// A bad row keeps its cells. Those beyond the width of the table follow the result,
// so that the columns of the result remain in their place.
type CSV struct {
	Layout   Layout // nil if records have no cells
	Details  bool   // add the columns of the evidence
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
	if f.kept {
		names = append(names, "line", "input")
	}
	return names
}

func (f *CSV) row(dst []byte) csvRow { return csvRow{dst: dst, comma: f.comma, safe: f.Safe} }

// Append appends the row of one record.
func (f *CSV) Append(dst []byte, r *check.Record, o *check.Outcome) ([]byte, error) {
	row := f.row(dst)
	extra := f.input(&row, r)
	if err := f.result(&row, r, o); err != nil {
		return dst, err
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
func (f *CSV) input(row *csvRow, r *check.Record) (extra []string) {
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
func (f *CSV) result(row *csvRow, r *check.Record, o *check.Outcome) error {
	switch {
	case r.Err != nil:
		f.problem(row, BadLine, r.Err.Error())
	case o.Code != "":
		f.problem(row, o.Code, o.Message)
	default:
		return f.fields(row, o)
	}
	return nil
}

func (f *CSV) problem(row *csvRow, code, message string) {
	row.skip(len(resultColumns) - 2)
	row.add(code)
	row.add(message)
	if f.Details {
		row.skip(len(detailColumns))
	}
}

// fieldOrder has the fields in the order of the contract, as resultColumns.
var fieldOrder = []result.Field{result.Valid, result.Normalized, result.LocalPart, result.Domain, result.Alias, result.ASCII,
	result.Role, result.Gibberish, result.GibberishScore, result.MX, result.Disposable, result.Public, result.Relay,
	result.Typo, result.TypoSuggestion}

// fields appends the columns of a result.
func (f *CSV) fields(row *csvRow, o *check.Outcome) error {
	values, err := result.Split(o.JSON)
	if err != nil {
		return err
	}
	if o.MX == check.MXUnknown || string(values[result.Valid]) == "false" {
		values[result.MX] = nil
	}
	for _, field := range fieldOrder {
		row.value(values[field])
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
func (f *CSV) details(row *csvRow, o *check.Outcome) error {
	parsed, err := result.Parse(o.JSON)
	if err != nil {
		return err
	}
	refusal := refusalOf(&parsed, o)
	f.reason(row, &refusal)
	d := evidenceOf(&parsed)
	for _, cell := range []string{refusal.Section, d.Canonical, d.CanonicalRule, d.Role.Word, d.Role.Match,
		d.Provider.Entry, d.Provider.Class, strings.Join(d.Provider.Sources, " ")} {
		row.add(cell)
	}
	return nil
}

// lineNumber is empty for an argument.
func lineNumber(r *check.Record) string {
	if r.Line == 0 {
		return ""
	}
	return strconv.FormatInt(r.Line, 10)
}
