package signuphook

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

const (
	tolerance     = 5 * time.Minute // how old or how new the timestamp of a request may be
	maxSignatures = 1 << 10         // bytes of webhook-signature: 47 for each of the sender's secrets

	mostSecrets = 2
	// A secret has 24 to 64 bytes (Standard Webhooks 1.0.0, "Signature scheme"); some systems make longer ones.
	leastBytes = 24
	mostBytes  = 256
)

// validID matches a webhook-id. It has no dot, brace or quote: the signed text is
// id.timestamp.body, and with these a part of the body could be read as an ID.
var validID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

// What is wrong with a request whose signature is refused. None says which part of a
// signature differs.
const (
	wrongHeaders = "The request is not signed: send the headers webhook-id, webhook-timestamp and webhook-signature " +
		"of Standard Webhooks, each once."
	wrongID        = "The header webhook-id must be 1 to 128 letters, digits, - and _."
	wrongTimestamp = "The header webhook-timestamp is more than 5 minutes from this service's time: " +
		"send the seconds since 1970, and check the clock."
	wrongSignature = "The signature does not match: check that the secret is the hook's, " +
		"and that the body is sent as it was signed."
	wrongBearer = "The request does not have the hook's secret: send it once, as Authorization: Bearer whsec_..."
)

// CheckHeaders checks what can be checked before the body is read, so that most requests that are not the
// caller's cost nothing. It returns the value of webhook-id, if there is one, or what is wrong.
func (h *Hook) CheckHeaders(header http.Header, now time.Time) (id, wrong string) {
	if h.seat.bearer {
		return "", h.verifier.checkBearer(header)
	}
	for _, name := range []string{standardwebhooks.HeaderWebhookID, standardwebhooks.HeaderWebhookTimestamp,
		standardwebhooks.HeaderWebhookSignature} {
		if values := header.Values(name); len(values) != 1 || values[0] == "" || len(values[0]) > maxSignatures {
			return "", wrongHeaders
		}
	}
	id = header.Get(standardwebhooks.HeaderWebhookID)
	if !validID.MatchString(id) {
		return "", wrongID
	}
	seconds, err := strconv.ParseUint(header.Get(standardwebhooks.HeaderWebhookTimestamp), 10, 40)
	if err != nil || now.Sub(time.Unix(int64(seconds), 0)).Abs() > tolerance {
		return "", wrongTimestamp
	}
	return id, ""
}

// A verifier has the current secret and, while it is changed, the other.
type verifier []hookSecret

type hookSecret struct {
	webhook *standardwebhooks.Webhook
	digest  [sha256.Size]byte // of the secret as it is sent
}

// checkBearer compares the token of the header Authorization (RFC 6750 section 2.1) with every secret, in
// constant time. The digests have one length, whatever was sent.
func (v verifier) checkBearer(header http.Header) (wrong string) {
	scheme, token, _ := strings.Cut(header.Get("Authorization"), " ")
	digest, valid := sha256.Sum256([]byte(token)), 0
	for _, secret := range v {
		valid |= subtle.ConstantTimeCompare(digest[:], secret.digest[:])
	}
	if valid == 0 || !strings.EqualFold(scheme, "Bearer") || len(header.Values("Authorization")) > 1 {
		return wrongBearer
	}
	return ""
}

// Bearer reports whether requests carry the secret. Then CheckHeaders is all there is to check.
func (h *Hook) Bearer() bool { return h.seat.bearer }

// Verify checks the signature and the timestamp, and returns what is wrong or "". The
// signature is compared in constant time, with every secret.
func (h *Hook) Verify(body []byte, header http.Header) (wrong string) {
	valid := h.seat.bearer
	for _, secret := range h.verifier {
		valid = secret.webhook.Verify(body, header) == nil || valid
	}
	if !valid {
		return wrongSignature
	}
	return ""
}

// parseSecrets parses one secret, or a new and an old one while callers change from
// one to the other. Both whsec_... and Supabase's v1,whsec_... are accepted, with a
// comma, |, or white space between two. Its errors do not contain the secrets.
func parseSecrets(text string) (v verifier, err error) {
	const advice = "make one with: echo whsec_$(openssl rand -base64 32)"
	separator := func(r rune) bool { return strings.ContainsRune(",| \t\r\n", r) }
	for _, secret := range strings.FieldsFunc(text, separator) {
		if secret == "v1" { // the prefix of Supabase: the version of the signature
			continue
		}
		encoded, found := strings.CutPrefix(secret, "whsec_")
		if !found {
			return nil, errors.New("does not begin with whsec_ or v1,whsec_: " +
				"copy it as the sign-up system shows it, or " + advice)
		}
		key, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return nil, errors.New("is not base64 after whsec_: check that it was not cut off")
		}
		if len(key) < leastBytes || len(key) > mostBytes {
			return nil, fmt.Errorf("has %d bytes: it must have %d to %d random ones; "+advice,
				len(key), leastBytes, mostBytes)
		}
		w, err := standardwebhooks.NewWebhookRaw(key)
		if err != nil {
			return nil, err
		}
		v = append(v, hookSecret{w, sha256.Sum256([]byte(secret))})
	}
	if len(v) == 0 || len(v) > mostSecrets {
		return nil, fmt.Errorf("has %d secrets: it must have one, or NEW,OLD while callers change "+
			"from one to the other", len(v))
	}
	return v, nil
}
