package output

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

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

// inputOf returns the input of a record as JSON in one line, or nil if it has no
// more than an address. A row's cells have the keys.
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
