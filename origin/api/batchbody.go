package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// byteOrderMark may precede the text; a reader may skip it (RFC 8259 section
// 8.1).
const byteOrderMark = "\uFEFF"

// decodeBatch reads {"emails": [string, ...]}; other members are ignored. No
// text, null and "emails": null have no addresses. The whole body is judged
// first as JSON, then by its content. If a name occurs twice the last one
// counts, as in JSON.parse.
func decodeBatch(body []byte) (emails []string, p *problem) {
	text := bytes.TrimPrefix(body, []byte(byteOrderMark))
	if len(text) == 0 {
		return nil, nil
	}
	if at := invalidUTF8(body); at >= 0 {
		return nil, invalidRequest.with(fmt.Sprintf("The body is not JSON: byte %d is not UTF-8.", at))
	}
	var members map[string]json.RawMessage
	err := json.Unmarshal(text, &members)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return nil, invalidRequest.with(whereNotJSON(text, len(body)-len(text)))
	case err != nil: // another kind of value
		return nil, wrongType("The body", `an object: {"emails": ["jane@example.org"]}`)
	}
	return decodeEmails(members["emails"])
}

// wrongType is the problem of JSON with another type of value.
func wrongType(where, want string) *problem {
	return invalidRequest.with(where + " must be " + want + ".")
}

// decodeEmails reads the array in text, which is valid JSON, null or nothing.
func decodeEmails(text json.RawMessage) (emails []string, p *problem) {
	d := json.NewDecoder(bytes.NewReader(text))
	switch token, _ := d.Token(); token {
	case nil:
		return nil, nil
	case json.Delim('['):
	default:
		return nil, wrongType("emails", "an array of strings")
	}
	emails = []string{}
	for d.More() {
		begin := d.InputOffset()
		token, _ := d.Token()
		email, isString := token.(string)
		where := fmt.Sprintf("emails[%d]", len(emails))
		switch {
		case !isString:
			return nil, wrongType(where, "a string")
		case hasLoneSurrogate(email, text[begin:d.InputOffset()]):
			return nil, invalidRequest.with(where + ` has half of a surrogate pair (\ud800 to \udfff), which is no character; send both halves, or the character itself.`)
		}
		emails = append(emails, email)
	}
	return emails, nil
}

// hasLoneSurrogate reports whether the JSON string raw, decoded as s, has an
// escape for half of a surrogate pair (RFC 8259 section 8.2). encoding/json
// reads one as U+FFFD, so the address could not be echoed as it was sent.
func hasLoneSurrogate(s string, raw []byte) bool {
	if !strings.ContainsRune(s, utf8.RuneError) {
		return false
	}
	for {
		at := bytes.IndexByte(raw, '\\')
		if at < 0 {
			return false
		}
		first, second := escaped(raw[at:]), rune(0)
		if len(raw) > at+6 {
			second = escaped(raw[at+6:])
		}
		paired := utf16.DecodeRune(first, second) != utf8.RuneError
		switch {
		case paired:
			raw = raw[at+12:]
		case utf16.IsSurrogate(first):
			return true
		default:
			raw = raw[at+2:]
		}
	}
}

// escaped is the value of the escape \uXXXX that raw begins with, or 0.
func escaped(raw []byte) rune {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0
	}
	n, _ := strconv.ParseUint(string(raw[2:6]), 16, 32)
	return rune(n)
}

// whereNotJSON decodes the text once more with a byte behind it that no JSON
// text has: if that byte is the first unexpected one, the text ended too early.
// The text begins at byte start of the body.
func whereNotJSON(text []byte, start int) string {
	var nothing json.RawMessage
	return notJSON(json.Unmarshal(append(text, 0), &nothing), int64(start), int64(len(text)))
}

// notJSON says where the text stops being JSON, without repeating the input.
// Bytes of the body count from 0.
func notJSON(err error, start, size int64) string {
	offset := size
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		offset = syntax.Offset - 1
	}
	switch {
	case offset >= size:
		return fmt.Sprintf("The body is not JSON: it ends too early, at byte %d.", start+size)
	case strings.HasSuffix(syntax.Error(), "after top-level value"):
		return "The body must be one JSON object with nothing after it."
	}
	return fmt.Sprintf("The body is not JSON: byte %d is unexpected.", start+offset)
}

// invalidUTF8 is the position of the first byte that is not UTF-8, or -1. JSON
// text is UTF-8 (RFC 8259 section 8.1); encoding/json would replace it silently.
func invalidUTF8(s []byte) int {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRune(s[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
	return -1
}
