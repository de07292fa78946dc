package input

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/addrspec/addrspec/origin/check/input/charset"
	"github.com/addrspec/addrspec/origin/check/pipeline"
)

// nextLine returns the address of the next line of text. White space around it remains. A byte
// order mark is dropped, since files may have been joined.
func (r *Reader) nextLine() (pipeline.Record, error) {
	record := pipeline.Record{Line: r.window.lines + 1}
	line, err := r.window.line()
	if err == errMore {
		return record, err
	}
	texts := []string{string(bytes.TrimPrefix(line, []byte(markUTF8)))}
	record.Err = cmp.Or(err, whole(texts, r.Encoding().Name), garbled(texts[0]))
	record.Email = texts[0]
	return record, nil
}

var errNotUTF8 = errors.New("the line is not UTF-8, as others of the input are; " +
	"if all of it is in another encoding, give that with --encoding, else save it as UTF-8")

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
func whole(texts []string, encoding string) error {
	if encoding == charset.UTF8 || encoding == "xlsx" {
		return valid(texts)
	}
	if slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, "\uFFFD") }) {
		return fmt.Errorf("the line has bytes that are no character in %s; "+
			"if all of it is in another encoding, give that with --encoding", encoding)
	}
	return nil
}

// garbled returns why a text is no address or cannot be what the author of the input
// wrote, or nil. In quotation marks, several signs @ may be one local part.
func garbled(email string) error {
	switch {
	case strings.TrimSpace(email) == "":
		return pipeline.ErrNoAddress
	case strings.IndexByte(email, 0) >= 0:
		return errors.New("a NUL byte in the address: this is not text")
	case strings.Count(email, "@") > 1 && !strings.Contains(email, `"`) && several.MatchString(email):
		return errors.New("the cell has several addresses; give each a row of its own")
	}
	return nil
}

// several matches a text with more than one address, with anything between them that
// programs write there, such as " ::: " and "；".
var several = func() *regexp.Regexp {
	const between = ` \t\r\n\x{A0}\x{3000},;:，、；`
	const part = `[^@<>` + between + `]+`
	const address = `<?` + part + `@` + part + `\.` + part + `>?`
	return regexp.MustCompile(`(?s)(^|[` + between + `])` + address + `[` + between + `]` +
		`(.*[` + between + `])?` + address + `([` + between + `]|$)`)
}()
