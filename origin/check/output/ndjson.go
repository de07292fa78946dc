package output

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/addrspec/addrspec/origin/check/pipeline"
)

// NDJSON writes one JSON object a record: the result with its bytes unchanged, or
// {"email":…,"error":{"code":…,"message":…}}, or for a record without an address
// {"error":{"code":"NO_ADDRESS","message":…},"line":…}, or BAD_LINE for one that cannot be
// read. So the n-th line of the output is the n-th record of the input, whatever
// happened to it.
type NDJSON struct {
	// Keep adds the members file (if several are read), line and input. The last is
	// the object of NDJSON, or an object of a row's cells by their column's name; text
	// has none, since it would be the address again.
	Keep   bool
	Layout Layout // for Keep; nil if records have no cells

	keys []string
}

// Head appends nothing.
func (f *NDJSON) Head(dst []byte) ([]byte, error) {
	if isCSV(f.Layout) {
		f.keys = keys(inputColumns(f.Layout))
	}
	return dst, nil
}

// Append appends the line of one record.
func (f *NDJSON) Append(dst []byte, r *pipeline.Record, o *pipeline.Outcome) ([]byte, error) {
	var err error
	whole := dst
	switch p := problemOf(r, o); {
	case r.Err != nil:
		whole = appendJSON(whole, map[string]any{"error": p})
	case p.Code != "":
		whole = appendJSON(append(whole, `{"email":`...), r.Email)
		whole = append(appendJSON(append(whole, `,"error":`...), p), '}')
	default: // a service may have sent it with line breaks
		whole, err = appendCompact(whole, o.JSON)
		if err != nil {
			return dst, err
		}
	}
	if f.Keep || r.Err != nil {
		whole = bytes.TrimSuffix(whole, []byte("}"))
		if r.File != "" {
			whole = appendJSON(append(whole, `,"file":`...), r.File)
		}
		if r.Line > 0 {
			whole = appendJSON(append(whole, `,"line":`...), r.Line)
		}
		if input := inputOf(r, f.keys); f.Keep && input != nil {
			whole = append(append(whole, `,"input":`...), input...)
		}
		whole = append(whole, '}')
	}
	return append(whole, '\n'), nil
}

// inputOf returns the input of a record as JSON in one line, or nil if it has no
// more than an address. A row's cells have the keys.
func inputOf(r *pipeline.Record, names []string) []byte {
	if r.Cells == nil {
		object, err := appendCompact(nil, r.Object)
		if err != nil || !json.Valid(object) {
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
		dst = appendJSON(append(appendJSON(dst, names[n]), ':'), cell)
	}
	return append(dst, '}')
}

// appendCompact appends JSON in one line, unchanged if it is one.
func appendCompact(dst, object []byte) ([]byte, error) {
	if bytes.IndexByte(object, '\n') < 0 && bytes.IndexByte(object, '\r') < 0 {
		return append(dst, object...), nil
	}
	line := bytes.NewBuffer(dst)
	err := json.Compact(line, object)
	return line.Bytes(), err
}

// appendJSON appends a value that always has a JSON form.
func appendJSON(dst []byte, value any) []byte {
	if text, ok := value.(string); ok {
		escape := func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r >= utf8.RuneSelf }
		if !strings.ContainsFunc(text, escape) { // as most texts
			return append(append(append(dst, '"'), text...), '"')
		}
		value = strings.ToValidUTF8(text, "\uFFFD")
	}
	line := bytes.NewBuffer(dst)
	encoder := json.NewEncoder(line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err) // a value without a JSON form: a defect
	}
	return bytes.TrimSuffix(line.Bytes(), []byte("\n"))
}
