package api

import (
	"bytes"
	"compress/flate"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/addrspec/addrspec/origin/api/wire"
	"github.com/addrspec/addrspec/origin/ledger"
)

const (
	headerIdempotency = "Idempotency-Key"

	maxIdempotencyKey = 255 // bytes
)

// A record identifies the stored response of a batch in the ledger, and encrypts it. It depends on the
// account, not on the API key, so it remains valid when API keys are rotated.
//
//	ID    SHA-256(account as 8 bytes, big-endian || Idempotency-Key)
//	Body  HMAC-SHA256(Idempotency-Key, body of the request)
//
// The stored response is compressed (DEFLATE), then encrypted with AES-256-GCM and a random nonce. The
// encryption key is HKDF-SHA256(Idempotency-Key, salt = account); the additional data is Body. So the
// ledger stores neither the Idempotency-Key nor the response in the clear. A guessable Idempotency-Key
// is a guessable secret; see deploy/threats.md.
type record struct {
	ledger.Idempotency
	aead cipher.AEAD
}

// readRecord returns the record for the header Idempotency-Key, nil without that header.
func readRecord(h http.Header, account int64, body []byte) (*record, *wire.Problem) {
	values := h[headerIdempotency]
	if len(values) == 0 || len(values) == 1 && values[0] == "" {
		return nil, nil
	}
	// "x", a String (RFC 9651 section 3.3.3), and x are the same key. A comma makes a list, but not
	// within quotes.
	key, list := values[0], strings.Contains(values[0], ",")
	if len(key) >= 2 && key[0] == '"' && key[len(key)-1] == '"' {
		key = key[1 : len(key)-1]
		list = strings.Contains(strings.ReplaceAll(key, `\"`, ""), `"`)
	}
	switch {
	case list || len(values) > 1:
		return nil, wire.Repeated(headerIdempotency)
	case key == "":
		return nil, wire.InvalidRequest.With("Idempotency-Key is an empty string; use a UUID.")
	case len(key) > maxIdempotencyKey:
		return nil, wire.InvalidRequest.With("Idempotency-Key is over 255 bytes; use a UUID.")
	}
	return newRecord(key, account, body)
}

func newRecord(key string, account int64, body []byte) (*record, *wire.Problem) {
	salt := binary.BigEndian.AppendUint64(nil, uint64(account))
	secret, err := hkdf.Key(sha256.New, []byte(key), salt, "addrspec stored answer", 32) // RFC 5869
	if err != nil {
		return nil, wire.Defect()
	}
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, wire.Defect()
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, wire.Defect()
	}
	r := &record{aead: aead}
	r.ID = sha256.Sum256(append(salt, key...))
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write(body)
	mac.Sum(r.Body[:0])
	return r, nil
}

// compressors are reused because a new one takes more than a megabyte.
var compressors = sync.Pool{New: func() any {
	c, _ := flate.NewWriter(nil, flate.BestSpeed) // the level is valid
	return c
}}

// seal compresses and encrypts a response for the ledger.
func (r *record) seal(resp []byte) []byte {
	var compressed bytes.Buffer
	c := compressors.Get().(*flate.Writer)
	defer compressors.Put(c)
	c.Reset(&compressed)
	_, _ = c.Write(resp) // a bytes.Buffer never fails
	_ = c.Close()
	return r.aead.Seal(nil, nil, compressed.Bytes(), r.Body[:])
}

// maxResponse is the largest size of a stored response in bytes. Real responses are far smaller, because
// the body of a batch has at most 1 MiB.
const maxResponse = 64 << 20

var (
	errNoRecord = errors.New("there is a stored response, but the request has no Idempotency-Key")
	errTooBig   = errors.New("the stored response is too big")
)

// open is the inverse of seal. It returns errTooBig if the response exceeds maxResponse.
func (r *record) open(sealed []byte) ([]byte, error) {
	if r == nil {
		return nil, errNoRecord
	}
	compressed, err := r.aead.Open(nil, nil, sealed, r.Body[:])
	if err != nil {
		return nil, err
	}
	resp, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(compressed)), maxResponse+1))
	switch {
	case err != nil:
		return nil, err
	case len(resp) > maxResponse:
		return nil, errTooBig
	}
	return resp, nil
}
