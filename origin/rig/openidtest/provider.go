// Package openidtest is a small OpenID provider for tests, on a real socket. It
// signs everybody in as the subject that the test has set, and can be made to
// send tokens that a client must refuse. No program that ships imports it.
package openidtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/coreos/go-oidc/v3/oidc/oidctest"
	"github.com/stretchr/testify/require"
)

// ClientID and Secret are the registration of the client.
const (
	ClientID = "addrspec"
	Secret   = "a secret of the client"
)

// keyID names the only key.
const keyID = "1"

// A Provider is an OpenID provider that listens.
type Provider struct {
	URL string

	mu       sync.Mutex
	signer   *ecdsa.PrivateKey
	subject  string
	authTime time.Time
	forge    func(claims map[string]any)
	codes    map[string]url.Values // the requests by code
	last     url.Values            // the last authorization request
	asked    int                   // requests for the configuration
}

// New starts a provider that signs people in as subject.
func New(t testing.TB, subject string) *Provider {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	public := &oidctest.Server{Algorithms: []string{oidc.ES256},
		PublicKeys: []oidctest.PublicKey{{PublicKey: key.Public(), KeyID: keyID, Algorithm: oidc.ES256}}}
	p := &Provider{signer: key, subject: subject, codes: map[string]url.Values{}}
	mux := http.NewServeMux()
	mux.Handle("GET /keys", public)
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.asked++
		p.mu.Unlock()
		public.ServeHTTP(w, r)
	})
	mux.HandleFunc("GET /auth", p.authorize)
	mux.HandleFunc("POST /token", p.token)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	public.SetIssuer(server.URL)
	p.URL = server.URL
	return p
}

// SignWith changes the key that signs tokens, not the keys that are published.
func (p *Provider) SignWith(key *ecdsa.PrivateKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.signer = key
}

// SignsIn sets who is signed in at the provider, and since when.
func (p *Provider) SignsIn(subject string, at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.subject, p.authTime = subject, at
}

// Forge sets a function that changes the claims of each token; nil for none.
func (p *Provider) Forge(change func(claims map[string]any)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forge = change
}

// Asked returns how often the configuration was read, and the last authorization
// request.
func (p *Provider) Asked() (int, url.Values) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked, p.last
}

// authorize sends the browser back with a code at once.
func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q, code := r.URL.Query(), rand.Text()
	if q.Get("client_id") != ClientID || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" ||
		q.Get("scope") != "openid" {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	p.codes[code], p.last = q, q
	back, _ := url.Parse(q.Get("redirect_uri"))
	back.RawQuery = url.Values{"code": {code}, "state": {q.Get("state")}}.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

// token exchanges a code, once, for an ID token.
func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	code := r.PostFormValue("code")
	request, found := p.codes[code]
	delete(p.codes, code)
	id, secret, _ := r.BasicAuth()
	proof := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	w.Header().Set("Content-Type", "application/json")
	if !found || id != ClientID || secret != url.QueryEscape(Secret) ||
		r.PostFormValue("redirect_uri") != request.Get("redirect_uri") ||
		base64.RawURLEncoding.EncodeToString(proof[:]) != request.Get("code_challenge") {
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]any{"error": "invalid_grant"})
		return
	}
	now := time.Now()
	claims := map[string]any{"iss": p.URL, "sub": p.subject, "aud": ClientID, "iat": now.Unix(),
		"exp": now.Add(time.Minute).Unix(), "nonce": request.Get("nonce")}
	if !p.authTime.IsZero() {
		claims["auth_time"] = p.authTime.Unix()
	}
	if p.forge != nil {
		p.forge(claims)
	}
	text, err := json.Marshal(claims)
	if err != nil {
		panic(err)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"access_token": "unused", "token_type": "Bearer",
		"id_token": oidctest.SignIDToken(p.signer, keyID, oidc.ES256, string(text))})
}

// Visit visits the provider as a browser does, and returns where it sends people back.
func Visit(t testing.TB, address string) *url.URL {
	browser := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := browser.Get(address)
	require.NoError(t, err)
	defer resp.Body.Close()
	back, err := resp.Location()
	require.NoError(t, err, resp.Status)
	return back
}
