package api

import (
	"bytes"
	"compress/flate"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"io"
	"sync"
)

// A stored answer is compressed (DEFLATE) and then encrypted with AES-256-GCM
// and a random nonce. The encryption key is HKDF-SHA256(Idempotency-Key, salt =
// account); the additional data is the HMAC of the request's body.

// maxAnswer is the largest decompressed size of a stored answer, in bytes. Real
// answers are far smaller, since the body of a batch has at most 1 MiB.
const maxAnswer = 64 << 20

// newAEAD derives the cipher from the Idempotency-Key (HKDF, RFC 5869).
func newAEAD(key string, salt []byte) (cipher.AEAD, error) {
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

// seal compresses and encrypts an answer for the ledger. It returns nil for a nil
// record.
func (r *idempotencyRecord) seal(answer []byte) []byte {
	if r == nil {
		return nil
	}
	return r.aead.Seal(nil, nil, compress(answer), r.Body[:])
}

var (
	errNoRecord = errors.New("there is a stored answer, but the request has no Idempotency-Key")
	errTooBig   = errors.New("the stored answer is too big")
)

// open is the inverse of seal.
func (r *idempotencyRecord) open(sealed []byte) ([]byte, error) {
	if r == nil {
		return nil, errNoRecord
	}
	compressed, err := r.aead.Open(nil, nil, sealed, r.Body[:])
	if err != nil {
		return nil, err
	}
	return decompress(compressed, maxAnswer)
}

// compressors are reused because a new one takes more than a megabyte.
var compressors = sync.Pool{New: func() any {
	c, _ := flate.NewWriter(nil, flate.BestSpeed) // the level is a valid one
	return c
}}

func compress(plain []byte) []byte {
	var out bytes.Buffer
	c := compressors.Get().(*flate.Writer)
	defer compressors.Put(c)
	c.Reset(&out)
	_, _ = c.Write(plain) // a bytes.Buffer never fails
	_ = c.Close()
	return out.Bytes()
}

// decompress returns errTooBig if the result exceeds limit bytes.
func decompress(compressed []byte, limit int64) ([]byte, error) {
	plain, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(compressed)), limit+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(plain)) > limit:
		return nil, errTooBig
	}
	return plain, nil
}
