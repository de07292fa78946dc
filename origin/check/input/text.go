package input

import (
	"bytes"
	"errors"
	"strings"

	"github.com/addrspec/addrspec/origin/check"
)

// text has one address a line.
type text struct {
	lines lines
	utf16 bool
}

func (t *text) line() int64 { return t.lines.number }

// next returns the address of the next line that is not blank. White space around
// it remains. A byte order mark is dropped, since files may have been joined.
func (t *text) next(w *window) (r check.Record, err error) {
	line, err := t.lines.next(w)
	if err == errMore {
		return r, err
	}
	r.Line = t.lines.number
	if r.Err = err; err == nil {
		r.Email = string(bytes.TrimPrefix(line, []byte(markUTF8)))
		r.Err = garbled(r.Email, t.utf16)
	}
	return r, nil
}

// garbled returns why an address cannot be what the author of the input wrote, or
// nil.
func garbled(email string, utf16 bool) error {
	if strings.IndexByte(email, 0) >= 0 {
		return errors.New("a NUL byte in the address: this is not text")
	}
	if utf16 && strings.Contains(email, "\uFFFD") {
		return errors.New("the address is not well-formed UTF-16: half of a surrogate pair")
	}
	return nil
}
