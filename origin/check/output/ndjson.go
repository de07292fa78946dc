package output

import (
	"bytes"
	"encoding/json"
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
	start := len(dst)
	dst, err := appendObject(dst, r, o)
	if err != nil {
		return dst[:start], err
	}
	if f.Keep {
		dst = f.keep(bytes.TrimSuffix(dst, []byte("}")), r)
	} else if r.Err != nil {
		dst = append(appendPlace(bytes.TrimSuffix(dst, []byte("}")), r), '}')
	}
	return append(dst, '\n'), nil
}

// appendObject appends the object without what was kept of the input. A service may
// have sent it with line breaks.
func appendObject(dst []byte, r *pipeline.Record, o *pipeline.Outcome) ([]byte, error) {
	switch {
	case r.Err != nil:
		return appendJSON(dst, map[string]any{"error": problemOf(r.Err)}), nil
	case o.Code != "":
		dst = appendJSON(append(dst, `{"email":`...), r.Email)
		return append(appendJSON(append(dst, `,"error":`...), problem{o.Code, o.Message}), '}'), nil
	}
	return appendCompact(dst, o.JSON)
}

// A problem is why there is no result.
type problem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// keep appends the members of the input and the end of the object.
func (f *NDJSON) keep(dst []byte, r *pipeline.Record) []byte {
	dst = appendPlace(dst, r)
	if input := inputOf(r, f.keys); input != nil {
		dst = append(append(dst, `,"input":`...), input...)
	}
	return append(dst, '}')
}

// appendPlace appends the members file and line. An argument has neither.
func appendPlace(dst []byte, r *pipeline.Record) []byte {
	if r.File != "" {
		dst = appendJSON(append(dst, `,"file":`...), r.File)
	}
	if r.Line > 0 {
		dst = appendJSON(append(dst, `,"line":`...), r.Line)
	}
	return dst
}

// inputOf returns the input of a record as JSON in one line, or nil if it has no
// more than an address.
func inputOf(r *pipeline.Record, keys []string) []byte {
	if r.Cells != nil {
		return cellsObject(r.Cells, keys)
	}
	object, err := appendCompact(nil, r.Object)
	if err != nil || !json.Valid(object) {
		return nil
	}
	return object
}

// cellsObject returns an object of cells.
func cellsObject(cells, names []string) []byte {
	if len(cells) > len(names) { // a bad row
		names = keys(append(names[:len(names):len(names)], make([]string, len(cells)-len(names))...))
	}
	dst := []byte{'{'}
	for n, cell := range cells {
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
		return appendString(dst, text)
	}
	return encode(dst, value)
}

// appendString appends a JSON string. Most texts need no escapes.
func appendString(dst []byte, text string) []byte {
	for n := range len(text) {
		if c := text[n]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return encode(dst, strings.ToValidUTF8(text, "\uFFFD"))
		}
	}
	return append(append(append(dst, '"'), text...), '"')
}

func encode(dst []byte, value any) []byte {
	line := bytes.NewBuffer(dst)
	encoder := json.NewEncoder(line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err) // a value without a JSON form: a defect
	}
	return bytes.TrimSuffix(line.Bytes(), []byte("\n"))
}
