package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
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
// Of a name that stands twice the last counts, as in JSON.parse.
func decodeBatch(body []byte) (emails []string, f *fault) {
	if at := invalidUTF8(body); at >= 0 {
		return nil, invalidRequest.with(fmt.Sprintf("The body is not JSON: at octet %d it is not UTF-8.", at))
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	emails, err := decodeObject(decoder)
	if err == nil {
		err = expectEnd(decoder)
	}
	if err == nil {
		return emails, nil
	}
	var wrong *wrongType
	if errors.As(err, &wrong) {
		return nil, invalidRequest.with(wrong.Error())
	}
	return nil, invalidRequest.with(notJSON(err, decoder.InputOffset()))
}

// wrongType is JSON that is not what the operation takes.
type wrongType struct{ where, want string }

func (w *wrongType) Error() string { return w.where + " must be " + w.want + "." }

func decodeObject(d *json.Decoder) (emails []string, err error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	if token != json.Delim('{') {
		return nil, &wrongType{"The body", `an object: {"emails": ["jane@example.org"]}`}
	}
	for d.More() {
		if emails, err = decodeMember(d, emails); err != nil {
			return nil, err
		}
	}
	_, err = d.Token()
	return emails, err
}

func decodeMember(d *json.Decoder, emails []string) ([]string, error) {
	name, err := d.Token()
	if err != nil {
		return nil, err
	}
	if name == "emails" {
		return decodeEmails(d)
	}
	var skipped json.RawMessage
	return emails, d.Decode(&skipped)
}

func decodeEmails(d *json.Decoder) ([]string, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	if token != json.Delim('[') {
		return nil, &wrongType{"emails", "an array of strings"}
	}
	emails := []string{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		email, isString := token.(string)
		if !isString {
			return nil, &wrongType{fmt.Sprintf("emails[%d]", len(emails)), "a string"}
		}
		emails = append(emails, email)
	}
	_, err = d.Token()
	return emails, err
}

func expectEnd(d *json.Decoder) error {
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return &wrongType{"The body", "one JSON object with nothing after it"}
	}
	return nil
}

// notJSON says where JSON breaks off without repeating what stands there.
func notJSON(err error, offset int64) string {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		offset = syntax.Offset
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Sprintf("The body is not JSON: it ends too early, at octet %d.", offset)
	}
	return fmt.Sprintf("The body is not JSON: something unexpected stands near octet %d.", offset)
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
