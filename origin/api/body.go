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
	if p := checkMediaType(r.Header); p != nil {
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

func checkMediaType(h http.Header) *problem {
	media, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || media != contentJSON {
		return wrongMediaType.with("Send the batch as JSON, with the header Content-Type: application/json.")
	}
	if encoding := h.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return wrongMediaType.with("Send the body without a Content-Encoding.")
	}
	return nil
}
