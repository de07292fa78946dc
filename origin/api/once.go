package api

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"net/http"

	"github.com/addrspec/addrspec/origin/ledger"
)

const (
	headerIdempotency = "Idempotency-Key"
	maxIdempotencyKey = 255
)

// once is a batch that is to be done and paid once, however often it is sent.
// The ledger keeps the answer for a day; the answer holds addresses, so it is
// sealed under the caller's API key, of which the ledger has only a hash.
type once struct {
	ledger.Idempotency
	aead cipher.AEAD
}

// readOnce reads the Idempotency-Key; nil without one.
func readOnce(h http.Header, key string, body []byte) (*once, *fault) {
	id := h.Get(headerIdempotency)
	if id == "" {
		return nil, nil
	}
	if len(id) > maxIdempotencyKey {
		return nil, invalidRequest.with("Idempotency-Key is over 255 octets; a UUID does.")
	}
	o := &once{Idempotency: ledger.Idempotency{ID: keyed(key, id), Body: keyed(key, string(body))}}
	var err error
	o.aead, err = sealer(key, o.ID[:])
	if err != nil {
		return nil, internal.with("The batch could not be made repeatable; nothing was charged.")
	}
	return o, nil
}

// keyed hashes s under the API key, so that equal batches of two accounts
// cannot be told to be equal.
func keyed(key, s string) (sum [sha256.Size]byte) {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(s))
	copy(sum[:], mac.Sum(nil))
	return sum
}

// sealer derives AES-256-GCM from the API key (HKDF, RFC 5869).
func sealer(key string, salt []byte) (cipher.AEAD, error) {
	secret, err := hkdf.Key(sha256.New, []byte(key), salt, "addrspec stored answer", 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// seal encrypts an answer for the ledger; nil where there is nothing to keep.
func (o *once) seal(answer []byte) []byte {
	if o == nil {
		return nil
	}
	return o.aead.Seal(nil, nil, answer, o.Body[:])
}

var errSealed = errors.New("a stored answer does not open")

// replay sends the first answer again, at no cost.
func (s *Server) replay(o order, a ledger.Admission) response {
	body, err := o.once.aead.Open(nil, nil, a.Replay, o.once.Body[:])
	if err != nil {
		s.logFault("replay failed", errSealed)
		return internalError()
	}
	return ok(body, a.Usage)
}
