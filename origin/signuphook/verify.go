package signuphook

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// Tolerance is how old or how new the timestamp of a request may be.
const Tolerance = 5 * time.Minute

// maxSignatures bounds webhook-signature in bytes: a signature has 47, and a sender
// sends one for each of its secrets.
const maxSignatures = 1 << 10

const (
	digits       = "0123456789"
	smallLetters = "abcdefghijklmnopqrstuvwxyz"
	letters      = smallLetters + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// consistsOf reports whether s has 1 to most characters, all of them of set.
func consistsOf(s, set string, most int) bool {
	return s != "" && len(s) <= most && strings.Trim(s, set) == ""
}

// validID reports whether id may be a webhook-id. It has no dot, brace or quote: the
// signed text is id.timestamp.body, and with these a part of the body could be read as
// an ID.
func validID(id string) bool { return consistsOf(id, letters+digits+"_-", 128) }

// What is wrong with a request whose signature is refused. None says which part of a
// signature differs.
const (
	wrongHeaders   = "The request is not signed: send the headers webhook-id, webhook-timestamp and webhook-signature of Standard Webhooks, each once."
	wrongID        = "The header webhook-id must be 1 to 128 letters, digits, - and _."
	wrongTimestamp = "The header webhook-timestamp is more than 5 minutes from this service's time: send the seconds since 1970, and check the clock."
	wrongSignature = "The signature does not match: check that the secret is the hook's, and that the body is sent as it was signed."
)

// CheckHeaders checks what can be checked before the body is read, so that most
// requests without a signature cost nothing. It returns the value of
// webhook-id, or what is wrong.
func CheckHeaders(h http.Header, now time.Time) (id, wrong string) {
	for _, name := range []string{standardwebhooks.HeaderWebhookID, standardwebhooks.HeaderWebhookTimestamp, standardwebhooks.HeaderWebhookSignature} {
		if values := h.Values(name); len(values) != 1 || values[0] == "" || len(values[0]) > maxSignatures {
			return "", wrongHeaders
		}
	}
	if id = h.Get(standardwebhooks.HeaderWebhookID); !validID(id) {
		return "", wrongID
	}
	stamp := h.Get(standardwebhooks.HeaderWebhookTimestamp)
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || !consistsOf(stamp, digits, 12) || now.Sub(time.Unix(seconds, 0)).Abs() > Tolerance {
		return "", wrongTimestamp
	}
	return id, ""
}

// A verifier has the current secret and, while it is changed, the other.
type verifier []*standardwebhooks.Webhook

// Verify checks the signature and the timestamp, and returns what is wrong or "". The
// signature is compared in constant time, with every secret.
func (h *Hook) Verify(body []byte, header http.Header) (wrong string) {
	valid := false
	for _, w := range h.verifier {
		valid = w.Verify(body, header) == nil || valid
	}
	if !valid {
		return wrongSignature
	}
	return ""
}
