package api

import (
	"net/http"
	"strings"
)

// singleValue returns the value of a field that may have only one, "" if it is
// absent. The name is in canonical form. ok is false if the field is repeated or has a list, which two recipients
// could read differently. A recipient may join repeated fields with commas (RFC
// 9110 section 5.3), so both are treated alike.
func singleValue(h http.Header, name string) (value string, ok bool) {
	switch values := h[name]; len(values) {
	case 0:
		return "", true
	case 1:
		return values[0], !strings.Contains(values[0], ",")
	}
	return "", false
}

// repeatedHeader returns the problem of a field with more than one value.
func repeatedHeader(name string) *problem {
	return invalidRequest.with("The header " + name + " has more than one value; send it once.")
}
