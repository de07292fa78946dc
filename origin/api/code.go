package api

import "net/http"

// A code is a kind of problem: the word that a program reads and the HTTP
// status that goes with it.
type code struct {
	name   string
	status int
}

// The codes of the contract. 429 has none: its shape carries no code.
var (
	notFound          = code{"NOT_FOUND", http.StatusNotFound}
	wrongMethod       = code{"METHOD_NOT_ALLOWED", http.StatusMethodNotAllowed}
	invalidEdgeSecret = code{"INVALID_EDGE_SECRET", http.StatusForbidden}
	invalidKey        = code{"INVALID_API_KEY", http.StatusUnauthorized}
	tooMany           = code{"", http.StatusTooManyRequests}
	wrongMediaType    = code{"UNSUPPORTED_MEDIA_TYPE", http.StatusUnsupportedMediaType}
	bodyTooLarge      = code{"BODY_TOO_LARGE", http.StatusRequestEntityTooLarge}
	missingEmail      = code{"MISSING_EMAIL", http.StatusBadRequest}
	invalidFormat     = code{"INVALID_EMAIL_FORMAT", http.StatusBadRequest}
	badHTTP           = code{"BAD_REQUEST", http.StatusBadRequest}
	invalidRequest    = code{"INVALID_REQUEST", http.StatusBadRequest}
	emptyBatch        = code{"EMPTY_BATCH", http.StatusBadRequest}
	batchSizeExceeded = code{"BATCH_SIZE_EXCEEDED", http.StatusBadRequest}
	insufficientUsage = code{"INSUFFICIENT_USAGE", http.StatusPaymentRequired}
	idemConflict      = code{"IDEMPOTENCY_CONFLICT", http.StatusConflict}
	idemMismatch      = code{"IDEMPOTENCY_MISMATCH", http.StatusUnprocessableEntity}
	internal          = code{"INTERNAL_ERROR", http.StatusInternalServerError}
	cancelled         = code{"REQUEST_CANCELLED", http.StatusServiceUnavailable}
)

// with is a problem of this code.
func (c code) with(message string) *problem { return &problem{code: c, message: message} }
