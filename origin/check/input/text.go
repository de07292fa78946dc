package input

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/addrspec/addrspec/origin/check/pipeline"
)

// text has one address a line.
type text struct {
	lines   lines
	decoded string // the encoding, "" of UTF-8
}

func (t *text) line() int64 { return t.lines.number }

// next returns the address of the next line. White space around it remains. A byte
// order mark is dropped, since files may have been joined.
func (t *text) next(w *window) (r pipeline.Record, err error) {
	line, err := t.lines.take(w)
	if err == errMore {
		return r, err
	}
	r.Line = t.lines.number
	r.Err = err
	if err == nil {
		line := []string{string(bytes.TrimPrefix(line, []byte(markUTF8)))}
		r.Err = whole(line, t.decoded)
		r.Email = line[0]
		if r.Err == nil {
			r.Err = garbled(r.Email)
		}
	}
	return r, nil
}

// errNotUTF8 is the error of a line in another encoding than the input before it.
var errNotUTF8 = errors.New("the line is not UTF-8, as others of the input are; if all of it is in another encoding, give that " +
	"with --encoding, else save it as UTF-8")

// valid returns errNotUTF8 if one of the texts is not UTF-8. Such a text is replaced,
// since what is written is UTF-8.
func valid(texts []string) (err error) {
	for n, text := range texts {
		if !utf8.ValidString(text) {
			texts[n], err = strings.ToValidUTF8(text, "\uFFFD"), errNotUTF8
		}
	}
	return err
}

// whole returns why one of the texts is not what was written: it is not UTF-8, or had bytes that
// are no characters in the encoding from which it was decoded.
func whole(texts []string, decoded string) error {
	if decoded == "" {
		return valid(texts)
	}
	for _, text := range texts {
		if strings.Contains(text, "\uFFFD") {
			return fmt.Errorf("the line has bytes that are no character in %s; if all of it is in another encoding, give that with --encoding",
				decoded)
		}
	}
	return nil
}

// garbled returns why a text is no address or cannot be what the author of the input
// wrote, or nil.
func garbled(email string) error {
	switch {
	case strings.TrimSpace(email) == "":
		return pipeline.ErrNoAddress
	case strings.IndexByte(email, 0) >= 0:
		return errors.New("a NUL byte in the address: this is not text")
	case several(email):
		return errors.New("the cell has several addresses; give each a row of its own")
	}
	return nil
}

// oneOfSeveral matches an address among others.
var oneOfSeveral = regexp.MustCompile(`^<?[^@<>]+@[^@<>]+\.[^@<>]+>?$`)

// several reports whether a text has more than one address, with anything between them that
// programs write there, such as " ::: " and "；". In quotation marks is a local part.
func several(text string) bool {
	if strings.Count(text, "@") < 2 || strings.Contains(text, `"`) {
		return false
	}
	found := 0
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n\u00A0\u3000,;:，、；", r) }) {
		if oneOfSeveral.MatchString(part) {
			found++
		}
	}
	return found > 1
}

// errLong is the error of a line beyond the limit.
var errLong = fmt.Errorf("the line is longer than %d MiB", maxLine>>20)

// lines takes lines from a window. LF, CRLF and CR end a line: old programs of the
// Mac write CR.
type lines struct {
	number int64 // of the line that was taken last
	at     int   // how many bytes of the window were searched
	afterCR
	long bool // the beginning of the present line was dropped
}

// take returns the next line, without its end. It is valid until the window reads on.
// A line that is too long is dropped as it comes.
func (l *lines) take(w *window) ([]byte, error) {
	l.skipLF(w)
	rest := w.rest()
	end := bytes.IndexAny(rest[l.at:], "\r\n")
	if end >= 0 {
		end += l.at
	} else {
		end = len(rest)
	}
	l.at = end
	if end > maxLine {
		l.long = true
		w.use(end)
		l.at = 0
		rest, end = rest[end:], 0
	}
	if end == len(rest) && (!w.ended() || end == 0 && !l.long) {
		return nil, errMore
	}
	l.use(w, end)
	long := l.long
	l.at, l.long = 0, false
	l.number++
	if long {
		return nil, errLong
	}
	return rest[:end], nil
}

// afterCR is whether a CR was the last byte that was used: a line that ends with it
// is complete, and an LF that follows belongs to it.
type afterCR bool

// use uses the bytes up to the line end at end, and the line end.
func (a *afterCR) use(w *window, end int) {
	rest := w.rest()
	if end == len(rest) { // the input ends without one
		w.use(end)
		return
	}
	w.use(end + 1)
	*a = rest[end] == '\r'
	a.skipLF(w)
}

// skipLF uses the LF after a CR, if it has arrived.
func (a *afterCR) skipLF(w *window) {
	rest := w.rest()
	if !*a || len(rest) == 0 {
		return
	}
	if rest[0] == '\n' {
		w.use(1)
	}
	*a = false
}
