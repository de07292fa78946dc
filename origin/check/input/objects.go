package input

import (
	"bytes"
	jsonv1 "encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/addrspec/addrspec/origin/check/pipeline"
)

// objects has one address a JSON value: a string, or a string in an object. Its parser
// refuses what encoding/json replaces silently: bytes that are not UTF-8 and lone
// surrogates.
type objects struct {
	key    string            // of the addresses in an object
	spans  bool              // values may span lines
	stream *jsontext.Decoder // of values that may span lines, nil before the first
	closed bool              // the array in it was read
}

// next returns the record of the next value.
func (o *objects) next(w *window) (r pipeline.Record, err error) {
	var value []byte
	if o.spans {
		value, r.Line, err = o.element(w)
	}
	for !o.spans && err == nil && len(value) == 0 { // a blank line is white space between values
		r.Line = w.lines + 1
		value, err = w.line()
		value = bytes.TrimSpace(bytes.TrimPrefix(value, []byte(markUTF8)))
	}
	if err == errLong {
		r.Err = err
		return r, nil
	}
	if err != nil {
		return r, err
	}
	r.Email, r.Err = o.email(value)
	if r.Err == nil || r.Err == pipeline.ErrNoAddress {
		r.Object = bytes.Clone(value)
	}
	return r, nil
}

// element returns the next value of an array, or of objects after each other, and the
// line in which it begins.
func (o *objects) element(w *window) (value []byte, line int64, err error) {
	if o.stream == nil { // email refuses what is not UTF-8, value by value
		o.stream = jsontext.NewDecoder(w, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	}
	kind := o.stream.PeekKind()
	for err == nil && !o.closed && (kind == ']' || kind == '[' && o.stream.StackDepth() == 0) {
		_, err = o.stream.ReadToken()
		o.closed = kind == ']' && err == nil
		kind = o.stream.PeekKind()
	}
	if o.closed && kind != jsontext.KindInvalid {
		return nil, 0, errors.New("text follows the JSON array; give one object a line, as with jq -c '.[]' FILE")
	}
	if err == nil {
		value, err = o.stream.ReadValue()
	}
	unread := o.stream.UnreadBuffer()
	switch {
	case len(value) > maxLine || errors.Is(err, errMore) && len(unread) > maxLine:
		return nil, 0, fmt.Errorf("a JSON value is longer than %d MiB; give one object a line, "+
			"as with jq -c '.[]' FILE", maxLine>>20)
	case errors.Is(err, errMore):
		return nil, 0, errMore
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, 0, errors.New("the JSON array or object is not closed: the input may have been cut off")
	case err != nil:
		return nil, 0, explain(nil, err)
	}
	return value, w.lines - lineEnds(unread) - lineEnds(value) + 1, nil
}

// email returns the address of a value.
func (o *objects) email(value []byte) (string, error) {
	var found any
	err := json.Unmarshal(value, &found, jsontext.AllowDuplicateNames(true)) // the last of equal keys counts
	if err != nil {
		return "", explain(value, err)
	}
	switch whole := found.(type) {
	case string:
	case map[string]any:
		found, err = o.member(whole)
		if err != nil {
			return "", err
		}
	default:
		return "", errors.New("neither a JSON object nor a string: give one a line, as with jq -c '.[]' FILE")
	}
	switch email := found.(type) {
	case nil:
		return "", pipeline.ErrNoAddress
	case string:
		return email, garbled(email)
	}
	return "", fmt.Errorf("the value of the key %q is not a string", o.key)
}

// member returns the value of the key. One that differs in case counts if none is equal.
func (o *objects) member(members map[string]any) (found any, err error) {
	const most, longest = 10, 40
	found, is := members[o.key]
	if is {
		return found, nil
	}
	var similar, others []string
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if strings.EqualFold(name, o.key) {
			similar = append(similar, name)
		} else if len(name) <= longest && !isAddress(name) && len(others) < most {
			others = append(others, fmt.Sprintf("%q", name))
		}
	}
	switch len(similar) {
	case 0:
		return nil, fmt.Errorf("the object has no key %q; name one of its own with --column: %s",
			o.key, strings.Join(others, ", "))
	case 1:
		return members[similar[0]], nil
	}
	return nil, fmt.Errorf("the object has the key %q several times, in different cases", o.key)
}

// explain says why a value cannot be read, without repeating any of it.
func explain(value []byte, err error) error {
	var syntax *jsontext.SyntacticError
	switch {
	case err == io.EOF:
		return err
	case !utf8.Valid(value):
		return errors.New("not JSON: it is not UTF-8 (RFC 8259 section 8.1)")
	case !errors.As(err, &syntax):
		return errors.New("a number in it is too large")
	case jsonv1.Valid(value):
		return errors.New(`an escape from \ud800 to \udfff without the other half of its pair, which is no character`)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("not JSON: it ends too early")
	}
	return fmt.Errorf("not JSON, or more than one value: byte %d is unexpected", syntax.ByteOffset+1)
}
