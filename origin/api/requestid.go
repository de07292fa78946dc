package api

import "crypto/rand"

// maxRequestID is the length in bytes of the longest caller's id that is used.
const maxRequestID = 128

// requestID returns the caller's id if it is safe in a header and a log line, and
// a new one otherwise.
func requestID(given string) string {
	if given == "" || len(given) > maxRequestID {
		return rand.Text()
	}
	for _, c := range []byte(given) {
		if !isToken(c) {
			return rand.Text()
		}
	}
	return given
}

func isToken(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' ||
		c == '-' || c == '_' || c == '.' || c == ':'
}
