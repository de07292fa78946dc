package signuphook

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

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
func (e *secretEntry) readSecrets(h *Hook, folder string) error {
	text, source, err := e.text(folder)
	if err != nil {
		return err
	}
	if h.verifier, err = parseSecrets(text); err != nil {
		return fmt.Errorf("the secret in %s %w", source, err)
	}
	return nil
}

// text returns the text of the secrets and where it is from.
func (e *secretEntry) text(folder string) (text, source string, err error) {
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
	path := e.SecretFile
	if !filepath.IsAbs(path) {
		path = filepath.Join(folder, path)
	}
	text, err = readShort(path)
	return text, path, err
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
