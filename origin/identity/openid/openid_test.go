package openid

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/openidtest"
)

func clientOf(p *openidtest.Provider) *Provider {
	return New(Config{Issuer: p.URL, ClientID: openidtest.ClientID, Secret: openidtest.Secret, Redirect: "https://addrspec.example/sign-in/openid/callback"})
}

func begin(t *testing.T, p *Provider) (r Request, code string) {
	r = NewRequest()
	r.State = "the state"
	address, err := p.URL(r, false)
	require.NoError(t, err)
	back := openidtest.Visit(t, address)
	require.Equal(t, "addrspec.example", back.Host)
	require.Equal(t, "the state", back.Query().Get("state"))
	return r, back.Query().Get("code")
}

func TestSignIn(t *testing.T) {
	provider := openidtest.New(t, "ada")
	p := clientOf(provider)
	for range 3 {
		r, code := begin(t, p)
		id, err := p.Finish(t.Context(), r, code)
		require.NoError(t, err)
		require.Equal(t, Identity{Issuer: provider.URL, Subject: "ada"}, id)
		_, err = p.Finish(t.Context(), r, code)
		require.ErrorIs(t, err, ErrRefused, "a code that was used already")
	}
	asked, _ := provider.Asked()
	require.Equal(t, 1, asked, "the configuration is kept")

	at, r := time.Now().Truncate(time.Second), NewRequest()
	provider.SignsIn("ada", at)
	address, err := p.URL(r, true)
	require.NoError(t, err)
	id, err := p.Finish(t.Context(), r, openidtest.Visit(t, address).Query().Get("code"))
	require.NoError(t, err)
	require.True(t, at.Equal(id.SignedIn))
	_, request := provider.Asked()
	require.Equal(t, []string{"login", "0"}, []string{request.Get("prompt"), request.Get("max_age")}, "a fresh sign-in")
}

func TestForgedTokens(t *testing.T) {
	forged := openidtest.New(t, "ada")
	another, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	forged.SignWith(another)
	require.ErrorIs(t, signIn(t, clientOf(forged)), ErrRefused, "another's signature")
	for name, change := range map[string]func(map[string]any){
		"nonce of another sign-in": func(c map[string]any) { c["nonce"] = "another" },
		"no nonce":                 func(c map[string]any) { delete(c, "nonce") },
		"for another client":       func(c map[string]any) { c["aud"] = "another" },
		"issued to another client": func(c map[string]any) { c["aud"], c["azp"] = []string{openidtest.ClientID, "another"}, "another" },
		"issued to nobody":         func(c map[string]any) { c["azp"] = "" },
		"issued to a number":       func(c map[string]any) { c["azp"] = 1 },
		"of another issuer":        func(c map[string]any) { c["iss"] = "https://evil.example" },
		"expired":                  func(c map[string]any) { c["exp"] = time.Now().Add(-time.Minute).Unix() },
		"no subject":               func(c map[string]any) { c["sub"] = "" },
		"a very long subject":      func(c map[string]any) { c["sub"] = strings.Repeat("a", 256) },
	} {
		provider := openidtest.New(t, "ada")
		p := clientOf(provider)
		provider.Forge(change)
		require.ErrorIs(t, signIn(t, p), ErrRefused, name)
		provider.Forge(func(c map[string]any) { c["azp"] = openidtest.ClientID })
		require.NoError(t, signIn(t, p), "as it is without: %s", name)
	}
}

func signIn(t *testing.T, p *Provider) error {
	r, code := begin(t, p)
	_, err := p.Finish(t.Context(), r, code)
	return err
}

// RFC 7636: a code is worth nothing to who has not begun the sign-in.
func TestStolenCode(t *testing.T) {
	p := clientOf(openidtest.New(t, "ada"))
	r, code := begin(t, p)
	r.Verifier = NewRequest().Verifier
	_, err := p.Finish(t.Context(), r, code)
	require.ErrorIs(t, err, ErrRefused)
	require.NotContains(t, err.Error(), code)
}

// silent is a transport to a provider that never responds. It counts the requests.
type silent struct{ asked atomic.Int64 }

func (s *silent) RoundTrip(r *http.Request) (*http.Response, error) {
	s.asked.Add(1)
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestProviderIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		provider, usual := new(silent), client.Transport
		client.Transport = provider
		defer func() { client.Transport = usual }()
		p, began := New(Config{Issuer: "https://silent.example"}), time.Now()
		for range 3 {
			_, err := p.URL(NewRequest(), false)
			require.ErrorIs(t, err, ErrUnavailable)
		}
		require.Equal(t, timeout, time.Since(began))
		require.EqualValues(t, 1, provider.asked.Load())
		time.Sleep(retryAfter)
		_, err := p.URL(NewRequest(), false)
		require.ErrorIs(t, err, ErrUnavailable)
		require.EqualValues(t, 2, provider.asked.Load(), "asked again later")
	})
}

func TestProviderRespondsWithoutEnd(t *testing.T) {
	var sent atomic.Int64
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for {
			n, err := w.Write(make([]byte, 64<<10))
			if err != nil {
				return
			}
			sent.Add(int64(n))
		}
	}))
	_, err := New(Config{Issuer: endless.URL}).URL(NewRequest(), false)
	require.ErrorIs(t, err, ErrUnavailable)
	endless.Close()
	require.Less(t, sent.Load(), int64(32<<20), "a megabyte, and what sockets hold")
}
