package api

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"net/http"
)

// maxBody is the most bytes that a request's body may have.
const maxBody = 1 << 20

// readBody reads the body of a request: JSON, not encoded, within the limit.
func readBody(r *http.Request) ([]byte, *problem) {
	if p := checkMediaType(r); p != nil {
		return nil, p
	}
	if r.ContentLength > maxBody {
		return nil, tooLarge()
	}
	var body bytes.Buffer
	body.Grow(int(min(max(r.ContentLength, 0), firstRead)) + bytes.MinRead)
	_, err := body.ReadFrom(io.LimitReader(r.Body, maxBody+1))
	switch {
	case body.Len() > maxBody:
		return nil, tooLarge()
	case err != nil:
		return nil, invalidRequest.with(fmt.Sprintf("The body broke off after %d bytes.", body.Len()))
	}
	return body.Bytes(), nil
}

// firstRead is how many bytes of memory a body gets before any of it has come.
const firstRead = 16 << 10

func tooLarge() *problem {
	return bodyTooLarge.with("The body is over 1 MiB (1,048,576 bytes); send fewer addresses at a time.")
}

// checkMediaType judges the header fields of the body. Without a body there is
// nothing that could have a wrong type.
func checkMediaType(r *http.Request) *problem {
	given, one := onlyValue(r.Header, "Content-Type")
	encoding, oneEncoding := onlyValue(r.Header, "Content-Encoding")
	media, _, err := mime.ParseMediaType(given)
	switch {
	case !one:
		return repeated("Content-Type")
	case !oneEncoding:
		return repeated("Content-Encoding")
	case given == "" && r.ContentLength == 0:
		return nil
	case err != nil || media != contentJSON:
		return wrongMediaType.with("Send the batch as JSON, with the header Content-Type: application/json.")
	case encoding != "" && encoding != "identity":
		return wrongMediaType.with("Send the body without a Content-Encoding.")
	}
	return nil
}
