package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// decodeBatch reads {"emails": [string, ...]}; other members are ignored.
// The whole body is judged first as JSON, then by its content. If a name occurs
// twice the last one counts, as in JSON.parse.
func decodeBatch(body []byte) (emails []string, p *problem) {
	if at := invalidUTF8(body); at >= 0 {
		return nil, invalidRequest.with(fmt.Sprintf("The body is not JSON: byte %d is not UTF-8.", at))
	}
	var members map[string]json.RawMessage
	err := json.Unmarshal(body, &members)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return nil, invalidRequest.with(whereNotJSON(body))
	case err != nil || members == nil: // another kind of value, or null
		return nil, wrongType("The body", `an object: {"emails": ["jane@example.org"]}`)
	}
	given, ok := members["emails"]
	if !ok {
		return nil, nil
	}
	return decodeEmails(json.NewDecoder(bytes.NewReader(given)))
}

// wrongType is the problem of JSON with another type of value.
func wrongType(where, want string) *problem {
	return invalidRequest.with(where + " must be " + want + ".")
}

// decodeEmails reads the array from d, which holds one value of valid JSON.
func decodeEmails(d *json.Decoder) (emails []string, p *problem) {
	if token, _ := d.Token(); token != json.Delim('[') {
		return nil, wrongType("emails", "an array of strings")
	}
	emails = []string{}
	for d.More() {
		token, _ := d.Token()
		email, isString := token.(string)
		if !isString {
			return nil, wrongType(fmt.Sprintf("emails[%d]", len(emails)), "a string")
		}
		emails = append(emails, email)
	}
	return emails, nil
}

// whereNotJSON decodes the body once more with a byte behind it that no JSON
// text has: if that byte is the first unexpected one, the body ended too early.
func whereNotJSON(body []byte) string {
	var nothing json.RawMessage
	return notJSON(json.Unmarshal(append(body, 0), &nothing), int64(len(body)))
}

// notJSON says where the text stops being JSON, without repeating the input.
// Bytes count from 0.
func notJSON(err error, size int64) string {
	offset := size
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		offset = syntax.Offset - 1
	}
	switch {
	case offset >= size:
		return fmt.Sprintf("The body is not JSON: it ends too early, at byte %d.", size)
	case strings.HasSuffix(syntax.Error(), "after top-level value"):
		return "The body must be one JSON object with nothing after it."
	}
	return fmt.Sprintf("The body is not JSON: byte %d is unexpected.", offset)
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
