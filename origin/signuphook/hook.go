package signuphook

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/time/rate"
)

// A Hook is one entry of the file.
type Hook struct {
	Name    string // part of the route
	Account string // the email of the account that pays
	OnError Decision
	Timeout time.Duration // of the check of the address and its MX look-up
	Policy  Policy

	format   format
	messages *messages
	verifier verifier
	limit    *rate.Limiter
}

// entry is a hook as JSON.
type entry struct {
	Name     string  `json:"name"`
	Format   string  `json:"format"`
	Account  string  `json:"account"`
	OnError  string  `json:"on_error"`
	Timeout  *string `json:"timeout"`
	Rate     *int    `json:"rate"`
	Language string  `json:"language"`
	policyEntry
	secretEntry
	Messages map[string]map[Reason]string `json:"messages"`
}

// Defaults and bounds. A caller waits for the answer, Supabase for 5 s in all, so the
// default leaves time for the charge.
const (
	defaultTimeout  = 3 * time.Second
	shortestTimeout = 100 * time.Millisecond
	longestTimeout  = 30 * time.Second
	defaultRate     = 20 // requests a second with a valid signature
	maxRate         = 10_000
)

// validName reports whether name may be the name of a hook, which is a part of a path, a
// label of metrics and the name of a key.
func validName(name string) bool {
	return consistsOf(name, smallLetters+digits+"-", 50) && name[0] != '-' && name[len(name)-1] != '-'
}

// hook checks the entry and reads its secrets.
func (e *entry) hook(folder string) (*Hook, error) {
	h := &Hook{Name: e.Name, Account: e.Account, Timeout: defaultTimeout}
	steps := []func(*Hook, string) error{e.readName, e.readFormat, e.readSecrets, e.readAccount, e.readPolicy, e.readOnError, e.readLimits, e.readMessages}
	for _, step := range steps {
		if err := step(h, folder); err != nil {
			return nil, err
		}
	}
	return h, nil
}

func (e *entry) readName(*Hook, string) error {
	if !validName(e.Name) {
		return errors.New(`"name" must be 1 to 50 of a-z, 0-9 and -, without - at its start or end; it is the end of the path /v1/hooks/NAME`)
	}
	return nil
}

func (e *entry) readFormat(h *Hook, _ string) error {
	if h.format = formats[e.Format]; h.format == nil {
		return fmt.Errorf(`"format" is %.40q: it must be "generic" or "supabase"`, e.Format)
	}
	return nil
}

func (e *entry) readAccount(*Hook, string) error {
	if name, domain, _ := strings.Cut(e.Account, "@"); name == "" || domain == "" {
		return errors.New(`"account" must be the email of the account that pays`)
	}
	return nil
}

func (e *entry) readOnError(h *Hook, _ string) error {
	switch e.OnError {
	case string(Allow), string(Deny):
		h.OnError = Decision(e.OnError)
		return nil
	}
	return fmt.Errorf(`"on_error" is %.40q: it must be "allow" or "deny", the decision if an address cannot be checked: no points, no database, no DNS`, e.OnError)
}

func (e *entry) readLimits(h *Hook, _ string) error {
	if e.Timeout != nil {
		t, err := time.ParseDuration(*e.Timeout)
		if err != nil || t < shortestTimeout || t > longestTimeout {
			return fmt.Errorf(`"timeout" is %.40q: it must be from %s to %s, such as "3s"`, *e.Timeout, shortestTimeout, longestTimeout)
		}
		h.Timeout = t
	}
	perSecond := defaultRate
	if e.Rate != nil {
		perSecond = *e.Rate
	}
	if perSecond < 1 || perSecond > maxRate {
		return fmt.Errorf(`"rate" is %d: it must be from 1 to %d requests a second`, perSecond, maxRate)
	}
	h.limit = rate.NewLimiter(rate.Limit(perSecond), 2*perSecond)
	return nil
}

// Allow takes a token of the hook's rate and reports whether there was one. It is
// called for requests with a valid signature only, so that others cannot use it up.
func (h *Hook) Allow() bool { return h.limit.Allow() }
