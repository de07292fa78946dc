package signuphook

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// tolerance is how old or how new the timestamp of a request may be.
const tolerance = 5 * time.Minute

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
	id = h.Get(standardwebhooks.HeaderWebhookID)
	if !validID(id) {
		return "", wrongID
	}
	stamp := h.Get(standardwebhooks.HeaderWebhookTimestamp)
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || !consistsOf(stamp, digits, 12) || now.Sub(time.Unix(seconds, 0)).Abs() > tolerance {
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

type secretEntry struct {
	SecretFile string `json:"secret_file"`
	SecretEnv  string `json:"secret_env"`
}

// Bounds of secrets. A secret has 24 to 64 bytes (Standard Webhooks 1.0.0, "Signature
// scheme"); some systems make longer ones.
const (
	maxSecretText = 4 << 10
	mostSecrets   = 2
	leastBytes    = 24
	mostBytes     = 256
)

// readSecrets reads the secrets from the file or the environment variable.
func (e *secretEntry) readSecrets(h *Hook, directory string) error {
	text, source, err := e.text(directory)
	if err != nil {
		return err
	}
	if h.verifier, err = parseSecrets(text); err != nil {
		return fmt.Errorf("the secret in %s %w", source, err)
	}
	return nil
}

// text returns the text of the secrets and where it is from.
func (e *secretEntry) text(directory string) (text, source string, err error) {
	switch {
	case (e.SecretFile == "") == (e.SecretEnv == ""):
		return "", "", errors.New(`needs either "secret_file", the path of a file with the secret, or "secret_env", the name of an environment variable with it`)
	case e.SecretEnv != "":
		text, found := os.LookupEnv(e.SecretEnv)
		if !found {
			return "", "", fmt.Errorf(`"secret_env": the environment variable %s is not set`, e.SecretEnv)
		}
		return text, "the environment variable " + e.SecretEnv, nil
	}
	path := beside(directory, e.SecretFile)
	text, err = readShort(path)
	return text, path, err
}

// beside returns the path of a file that the file in directory names.
func beside(directory, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(directory, path)
}

func readShort(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf(`"secret_file": %w`, err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxSecretText+1))
	if err == nil && len(text) > maxSecretText {
		err = errors.New("it is over 4 KiB, too long for a secret")
	}
	if err != nil {
		return "", fmt.Errorf(`"secret_file" %s: %w`, path, err)
	}
	return string(text), nil
}

// parseSecrets parses one secret, or a new and an old one while callers change from
// one to the other. Both whsec_... and Supabase's v1,whsec_... are accepted, with a
// comma, |, or white space between two. Its errors do not contain the secrets.
func parseSecrets(text string) (v verifier, err error) {
	for _, secret := range strings.FieldsFunc(text, isSeparator) {
		if secret == "v1" { // the prefix of Supabase: the version of the signature
			continue
		}
		if err := checkSecret(secret); err != nil {
			return nil, err
		}
		w, err := standardwebhooks.NewWebhook(secret)
		if err != nil { // checkSecret decoded it already
			return nil, errors.New("cannot be decoded")
		}
		v = append(v, w)
	}
	if len(v) == 0 || len(v) > mostSecrets {
		return nil, fmt.Errorf("has %d secrets: it must have one, or NEW,OLD while callers change from one to the other", len(v))
	}
	return v, nil
}

func isSeparator(r rune) bool { return strings.ContainsRune(",| \t\r\n", r) }

func checkSecret(secret string) error {
	encoded, found := strings.CutPrefix(secret, "whsec_")
	if !found {
		return errors.New("does not begin with whsec_ or v1,whsec_: copy it as the sign-up system shows it, or make one with: echo whsec_$(openssl rand -base64 32)")
	}
	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return errors.New("is not base64 after whsec_: check that it was not cut off")
	}
	if len(key) < leastBytes || len(key) > mostBytes {
		return fmt.Errorf("has %d bytes: it must have %d to %d random ones; make one with: echo whsec_$(openssl rand -base64 32)", len(key), leastBytes, mostBytes)
	}
	return nil
}
