package api

import "crypto/rand"

// maxRequestID bounds what a caller can make us repeat.
const maxRequestID = 128

// requestID takes over the caller's id where it is harmless in a header and a
// log line, and makes one otherwise.
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
