package client

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

const (
	// MaxBatch is the largest number of addresses in a batch.
	MaxBatch = 64
	// maxBody is the largest body of a request in bytes.
	maxBody = 1 << 20

	bodyStart   = `{"emails":[`
	bodyEnd     = `]}`
	bodyDetails = `],"details":true}`
)

// codeInvalid is the code of an address that cannot be sent.
const codeInvalid = "INVALID_EMAIL_FORMAT"

const (
	textNotUTF8 = "the address is not UTF-8, so it cannot be sent to the service; it is not valid"
	textTooLong = "the address is too long to be sent to the service; it is not valid"
)

// unsendable returns why the address cannot be in a body, or "". JSON text is
// UTF-8 (RFC 8259 section 8.1).
func unsendable(email string) string {
	switch {
	case !utf8.ValidString(email):
		return textNotUTF8
	case len(email) >= maxBody, len(bodyStart)+len(quoted(email))+len(bodyDetails) > maxBody:
		return textTooLong
	}
	return ""
}

// encodeBatch returns the body for as many of the emails, from the first, as one
// request may have: at least one.
func encodeBatch(emails []string, details bool) (n int, body []byte) {
	body = append(body, bodyStart...)
	for ; n < min(len(emails), MaxBatch); n++ {
		next := quoted(emails[n])
		if n > 0 && len(body)+1+len(next)+len(bodyDetails) > maxBody {
			break
		}
		if n > 0 {
			body = append(body, ',')
		}
		body = append(body, next...)
	}
	if details {
		return n, append(body, bodyDetails...)
	}
	return n, append(body, bodyEnd...)
}

// quoted returns the JSON string without escapes for HTML.
func quoted(s string) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(s) // a string never fails
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
