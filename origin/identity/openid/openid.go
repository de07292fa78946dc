// Package openid signs people in at an OpenID provider, such as that of their company: the
// authorization code flow with PKCE (OpenID Connect Core section 3.1, RFC 7636). It returns who
// they are there, by issuer and subject; what that is worth here is package identity's decision.
//
// The provider is asked for its configuration when somebody first signs in, so a provider that is
// down does not keep the service from starting. Everything it sends is bounded in size and time.
package openid

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc" // discovery, key sets and ID tokens
	"golang.org/x/oauth2"               // the code flow and PKCE

	"github.com/addrspec/addrspec/origin/outgoing"
)

// Each is a complete sentence for people.
var (
	ErrUnavailable = errors.New("the sign-in provider does not respond, or not as an OpenID provider does")
	ErrRefused     = errors.New("the sign-in provider has not confirmed who you are")
	ErrNotFresh    = errors.New("the sign-in provider did not ask you to sign in again")
)

// Config is the client's registration at a provider.
type Config struct {
	Issuer   string // its URL, exactly as the provider writes it
	ClientID string
	Secret   string // empty for a public client
	Name     string // what people call it, such as the company's name
	Redirect string // the URL of ours to which it sends people back
}

// A Provider is an OpenID provider. It is safe for concurrent use.
type Provider struct {
	Config

	mu     sync.Mutex
	found  *oidc.Provider // nil until discovered
	failed time.Time      // of the last discovery
}

// New returns a Provider. It does not ask the provider anything.
func New(c Config) *Provider { return &Provider{Config: c} }

// The bounds of a discovery.
const (
	timeout    = 5 * time.Second
	retryAfter = 5 * time.Second // so that a provider that is down is not asked by everybody
)

// discover returns the provider's configuration (OpenID Connect Discovery section 4), and us as its
// client. It is read once; its keys are read again when an unknown one signs.
func (p *Provider) discover() (*oidc.Provider, *oauth2.Config, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.found == nil {
		if time.Since(p.failed) < retryAfter {
			return nil, nil, ErrUnavailable
		}
		ctx, cancel := context.WithTimeout(oidc.ClientContext(context.Background(), client), timeout)
		defer cancel()
		found, err := oidc.NewProvider(ctx, p.Issuer)
		if err != nil {
			p.failed = time.Now()
			return nil, nil, errors.Join(ErrUnavailable, err)
		}
		p.found = found
	}
	return p.found, &oauth2.Config{ClientID: p.ClientID, ClientSecret: p.Secret, RedirectURL: p.Redirect,
		Endpoint: p.found.Endpoint(), Scopes: []string{oidc.ScopeOpenID}}, nil // neither email nor name: they decide nothing here
}

// A Request is what a sign-in must bring back.
type Request struct {
	State    string // bound to the browser by the caller
	Nonce    string // bound to the ID token
	Verifier string // of PKCE: a stolen code is worth nothing without it
}

// NewRequest returns a Request without a state.
func NewRequest() Request {
	return Request{Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier()}
}

// URL returns where a sign-in begins. fresh asks people to sign in again.
func (p *Provider) URL(r Request, fresh bool) (string, error) {
	_, us, err := p.discover()
	if err != nil {
		return "", err
	}
	options := []oauth2.AuthCodeOption{oidc.Nonce(r.Nonce), oauth2.S256ChallengeOption(r.Verifier)}
	if fresh {
		options = append(options, oauth2.SetAuthURLParam("prompt", "login"), oauth2.SetAuthURLParam("max_age", "0"))
	}
	return us.AuthCodeURL(r.State, options...), nil
}

// An Identity is who somebody is at a provider.
type Identity struct {
	Issuer, Subject string
	SignedIn        time.Time // there; zero if the provider does not say
}

// Finish exchanges the code of a response for an ID token, and verifies its signature, issuer,
// audience, authorized party, expiry and nonce (OpenID Connect Core section 3.1.3.7).
func (p *Provider) Finish(ctx context.Context, r Request, code string) (Identity, error) {
	found, us, err := p.discover()
	if err != nil {
		return Identity{}, err
	}
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, client), timeout)
	defer cancel()
	response, err := us.Exchange(ctx, code, oauth2.VerifierOption(r.Verifier))
	if err != nil { // without the provider's response, which may repeat a code
		kind := errors.New("the token endpoint's response cannot be read")
		if refusal, ok := errors.AsType[*oauth2.RetrieveError](err); ok && refusal.Response != nil {
			kind = errors.New("the token endpoint responded with " + refusal.Response.Status)
		} else if failure, ok := errors.AsType[*url.Error](err); ok {
			kind = failure.Err
		}
		return Identity{}, errors.Join(ErrRefused, kind)
	}
	text, _ := response.Extra("id_token").(string)
	token, err := found.Verifier(&oidc.Config{ClientID: p.ClientID}).Verify(ctx, text)
	var claims struct {
		AuthTime        int64   `json:"auth_time"`
		AuthorizedParty *string `json:"azp"`
	}
	if err == nil {
		err = token.Claims(&claims)
	}
	switch {
	case err != nil:
	case claims.AuthorizedParty != nil && *claims.AuthorizedParty != p.ClientID: // section 3.1.3.7, step 5
		err = errors.New("the token was issued to another client")
	case token.Nonce != r.Nonce:
		err = errors.New("the nonce is another")
	case token.Subject == "" || len(token.Subject) > 255: // section 2
		err = errors.New("the subject is missing or too long")
	}
	if err != nil {
		return Identity{}, errors.Join(ErrRefused, err)
	}
	id := Identity{Issuer: token.Issuer, Subject: token.Subject}
	if claims.AuthTime > 0 {
		id.SignedIn = time.Unix(claims.AuthTime, 0)
	}
	return id, nil
}

var client = func() *http.Client {
	c := outgoing.New(outgoing.Options{Timeout: timeout, Idle: 2})
	c.Transport = bounded{c.Transport}
	return c
}()

// bounded is a transport whose responses have at most maxResponse bytes: a configuration, keys, a token.
type bounded struct{ http.RoundTripper }

const maxResponse = 1 << 20

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		response.Body = http.MaxBytesReader(nil, response.Body, maxResponse)
	}
	return response, err
}
