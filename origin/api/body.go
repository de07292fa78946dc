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
	// maxBody is the most bytes that a request's body may have.
	maxBody = 1 << 20
	// firstRead is how many bytes of memory a body gets before any of it has
	// come; then the memory doubles as the body fills it.
	firstRead = 4 << 10
	// costOfBody is how many bytes a byte of a whole body takes until the answer
	// is sent: itself or the addresses decoded from it, the module's results, and
	// the answer, which has each address twice.
	bodyMemoryFactor = 4
)

// readBody reads the body of a request: JSON, not encoded, within the limit and
// the budget.
func (x *exchange) readBody(r *http.Request) ([]byte, *problem) {
	if p := checkMediaType(r); p != nil {
		return nil, p
	}
	if r.ContentLength > maxBody {
		return nil, tooLarge()
	}
	body, err := x.readAll(r)
	switch {
	case len(body) > 0 && r.Header.Get("Content-Type") == "": // chunked, see checkMediaType
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

// fill reads to the end of the body, or one byte beyond the limit. The buffer
// has room for one byte more than the body, so that it need not grow to see the
// end.
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

// enlarge doubles the room for the body, up to most, and takes it from the
// budget.
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

// growTo takes memory from the budget for a body that is expected to have so many
// bytes, beside the header.
func (x *exchange) reserve(ctx context.Context, size, expected int) error {
	return x.memory.grow(ctx, int64(x.headerBytes+size), int64(x.headerBytes+bodyMemoryFactor*expected))
}

func tooLarge() *problem {
	return bodyTooLarge.with("The body is over 1 MiB (1,048,576 bytes); send fewer addresses at a time.")
}

// bodyProblem is the problem of a body of which only so many bytes were read.
func bodyProblem(err error, read int) *problem {
	switch {
	case errors.Is(err, errAccountLimit):
		return retryAfter(tooMany.with("Rate limit exceeded: the headers, bodies and answers of the account's requests under way take all the memory that they may; wait 1 seconds."), time.Second)
	case errors.Is(err, errMemoryLimit), errors.Is(err, context.Canceled):
		return unavailable("The requests under way take all the memory that they may; nothing was charged. Try again shortly.")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return invalidRequest.with(fmt.Sprintf("The body did not arrive in time: %d bytes of it did. Send it at once, or fewer addresses at a time.", read))
	case errors.Is(err, io.ErrUnexpectedEOF), isReset(err):
		p := invalidRequest.with(textBrokeOff(strconv.Itoa(read)))
		p.clientClosed = true
		return p
	}
	return invalidRequest.with(fmt.Sprintf("The body's chunked transfer coding is malformed after %d bytes (RFC 9112 section 7.1).", read))
}

// checkMediaType judges the header fields of the body. Without a body there is
// nothing that could have a wrong type; a chunked one may turn out to be empty.
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

// decoding bounds how many long bodies are decoded at a time, since JSON of many
// short strings takes over ten times its length meanwhile. More than there are
// processors would only wait for each other.
var decodeSlots = semaphore.NewWeighted(int64(runtime.GOMAXPROCS(0)))

// longBody is a body whose decoding waits for its turn.
const longBody = 64 << 10

// inTurn decodes a body.
func decodeLimited[T any](ctx context.Context, body []byte, decode func([]byte) (T, *problem)) (decoded T, p *problem) {
	if len(body) >= longBody {
		if decodeSlots.Acquire(ctx, 1) != nil {
			return decoded, unavailable("The request was cancelled before it was finished; nothing was charged.")
		}
		defer decodeSlots.Release(1)
	}
	return decode(body)
}
