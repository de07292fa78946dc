package main

import (
	"errors"
	"fmt"
	"strings"
)

// edgeSecrets are the secrets of --edge-secret: the current one and, while workers
// are changed from one secret to the next, the other. Its text is that of the flag,
// a list separated by a comma.
type edgeSecrets string

const (
	shortestSecret = 16
	mostSecrets    = 2
)

// list returns the secrets, none if there is no edge.
func (s edgeSecrets) list() []string {
	if s == "" {
		return nil
	}
	return strings.Split(string(s), ",")
}

// check rejects a secret that can be guessed or that a header cannot contain (RFC
// 9110 section 5.5). Its errors do not contain the secrets.
func (s edgeSecrets) check() error {
	secrets := s.list()
	if len(secrets) > mostSecrets {
		return fmt.Errorf("--edge-secret has %d secrets: must be one, or two separated by a comma while workers change from one to the other", len(secrets))
	}
	for n, secret := range secrets {
		if err := checkSecret(secret); err != nil {
			return fmt.Errorf("--edge-secret%s %w", ordinal(n, len(secrets)), err)
		}
	}
	if len(secrets) == mostSecrets && secrets[0] == secrets[1] {
		return errors.New("--edge-secret has the same secret twice: the second is the one that workers change to or from")
	}
	return nil
}

// ordinal says which of several secrets an error is about.
func ordinal(n, of int) string {
	if of == 1 {
		return ""
	}
	return []string{", the first of two,", ", the second of two,"}[n]
}

func checkSecret(secret string) error {
	switch {
	case strings.TrimSpace(secret) != secret, strings.ContainsFunc(secret, notPrintableASCII):
		return errors.New("has white space at its start or end, or a character that is not printable ASCII: workers cannot send it in a header; use letters and digits")
	case len(secret) < shortestSecret:
		return fmt.Errorf("has %d characters: must be at least %d random ones, such as the output of openssl rand -hex 24", len(secret), shortestSecret)
	}
	return nil
}

func notPrintableASCII(r rune) bool { return r < ' ' || r > '~' }
