package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/addrspec/addrspec/origin/check/pipeline"
)

// objects has one address a JSON value: a string, or a string in an object.
type objects struct {
	lines  lines
	values *values // of an input in which a value is not a line, else nil
	key    string  // of the addresses in an object

	decoder jsontext.Decoder
	buffer  bytes.Buffer
	found   []byte
}

// newObjects returns a parser of JSON values. A line is a value, unless the input
// begins with an array, or with an object that goes on in the next line.
func newObjects(beginning []byte, key string) *objects {
	o := &objects{key: key}
	line, _, _ := bytes.Cut(bytes.TrimLeft(beginning, " \t\r\n"), []byte("\n"))
	line = bytes.TrimSpace(line)
	if bytes.HasPrefix(line, []byte("[")) || string(line) == "{" {
		o.values = &values{}
	}
	return o
}

func (o *objects) line() int64 {
	if o.values != nil {
		return o.values.lines + 1
	}
	return o.lines.number
}

// next returns the record of the next value.
func (o *objects) next(w *window) (r pipeline.Record, err error) {
	value, line, err := o.take(w)
	if err != nil && err != errLong {
		return r, err
	}
	r.Line = line
	r.Err = err
	if err != nil {
		return r, nil
	}
	r.Email, r.Err = o.email(value)
	if r.Err == nil || r.Err == pipeline.ErrNoAddress {
		r.Object = bytes.Clone(value)
	}
	return r, nil
}

func (o *objects) take(w *window) (value []byte, line int64, err error) {
	if o.values != nil {
		return o.values.next(w)
	}
	for err == nil && len(value) == 0 { // a blank line is white space between values
		value, err = o.lines.take(w)
		value = bytes.TrimSpace(bytes.TrimPrefix(value, []byte(markUTF8)))
	}
	return value, o.lines.number, err
}

// email returns the address of a value.
func (o *objects) email(value []byte) (string, error) {
	o.reset(value)
	found, err := o.find()
	if err == nil {
		err = o.end()
	}
	if err == nil && found == nil {
		err = o.missing(value)
	}
	if err != nil {
		return "", explain(value, err)
	}
	switch {
	case string(found) == "null":
		return "", pipeline.ErrNoAddress
	case found[0] != '"':
		return "", fmt.Errorf("the value of the key %q is not a string", o.key)
	}
	email, err := jsontext.AppendUnquote(nil, found)
	if err == nil {
		err = garbled(string(email))
	}
	return string(email), err
}

func (o *objects) reset(value []byte) {
	o.buffer = *bytes.NewBuffer(value)
	o.decoder.Reset(&o.buffer, jsontext.AllowDuplicateNames(true))
}

// find returns the JSON text of the address, or nil if an object lacks the key.
func (o *objects) find() ([]byte, error) {
	switch o.decoder.PeekKind() {
	case '{':
		return o.member()
	case '"':
		value, err := o.decoder.ReadValue()
		o.found = append(o.found[:0], value...)
		return o.found, err
	case '[':
		return nil, errors.New("an array is not read here: give one object or string a line, as with jq -c '.[]' FILE")
	}
	if _, err := o.decoder.ReadValue(); err != nil {
		return nil, err
	}
	return nil, errors.New("neither a JSON object nor a string")
}

// member returns the value of the key. A key that differs in case counts if none is
// equal; of equal keys the last one counts, as in the service.
func (o *objects) member() (found []byte, err error) {
	best := differs
	for _, err = o.decoder.ReadToken(); err == nil && o.decoder.PeekKind() == '"'; {
		name, err := o.decoder.ReadValue()
		if err != nil {
			return nil, err
		}
		is := o.match(name)
		value, err := o.decoder.ReadValue()
		if err != nil {
			return nil, err
		}
		if is > differs && is >= best {
			o.found = append(o.found[:0], value...)
			best, found = is, o.found
		}
	}
	if err == nil {
		_, err = o.decoder.ReadToken() // the closing brace
	}
	return found, err
}

// likeness is how much a key is like the one that is looked for.
type likeness uint8

const (
	differs likeness = iota
	differsInCase
	equals
)

func (o *objects) match(quoted []byte) likeness {
	name := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		name, _ = jsontext.AppendUnquote(nil, quoted) // it is valid
	}
	switch {
	case string(name) == o.key:
		return equals
	case strings.EqualFold(string(name), o.key):
		return differsInCase
	}
	return differs
}

// end returns an error if something follows the value.
func (o *objects) end() error {
	_, err := o.decoder.ReadToken()
	if err == nil {
		return errors.New("more than one JSON value on a line")
	}
	if err == io.EOF {
		return nil
	}
	return err
}

