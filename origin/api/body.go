package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
)

const (
	// maxBody is the largest request body in bytes.
	maxBody = 1 << 20
	// firstRead is the size of the buffer before the first byte of a body has
	// arrived. It doubles whenever it is full.
	firstRead = 4 << 10
	// bodyMemoryFactor is the memory that one byte of a body takes until the
	// response is sent, in bytes: the body or the addresses decoded from it, the
	// module's results, and the response, which has each address twice.
	bodyMemoryFactor = 4
)

// What a request holds besides its header and body until its response is sent, in bytes.
// BenchmarkMemoryOfWaiting measures it, without the connection's own 10 KiB: a request that
// waits for DNS held 16.4 KB, most of it the handler's stack; each lookup in a goroutine of
// its own 4.8 KB more; and 64 addresses with their results 44 to 50 KB, with details 54 to
// 70 KB. The response has each result again.
const (
	waitMemory    = 16 << 10 // of a request that waits for DNS
	lookupMemory  = 5 << 10  // of each of several lookups
	addressMemory = 1 << 10  // of an address of a batch, its result and its part of the response
	detailsMemory = 3 << 9   // of the details of an address, likewise
	verdictMemory = 1 << 8   // of the verdict on an address, likewise
	// A valid address has up to 254 bytes, of which each is three times in its result. The
	// body counts for only one of them.
	longestValid = 254
)

// neededFor returns the most that a request may need whose body has length bytes. Each
// address takes two quotation marks, a byte and a comma there.
func neededFor(length int) int64 {
	addresses := min(maxUnique, length/4)
	return int64(bodyMemoryFactor*length + waitMemory + addresses*(addressMemory+detailsMemory+verdictMemory+bodyMemoryFactor*longestValid+lookupMemory))
}

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

// readLimited is readBody for a body of at most limit bytes that is no batch.
func (x *exchange) readLimited(r *http.Request, limit int64) ([]byte, *problem) {
	if checkMediaType(r) == nil && r.ContentLength > limit {
		return nil, tooLarge()
	}
	limited := r.WithContext(r.Context())
	limited.Body = http.MaxBytesReader(nil, r.Body, limit)
	body, p := x.readBody(limited)
	if p != nil && p.code == wrongMediaType {
		p = wrongMediaType.with("Send the body as JSON, with the header Content-Type: application/json, and without a Content-Encoding.")
	}
	return body, p
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
	return x.memory.grow(ctx, int64(x.headerBytes+size), int64(x.headerBytes)+neededFor(expected))
}

// reserveResults reserves what the addresses of a batch will hold, if there is room for
// their lookups too.
func (x *exchange) reserveResults(ctx context.Context, given *batchInput) error {
	each := addressMemory
	if given.details != 0 {
		each += detailsMemory
	}
	if x.policy != nil {
		each += verdictMemory
	}
	size := len(given.emails) * each
	for _, email := range given.emails {
		size += bodyMemoryFactor * min(len(email), longestValid)
	}
	return x.reserveMore(ctx, size, size+lookupsMemory(len(given.emails)))
}

// reserveLookups reserves what a request holds that waits for DNS, with lookups in that
// many goroutines besides its own.
func (x *exchange) reserveLookups(ctx context.Context, goroutines int) error {
	return x.reserveMore(ctx, lookupsMemory(goroutines), lookupsMemory(goroutines))
}

func lookupsMemory(goroutines int) int { return waitMemory + goroutines*lookupMemory }

// reserveMore reserves size bytes besides those that are reserved, for a request that may
// need up to need bytes more.
func (x *exchange) reserveMore(ctx context.Context, size, need int) error {
	return x.memory.grow(ctx, x.memory.bytes+int64(size), x.memory.bytes+int64(need))
}

func tooLarge() *problem {
	return bodyTooLarge.with("The body is over 1 MiB; send fewer addresses at a time.")
}

// memoryProblem returns the problem of a request that did not get its memory, or nil for
// another error.
func memoryProblem(err error) *problem {
	switch {
	case errors.Is(err, errAccountLimit):
		return retryAfter(tooMany.with("Rate limit exceeded: the headers, bodies and responses of the account's requests in progress use all the memory that an account may use; wait 1 seconds."), time.Second)
	case errors.Is(err, errMemoryLimit):
		return unavailable("The requests in progress use all the memory set aside for them; nothing was charged. Try again shortly.")
	}
	return nil
}

// bodyProblem returns the problem for an error after read bytes of the body.
func bodyProblem(err error, read int) *problem {
	if p := memoryProblem(err); p != nil {
		return p
	}
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return tooLarge()
	}
	switch {
	case errors.Is(err, context.Canceled):
		return memoryProblem(errMemoryLimit)
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

// An unreadBody records whether a body was read to its end.
//
// net/http reads the rest of a body, up to 256 KiB, before it sends the response and
// again before it closes the connection. A client that never sends the rest would
// keep the connection for the whole read timeout, even if its key was refused.
type unreadBody struct {
	io.ReadCloser
	complete bool
}

func (b *unreadBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.complete = true
	}
	return n, err
}

// restTimeout is how long a client may take to send the rest of its body once the
// response is known. After that the response is sent and the connection closed.
const restTimeout = 250 * time.Millisecond

