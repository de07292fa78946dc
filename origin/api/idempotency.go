package api

import (
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"net/http"
	"strings"

	"github.com/addrspec/addrspec/origin/ledger"
)

const (
	headerIdempotency = "Idempotency-Key"
	headerReplayed    = "Idempotency-Replayed"

	maxIdempotencyKey = 255 // bytes
)

// An idempotencyRecord identifies the stored answer of a batch in the ledger and
// has the cipher that encrypts it. It depends on the account, not on the API key,
// so it remains valid when API keys are rotated.
//
//	ID    SHA-256(account as 8 bytes, big-endian || Idempotency-Key)
//	Body  HMAC-SHA256(Idempotency-Key, body of the request)
//	aead  see seal.go
//
// The ledger stores neither the Idempotency-Key nor the answer in the clear. A
// guessable Idempotency-Key is a guessable secret; see THREATS.md.
type idempotencyRecord struct {
	ledger.Idempotency
	aead cipher.AEAD
}

// readIdempotencyKey returns the record for the Idempotency-Key, nil without that
// header.
func readIdempotencyKey(h http.Header, account int64, body []byte) (*idempotencyRecord, *problem) {
	values := h.Values(headerIdempotency)
	if len(values) == 0 || len(values) == 1 && values[0] == "" {
		return nil, nil
	}
	key, one := unquote(values[0])
	switch {
	case !one || len(values) > 1:
		return nil, repeatedHeader(headerIdempotency)
	case key == "":
		return nil, invalidRequest.with("Idempotency-Key is an empty string; use a UUID.")
	case len(key) > maxIdempotencyKey:
		return nil, invalidRequest.with("Idempotency-Key is over 255 bytes; use a UUID.")
	}
	return newIdempotencyRecord(key, account, body)
}

// unquote returns x for both "x", a String (RFC 9651 section 3.3.3), and x. one is
// false for a list; a comma within quotes does not make one.
func unquote(value string) (key string, one bool) {
	if len(value) < 2 || value[0] != '"' || value[len(value)-1] != '"' {
		return value, !strings.Contains(value, ",")
	}
	key = value[1 : len(value)-1]
	return key, !strings.Contains(strings.ReplaceAll(key, `\"`, ""), `"`)
}

func newIdempotencyRecord(key string, account int64, body []byte) (*idempotencyRecord, *problem) {
	salt := binary.BigEndian.AppendUint64(nil, uint64(account))
	aead, err := newAEAD(key, salt)
	if err != nil {
		return nil, internalProblem()
	}
	r := &idempotencyRecord{aead: aead}
	r.ID = sha256.Sum256(append(salt, key...))
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write(body)
	mac.Sum(r.Body[:0])
	return r, nil
}

// identity returns the part that the ledger uses, nil for a nil record.
func (r *idempotencyRecord) identity() *ledger.Idempotency {
	if r == nil {
		return nil
	}
	return &r.Idempotency
}
