package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"time"
)

// shape is one of the three forms of an error body in the contract.
type shape int

const (
	flat      shape = iota // A: status, error, code
	enveloped              // B: success false, error {code, message, more}
	rate                   // C: status, title, detail
)

// problem is a kind of error: its code, its status and its shape, each
// declared once below.
type problem struct {
	code   string
	status int
	shape  shape
}

var (
	notFound          = problem{"NOT_FOUND", http.StatusNotFound, flat}
	wrongMethod       = problem{"METHOD_NOT_ALLOWED", http.StatusMethodNotAllowed, flat}
	invalidEdgeSecret = problem{"INVALID_EDGE_SECRET", http.StatusForbidden, flat}
	invalidKey        = problem{"INVALID_API_KEY", http.StatusUnauthorized, flat}
	tooMany           = problem{"", http.StatusTooManyRequests, rate}
	wrongMediaType    = problem{"UNSUPPORTED_MEDIA_TYPE", http.StatusUnsupportedMediaType, flat}
	bodyTooLarge      = problem{"BODY_TOO_LARGE", http.StatusRequestEntityTooLarge, flat}
	missingEmail      = problem{"MISSING_EMAIL", http.StatusBadRequest, flat}
	invalidFormat     = problem{"INVALID_EMAIL_FORMAT", http.StatusBadRequest, flat}
	badHTTP           = problem{"BAD_REQUEST", http.StatusBadRequest, flat}
	invalidRequest    = problem{"INVALID_REQUEST", http.StatusBadRequest, enveloped}
	emptyBatch        = problem{"EMPTY_BATCH", http.StatusBadRequest, enveloped}
	batchSizeExceeded = problem{"BATCH_SIZE_EXCEEDED", http.StatusBadRequest, enveloped}
	insufficientUsage = problem{"INSUFFICIENT_USAGE", http.StatusPaymentRequired, enveloped}
	idemConflict      = problem{"IDEMPOTENCY_CONFLICT", http.StatusConflict, enveloped}
	idemMismatch      = problem{"IDEMPOTENCY_MISMATCH", http.StatusUnprocessableEntity, enveloped}
	internal          = problem{"INTERNAL_ERROR", http.StatusInternalServerError, flat}
	cancelled         = problem{"REQUEST_CANCELLED", http.StatusServiceUnavailable, flat}
)

// fault is a problem that occurred: with its message and what goes with it.
type fault struct {
	problem
	message    string
	detail     detail
	retryAfter time.Duration
}

// detail holds the further fields that some codes of shape B carry.
type detail struct {
	MaxAllowed *int   `json:"max_allowed,omitempty"`
	Received   *int   `json:"received,omitempty"`
	Required   *int64 `json:"required,omitempty"`
	Remaining  *int64 `json:"remaining,omitempty"`
}

func (p problem) with(message string) *fault { return &fault{problem: p, message: message} }

// response is the fault as an answer.
func (f *fault) response() response {
	return response{status: f.status, body: f.body(), retryAfter: f.retryAfter}
}

func (f *fault) body() []byte {
	switch f.shape {
	case enveloped:
		return encode(struct {
			Success bool `json:"success"`
			Error   any  `json:"error"`
		}{false, struct {
			Code    string `json:"code"`
			Message string `json:"message"`
			detail
		}{f.code, f.message, f.detail}})
	case rate:
		return encode(struct {
			Status int    `json:"status"`
			Title  string `json:"title"`
			Detail string `json:"detail"`
		}{f.status, http.StatusText(f.status), f.message})
	}
	return encode(struct {
		Status int    `json:"status"`
		Error  string `json:"error"`
		Code   string `json:"code"`
	}{f.status, f.message, f.code})
}

// encode writes v as JSON without the escapes that only HTML needs. The values
// are the structs above, which always encode.
func encode(v any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(v)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

func internalError() response {
	return internal.with("Something went wrong on our side; nothing was charged. Try again, and give the request id if it stays.").response()
}

// unavailable is the 503 of something that is expected to pass.
func unavailable(message string) *fault {
	f := cancelled.with(message)
	f.retryAfter = time.Second
	return f
}