// missing returns the error of an object without the key.
func (o *objects) missing(value []byte) error {
	const most, longest = 10, 40
	var names []string
	o.reset(value)
	for _, err := o.decoder.ReadToken(); err == nil && len(names) < most && o.decoder.PeekKind() == '"'; err = o.decoder.SkipValue() {
		name, err := o.decoder.ReadToken()
		if err == nil && len(name.String()) <= longest && !isAddress(name.String()) {
			names = append(names, fmt.Sprintf("%q", name.String()))
		}
	}
	return fmt.Errorf("the object has no key %q; name one of its own with --column: %s", o.key, strings.Join(names, ", "))
}

// explain says why a value cannot be read, without repeating any of it.
func explain(value []byte, err error) error {
	var syntax *jsontext.SyntacticError
	switch {
	case !errors.As(err, &syntax):
		return err
	case !utf8.Valid(value):
		return errors.New("not JSON: it is not UTF-8 (RFC 8259 section 8.1)")
	case json.Valid(value): // encoding/json accepts it
		return errors.New(`an escape from \ud800 to \udfff without the other half of its pair, which is no character`)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("not JSON: it ends too early")
	}
	return fmt.Errorf("not JSON: byte %d is unexpected", syntax.ByteOffset+1)
}

// The errors of an array, after which nothing can be read.
var (
	errLongValue = fmt.Errorf("a JSON value is longer than %d MiB; give one object a line, as with jq -c '.[]' FILE", maxLine>>20)
	errOpenArray = errors.New("the JSON array is not closed: the input may have been cut off")
	errAfterJSON = errors.New("text follows the JSON array; give one object a line, as with jq -c '.[]' FILE")
)

// values takes JSON values from a window: those of one array, or several after each
// other. It finds only where they end. Their parser checks them.
type values struct {
	lines int64 // line ends that were used
	array struct{ open, closed bool }
	scan  valueScan
}

// next returns the next value and the line in which it begins.
func (v *values) next(w *window) (value []byte, line int64, err error) {
	if v.scan.at == 0 {
		if err := v.separators(w); err != nil {
			return nil, v.lines + 1, err
		}
	}
	rest := w.rest()
	end, whole := v.scan.to(rest)
	switch {
	case end > maxLine:
		return nil, v.lines + 1, errLongValue
	case !whole && !w.ended():
		return nil, v.lines + 1, errMore
	}
	line = v.lines + 1
	v.lines += lineFeeds(rest[:end])
	w.use(end)
	v.scan = valueScan{}
	return rest[:end], line, nil
}

// separators uses what is between values. After it, the window holds the beginning
// of one.
func (v *values) separators(w *window) error {
	for len(w.rest()) > 0 {
		switch c := w.rest()[0]; {
		case c == ' ' || c == '\t' || c == '\r':
		case c == '\n':
			v.lines++
		case v.array.closed:
			return errAfterJSON
		case c == ',' && v.array.open:
		case c == '[' && !v.array.open:
			v.array.open = true
		case c == ']' && v.array.open:
			v.array.closed = true
		default:
			return nil
		}
		w.use(1)
	}
	if w.err == io.EOF && v.array.open && !v.array.closed {
		return errOpenArray
	}
	return errMore
}

func lineFeeds(text []byte) int64 { return int64(bytes.Count(text, []byte("\n"))) }

// A valueScan is how far a value was scanned.
type valueScan struct {
	at      int // the next byte
	depth   int // of open braces and brackets
	text    bool
	escaped bool
}

// to scans on to the end of the value, or of rest.
func (s *valueScan) to(rest []byte) (end int, whole bool) {
	for ; s.at < len(rest); s.at++ {
		c := rest[s.at]
		if s.at > 0 && s.depth == 0 && !s.text && ends(rest[s.at-1], c) {
			return s.at, true
		}
		s.step(c)
	}
	return s.at, s.at > 0 && s.depth == 0 && !s.text && closes(rest[s.at-1])
}

func (s *valueScan) step(c byte) {
	switch {
	case s.escaped:
		s.escaped = false
	case s.text && c == '\\':
		s.escaped = true
	case c == '"':
		s.text = !s.text
	case s.text:
	case c == '{' || c == '[':
		s.depth++
	case c == '}' || c == ']':
		s.depth--
	}
}

// ends reports whether a value ends between two bytes: after the one that closes
// it, or before a separator.
func ends(before, next byte) bool {
	return closes(before) || bytes.IndexByte([]byte(" \t\r\n,]}"), next) >= 0
}

func closes(c byte) bool { return c == '"' || c == '}' || c == ']' }
