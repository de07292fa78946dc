package input

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// The errors of an array, after which nothing can be read.
var (
	errLongValue = fmt.Errorf("a JSON value is longer than %d MiB; give one object a line, as with jq -c '.[]' FILE", MaxLine>>20)
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
	case end > MaxLine:
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
