package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	// maxBody is the largest request body in bytes.
	maxBody = 1 << 20
	// firstRead is the size of the buffer before the first byte of a body has
	// arrived. It doubles whenever it is full.
	firstRead = 4 << 10
	// bodyMemoryFactor is the memory that one byte of a body takes until the
	// answer is sent, in bytes: the body or the addresses decoded from it, the
	// module's results, and the answer, which has each address twice.
	bodyMemoryFactor = 4
)

// readBody reads a body, which must be JSON without a content coding. It is
// limited by maxBody and by the memory budget.
func (x *exchange) readBody(r *http.Request) ([]byte, *problem) {
	if p := checkMediaType(r); p != nil {
		return nil, p
	}
	if r.ContentLength > maxBody {
		return nil, tooLarge()
	}
	body, err := x.readAll(r)
	switch {
	case len(body) > 0 && r.Header.Get("Content-Type") == "": // chunked; see checkMediaType
		return nil, notJSONType()
	case len(body) > maxBody:
		return nil, tooLarge()
	case err == nil:
		err = x.reserve(r.Context(), bodyMemoryFactor*len(body), len(body))
	}
	if err != nil {
		return nil, bodyProblem(err, len(body))
	}
	return body, nil
}

// readAll reads to the end of the body, or one byte beyond maxBody. The buffer is
// one byte larger than the body, so that it need not grow to detect the end.
func (x *exchange) readAll(r *http.Request) (body []byte, err error) {
	most := maxBody + 1
	if r.ContentLength >= 0 {
		most = int(r.ContentLength) + 1
	}
	for len(body) <= maxBody {
		if len(body) == cap(body) {
			if body, err = x.growBuffer(r.Context(), body, most); err != nil {
				return body, err
			}
		}
		n, err := r.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if err == io.EOF {
			return body, nil
		}
		if err != nil {
			return body, err
		}
	}
	return body, nil
}

// growBuffer doubles the buffer, up to most bytes, and reserves the memory.
func (x *exchange) growBuffer(ctx context.Context, body []byte, most int) ([]byte, error) {
	size := min(max(2*cap(body), firstRead), most)
	expected := most
	if most > maxBody { // the length is not known
		expected = size
	}
	if err := x.reserve(ctx, size, expected); err != nil {
		return body, err
	}
	larger := make([]byte, len(body), size)
	copy(larger, body)
	return larger, nil
}

// reserve reserves size bytes for a body, and those of the header. expected is
// the length that the body may reach.
func (x *exchange) reserve(ctx context.Context, size, expected int) error {
	return x.memory.grow(ctx, int64(x.headerBytes+size), int64(x.headerBytes+bodyMemoryFactor*expected))
}

func tooLarge() *problem {
	return bodyTooLarge.with("The body is over 1 MiB (1,048,576 bytes); send fewer addresses at a time.")
}

// bodyProblem returns the problem for an error after read bytes of the body.
func bodyProblem(err error, read int) *problem {
	switch {
	case errors.Is(err, errAccountLimit):
		return retryAfter(tooMany.with("Rate limit exceeded: the headers, bodies and answers of the account's requests under way use all the memory that an account may use; wait 1 seconds."), time.Second)
	case errors.Is(err, errMemoryLimit), errors.Is(err, context.Canceled):
		return unavailable("The requests under way use all the memory set aside for them; nothing was charged. Try again shortly.")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return invalidRequest.with(fmt.Sprintf("The body did not arrive in time; %d bytes of it did. Send it at once, or send fewer addresses at a time.", read))
	case errors.Is(err, io.ErrUnexpectedEOF), isReset(err):
		p := invalidRequest.with(textBrokeOff(strconv.Itoa(read)))
		p.clientClosed = true
		return p
	}
	return invalidRequest.with(fmt.Sprintf("The body's chunked transfer coding is malformed after %d bytes (RFC 9112 section 7.1).", read))
}

// checkMediaType checks Content-Type and Content-Encoding. A request without a
// body needs no Content-Type. A chunked body may be empty, so readBody checks its
// type once it is read.
func checkMediaType(r *http.Request) *problem {
	given, one := singleValue(r.Header, "Content-Type")
	encoding, oneEncoding := singleValue(r.Header, "Content-Encoding")
	media, _, err := mime.ParseMediaType(given)
	switch {
	case !one:
		return repeatedHeader("Content-Type")
	case !oneEncoding:
		return repeatedHeader("Content-Encoding")
	case given == "" && r.ContentLength <= 0:
		return nil
	case err != nil || media != contentJSON:
		return notJSONType()
	case encoding != "" && encoding != "identity":
		return wrongMediaType.with("Send the body without a Content-Encoding.")
	}
	return nil
}

func notJSONType() *problem {
	return wrongMediaType.with("Send the batch as JSON, with the header Content-Type: application/json.")
}

// decodeSlots limits how many long bodies are decoded at a time: JSON of many
// short strings takes over ten times its length while it is decoded, and more
// decoders than processors are no faster.
var decodeSlots = semaphore.NewWeighted(int64(runtime.GOMAXPROCS(0)))

// longBody is the length in bytes from which a body needs a decode slot.
const longBody = 64 << 10

// decodeLimited calls decode, for a long body once a decode slot is free.
func decodeLimited[T any](ctx context.Context, body []byte, decode func([]byte) (T, *problem)) (decoded T, p *problem) {
	if len(body) >= longBody {
		if decodeSlots.Acquire(ctx, 1) != nil {
			return decoded, unavailable("The request was cancelled before it was finished; nothing was charged.")
		}
		defer decodeSlots.Release(1)
	}
	return decode(body)
}
