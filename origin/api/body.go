package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"
)

// maxBody is the most a batch's body may hold, in octets.
const maxBody = 1 << 20

// readBody takes the body of a batch: JSON, unencoded, within the limit.
func readBody(r *http.Request) ([]byte, *fault) {
	if f := checkMediaType(r.Header); f != nil {
		return nil, f
	}
	if r.ContentLength > maxBody {
		return nil, tooLarge()
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	switch {
	case len(body) > maxBody:
		return nil, tooLarge()
	case err != nil:
		return nil, invalidRequest.with(fmt.Sprintf("The body broke off after %d octets.", len(body)))
	}
	return body, nil
}

func tooLarge() *fault {
	return bodyTooLarge.with("The body is over 1 MiB (1,048,576 octets); send fewer addresses at a time.")
}

func checkMediaType(h http.Header) *fault {
	media, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || media != contentJSON {
		return wrongMediaType.with("Send the batch as JSON, with the header Content-Type: application/json.")
	}
	if encoding := h.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return wrongMediaType.with("Send the body without a Content-Encoding.")
	}
	return nil
}

// decodeBatch reads {"emails": [string, ...]}; other members are passed over.
// The body is judged whole: first whether it is JSON, then what it holds. Of a
// name that stands twice the last counts, as in JSON.parse.
func decodeBatch(body []byte) (emails []string, f *fault) {
	if at := invalidUTF8(body); at >= 0 {
		return nil, invalidRequest.with(fmt.Sprintf("The body is not JSON: at octet %d it is not UTF-8.", at))
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

// wrongType tells of JSON that is not what the operation takes.
func wrongType(where, want string) *fault {
	return invalidRequest.with(where + " must be " + want + ".")
}

// decodeEmails reads the array from d, which holds one value of valid JSON.
func decodeEmails(d *json.Decoder) (emails []string, f *fault) {
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

// whereNotJSON looks again with an octet behind the body that no JSON text
// holds: where that is the first out of place, the body ended too early.
func whereNotJSON(body []byte) string {
	var nothing json.RawMessage
	return notJSON(json.Unmarshal(append(body, 0), &nothing), int64(len(body)))
}

// notJSON says where JSON breaks off without repeating what stands there.
// Octets count from 0.
func notJSON(err error, size int64) string {
	offset := size
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		offset = syntax.Offset - 1
	}
	switch {
	case offset >= size:
		return fmt.Sprintf("The body is not JSON: it ends too early, at octet %d.", size)
	case strings.HasSuffix(syntax.Error(), "after top-level value"):
		return "The body must be one JSON object with nothing after it."
	}
	return fmt.Sprintf("The body is not JSON: something unexpected stands at octet %d.", offset)
}

// invalidUTF8 is the place of the first octet that is not UTF-8, or -1. JSON
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