// watchBody returns a copy of r with an unreadBody. It does not change r, whose
// body net/http uses later.
func watchBody(r *http.Request) (*http.Request, *unreadBody) {
	if r.ContentLength == 0 {
		return r, nil
	}
	body := &unreadBody{ReadCloser: r.Body}
	r = r.WithContext(r.Context())
	r.Body = body
	return r, body
}

// limitRest sets the deadline restTimeout if a part of the body is unread, and
// reports whether it is. It is called before the response is sent.
func (b *unreadBody) limitRest(w http.ResponseWriter) (unread bool) {
	if b == nil || b.complete {
		return false
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(restTimeout)) // a test's writer has none
	return true
}

// isReset reports whether err means that the client has reset the connection.
func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// A MemoryBudget limits the memory that requests in progress use for long headers,
// bodies, results, lookups and responses: of the whole process, and to a quarter of that
// for each account, so that one account cannot use up the memory of all.
//
// Bytes are reserved as they arrive, not in advance: a caller uses the memory of
// what it sent, whatever Content-Length announces. But a request gets further
// bytes only while there is room for all that it may still need. So the request
// served last can always finish, and requests that each have a part of what they
// need cannot deadlock.
type MemoryBudget struct {
	mu         sync.Mutex
	total      int64
	perAccount int64           // limit of one account
	used       int64           // by all accounts, each counted up to perAccount
	accounts   map[int64]int64 // bytes used by each account, without those at 0
	waiting    int             // requests that wait for bytes
	freed      chan struct{}   // closed and replaced when bytes are released while a request waits
}

const (
	// DefaultBodyMemory is the default budget in bytes.
	DefaultBodyMemory = 64 << 20
	// MinBodyMemory is the least budget in bytes: with it, one account has room
	// for the longest body and all that a batch of it may need.
	MinBodyMemory = 20 << 20

	// budgetShares is the number of accounts that together can use all of the
	// budget.
	budgetShares = 4
	// budgetWait is how long a request waits for others to release bytes.
	budgetWait = time.Second
	// A request that needs at most smallRequest bytes may use all of the budget,
	// larger ones only three quarters. So large bodies, even slow ones, do not
	// block usual requests. These bytes are enough for a batch of 64 addresses with
	// details in a body of 8 KiB.
	smallRequest = 640 << 10
)

// NewMemoryBudget returns a budget of total bytes.
func NewMemoryBudget(total int64) *MemoryBudget {
	return &MemoryBudget{total: total, perAccount: total / budgetShares, accounts: map[int64]int64{}, freed: make(chan struct{})}
}

// Used returns the number of bytes that requests in progress use.
func (b *MemoryBudget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

var (
	errAccountLimit = errors.New("the account has reached its limit of memory for bodies")
	errMemoryLimit  = errors.New("the memory for bodies is used up")
)

// A reservation is the part of the budget that one request uses.
type reservation struct {
	budget  *MemoryBudget
	account int64
	bytes   int64
}

// grow raises the reservation to bytes, for a request that may need up to need
// bytes. If the process's budget is used up, it waits for up to budgetWait. If the
// account is at its limit, it returns errAccountLimit at once.
func (r *reservation) grow(ctx context.Context, bytes, need int64) error {
	freed, err := r.budget.reserve(r, bytes, need, false)
	if freed == nil {
		return err
	}
	timeout := time.NewTimer(budgetWait)
	defer timeout.Stop()
	for freed != nil {
		select {
		case <-freed:
		case <-timeout.C:
			err = errMemoryLimit
		case <-ctx.Done():
			err = ctx.Err()
		}
		if err != nil {
			r.budget.stopWaiting()
			return err
		}
		freed, err = r.budget.reserve(r, bytes, need, true)
	}
	return err
}

// set changes the reservation to bytes without a check: to release bytes, or to
// count a response that already exists.
func (r *reservation) set(bytes int64) {
	r.budget.mu.Lock()
	defer r.budget.mu.Unlock()
	r.budget.setLocked(r, bytes)
}

// reserve raises r to bytes if there is room. If the process's budget has none,
// it returns a channel that is closed when the caller should try again. The
// caller then counts as waiting until it calls reserve, with waits set, or
// stopWaiting.
func (b *MemoryBudget) reserve(r *reservation, bytes, need int64, waits bool) (freed <-chan struct{}, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if waits {
		b.waiting--
	}
	more := need - r.bytes
	switch {
	case b.accounts[r.account]+more > b.perAccount:
		return nil, errAccountLimit
	case b.used+more > b.limit(need):
		b.waiting++
		return b.freed, nil
	}
	b.setLocked(r, bytes)
	return nil, nil
}

func (b *MemoryBudget) limit(need int64) int64 {
	if need <= smallRequest {
		return b.total
	}
	return b.total - b.total/4
}

func (b *MemoryBudget) stopWaiting() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting--
}

// setLocked changes r to bytes. Bytes of an account beyond perAccount (responses
// that its callers do not read) do not count against other accounts. The caller
// must hold mu.
func (b *MemoryBudget) setLocked(r *reservation, bytes int64) {
	before := b.accounts[r.account]
	after := before + bytes - r.bytes
	r.bytes = bytes
	b.used += min(after, b.perAccount) - min(before, b.perAccount)
	if b.accounts[r.account] = after; after == 0 {
		delete(b.accounts, r.account)
	}
	if after < before && b.waiting > 0 {
		close(b.freed)
		b.freed = make(chan struct{})
	}
}
