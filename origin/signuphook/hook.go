// Package signuphook decides sign-ups: a system that creates users asks, before it
// creates one, whether the address may sign up, and gets allow or deny.
//
// The file of --hooks has the hooks (file.go). Each has the format of its caller,
// the secrets that sign its requests, the account that pays, and a policy, the document
// that says which addresses to deny and which only to flag (policy.go). The module
// evaluates it, as it does for every other caller.
//
// Requests are signed as Standard Webhooks 1.0.0 describes. The signature is checked
// by the library of that specification, which Supabase uses too, so both sides agree
// (verify.go). This package reads requests and writes responses, as values; origin/api
// has the route, which checks the address and charges for it.
//
// The file is JSON, as the file of --plans is. go-json-experiment/json reads it and
// the requests: unlike encoding/json it refuses a member that occurs twice, so two
// readers cannot see two different addresses, and it reports where an error is.
package signuphook

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	"golang.org/x/time/rate"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
)

// A Hook is one entry of the file.
type Hook struct {
	Name    string // part of the route
	Account string // the email of the account that pays
	OnError Decision
	Timeout time.Duration // of the check of the address and its MX lookup

	policy   policy
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

// Defaults and bounds. A caller waits for the response, Supabase for 5 s in all, so the
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
func (e *entry) hook(directory string) (*Hook, error) {
	h := &Hook{Name: e.Name, Account: e.Account, Timeout: defaultTimeout}
	steps := []func(*Hook, string) error{e.readName, e.readFormat, e.readSecrets, e.readAccount, e.readPolicy, e.readOnError, e.readLimits, e.readMessages}
	for _, step := range steps {
		if err := step(h, directory); err != nil {
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
	h.format = formats[e.Format]
	if h.format == nil {
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

// Payers has the secrets with which hooks charge their accounts. It is safe for
// concurrent use.
type Payers struct {
	ledger *ledger.Ledger
	create singleflight.Group
	mu     sync.Mutex
	secret map[payer]paidBy
}

// A payer is a hook and its account, which a new file may change.
type payer struct{ hook, account string }

type paidBy struct {
	secret string
	until  time.Time // by this machine's clock
}

const (
	renewBefore = 5 * time.Minute  // the end of a secret
	createTime  = 10 * time.Second // to create one
)

// ErrPayer means that an account cannot pay for a hook, whatever the database does: it
// is gone, or its owner revoked the hook's key.
var ErrPayer = errors.New("the account cannot pay")

// NewPayers returns Payers for the accounts of a ledger.
func NewPayers(l *ledger.Ledger) *Payers {
	return &Payers{ledger: l, secret: map[payer]paidBy{}}
}

// Secret returns a secret of the hook's key. Requests that need a new one at the same
// time share it, so none is cancelled with the request that asked first.
func (p *Payers) Secret(ctx context.Context, h *Hook) (string, error) {
	of := payer{h.Name, h.Account}
	p.mu.Lock()
	known, found := p.secret[of]
	p.mu.Unlock()
	if found && time.Now().Before(known.until) {
		return known.secret, nil
	}
	created := p.create.DoChan(of.hook+" "+of.account, func() (any, error) { return p.renew(context.WithoutCancel(ctx), of) })
	select {
	case r := <-created:
		secret, _ := r.Val.(string)
		return secret, r.Err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// Drop forgets a secret that was refused.
func (p *Payers) Drop(h *Hook, secret string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	of := payer{h.Name, h.Account}
	if p.secret[of].secret == secret {
		delete(p.secret, of)
	}
}

func (p *Payers) renew(ctx context.Context, of payer) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, createTime)
	defer cancel()
	account, err := p.ledger.AccountByEmail(ctx, of.account)
	if err == nil && !account.Suspended.IsZero() {
		return "", fmt.Errorf("%w: it is suspended", ErrPayer)
	}
	if err != nil {
		return "", cannotPay(err)
	}
	start := time.Now()
	secret, expires, err := p.ledger.HookSecret(ctx, account.ID, of.hook)
	if err != nil {
		return "", cannotPay(err)
	}
	now, err := p.ledger.Now(ctx)
	if err != nil {
		return "", err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.secret[of] = paidBy{secret, start.Add(max(expires.Sub(now)-renewBefore, time.Second))}
	return secret, nil
}

// cannotPay marks the errors that remain until somebody changes something. They have
// no email.
func cannotPay(err error) error {
	switch {
	case errors.Is(err, book.ErrNoAccount):
		return fmt.Errorf("%w: there is no such account", ErrPayer)
	case errors.Is(err, book.ErrRevoked):
		return fmt.Errorf("%w: its owner revoked the hook's key; give the hook another name, or another account", ErrPayer)
	case errors.Is(err, book.ErrTooManyKeys), errors.Is(err, book.ErrTooManyActiveKeys):
		return fmt.Errorf("%w: it has too many keys to get one for the hook", ErrPayer)
	}
	return err
}

// A Registry has the hooks in use, which a reload replaces. It is safe for concurrent
// use.
type Registry struct {
	Payers *Payers
	mu     sync.RWMutex
	set    *Set
}

// NewRegistry returns a registry with the hooks of a file.
func NewRegistry(s *Set, p *Payers) *Registry { return &Registry{set: s, Payers: p} }

// Find returns the hook with a name, or nil; a nil registry has none.
func (r *Registry) Find(name string) *Hook {
	if r == nil {
		return nil
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.set.Find(name)
}

// Replace puts the hooks of a reloaded file in use.
func (r *Registry) Replace(s *Set) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.set = s
}
