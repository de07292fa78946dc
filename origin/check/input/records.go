package input

import (
	"bytes"
	"cmp"
	jsonv1 "encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/addrspec/addrspec/origin/check/input/charset"
	"github.com/addrspec/addrspec/origin/check/pipeline"
)

// nextLine returns the address of the next line of text. White space around it remains. A byte order mark is
// dropped, since files may have been joined.
func (r *Reader) nextLine() (pipeline.Record, error) {
	record := pipeline.Record{Line: r.window.lines + 1}
	line, err := r.window.line()
	if err == errMore {
		return record, err
	}
	texts := []string{string(bytes.TrimPrefix(line, []byte(markUTF8)))}
	record.Err = cmp.Or(err, whole(texts, r.Reading().Encoding), garbled(texts[0]))
	record.Email = texts[0]
	return record, nil
}

var errNotUTF8 = errors.New("the line is not UTF-8, as others of the input are; " +
	"if all of it is in another encoding, give that with --encoding, else save it as UTF-8")

// valid returns errNotUTF8 if one of the texts is not UTF-8. Such a text is replaced, since UTF-8 is written.
func valid(texts []string) (err error) {
	for n, text := range texts {
		if !utf8.ValidString(text) {
			texts[n], err = strings.ToValidUTF8(text, "\uFFFD"), errNotUTF8
		}
	}
	return err
}

// whole returns why one of the texts is not what was written: it is not UTF-8, or had bytes that are no
// characters in the encoding from which it was decoded.
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

// garbled returns why a text is no address or cannot be what the author of the input wrote, or nil. In quotation
// marks, several signs @ may be one local part.
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

// several matches a text with more than one address, with what programs write between them, such as " ::: ".
var several = func() *regexp.Regexp {
	const between = ` \t\r\n\x{A0}\x{3000},;:，、；`
	const part = `[^@<>` + between + `]+`
	const address = `<?` + part + `@` + part + `\.` + part + `>?`
	return regexp.MustCompile(`(?s)(^|[` + between + `])` + address + `[` + between + `]` +
		`(.*[` + between + `])?` + address + `([` + between + `]|$)`)
}()

// objects has one address a JSON value: a string, or a string in an object. Its parser refuses what encoding/json
// replaces silently: bytes that are not UTF-8 and lone surrogates.
type objects struct{ key string } // of the addresses in an object

func (o *objects) next(w *window) (r pipeline.Record, err error) {
	var value []byte
	for err == nil && len(value) == 0 { // a blank line is white space between values
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

func (o *objects) member(members map[string]any) (found any, err error) {
	const most, longest = 10, 40
	found, is := members[o.key]
	if is {
		return found, nil
	}
	var others []string
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if strings.EqualFold(name, o.key) {
			return members[name], nil
		}
		if len(name) <= longest && !isAddress(name) && len(others) < most {
			others = append(others, fmt.Sprintf("%q", name))
		}
	}
	return nil, fmt.Errorf("the object has no key %q; name one of its own with --column: %s",
		o.key, strings.Join(others, ", "))
}

// explain says why a value cannot be read, without repeating any of it.
func explain(value []byte, err error) error {
	var syntax *jsontext.SyntacticError
	switch {
	case !utf8.Valid(value):
		return errors.New("not JSON: it is not UTF-8 (RFC 8259 section 8.1)")
	case !errors.As(err, &syntax):
		return errors.New("a number in it is too large")
	case jsonv1.Valid(value):
		return errors.New(`an escape from \ud800 to \udfff without the other half of its pair, which is no character`)
	}
	return fmt.Errorf("not JSON, or more than one value: byte %d is unexpected", syntax.ByteOffset+1)
}
