package api

import (
	"encoding/base32"
	"encoding/binary"
	"math/rand/v2"
)

// maxRequestID is the length in bytes of the longest caller's id that is used.
const maxRequestID = 128

// requestID returns the caller's id if it is safe in a header and a log line, and
// a new one otherwise.
func requestID(given string) string {
	if given == "" || len(given) > maxRequestID {
		return newRequestID()
	}
	for _, c := range []byte(given) {
		if !isToken(c) {
			return newRequestID()
		}
	}
	return given
}

// newRequestID returns 128 random bits. It is no secret, so it does not ask the system
// for them, as crypto/rand does with a system call.
func newRequestID() string {
	var bits [16]byte
	binary.LittleEndian.PutUint64(bits[:8], rand.Uint64())
	binary.LittleEndian.PutUint64(bits[8:], rand.Uint64())
	var text [26]byte
	unpadded.Encode(text[:], bits[:])
	return string(text[:])
}

var unpadded = base32.StdEncoding.WithPadding(base32.NoPadding)

func isToken(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' ||
		c == '-' || c == '_' || c == '.' || c == ':'
}
