package main

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"

	"github.com/addrspec/addrspec/origin/dashboard"
	"github.com/addrspec/addrspec/origin/openid"
)

// openIDFlags configure sign-in at an OpenID provider.
type openIDFlags struct {
	OpenIDIssuer       string `name:"openid-issuer" placeholder:"URL" help:"An OpenID provider, such as your company's, at which people may sign in once they have linked their identity in Settings: its issuer, exactly as it writes it. Register PUBLIC-URL/sign-in/openid/callback there."`
	OpenIDClientID     string `name:"openid-client-id" placeholder:"ID" help:"The client ID that the OpenID provider has given to the service."`
	OpenIDClientSecret string `name:"openid-client-secret" placeholder:"SECRET" help:"Its secret, if it has one. Other users can read command lines: give it as ADDRSPEC_OPENID_CLIENT_SECRET."`
	OpenIDName         string `name:"openid-name" placeholder:"NAME" help:"What people call the OpenID provider, such as the company's name (default: the issuer's host)."`
}

// openID returns the provider of the flags, which checkOpenID has accepted; nil if
// none is configured.
func (f *openIDFlags) openID(public *url.URL) *openid.Provider {
	if f.OpenIDIssuer == "" {
		return nil
	}
	name := f.OpenIDName
	if issuer, err := url.Parse(f.OpenIDIssuer); err == nil && name == "" {
		name = issuer.Hostname()
	}
	return openid.New(openid.Config{Issuer: f.OpenIDIssuer, ClientID: f.OpenIDClientID, Secret: f.OpenIDClientSecret, Name: name,
		Redirect: public.JoinPath(dashboard.OpenIDCallback).String()})
}

// checkOpenID refuses flags of which one is missing.
func (f *openIDFlags) checkOpenID() error {
	switch {
	case f.OpenIDIssuer == "" && (f.OpenIDClientID != "" || f.OpenIDClientSecret != "" || f.OpenIDName != ""):
		return errors.New("--openid-client-id, --openid-client-secret and --openid-name need --openid-issuer")
	case f.OpenIDIssuer == "":
		return nil
	case f.OpenIDClientID == "":
		return errors.New("--openid-issuer needs --openid-client-id, which the provider gives when you register the service there")
	}
	return checkIssuer(f.OpenIDIssuer)
}

// checkIssuer refuses a URL that cannot be an issuer (OpenID Connect Discovery
// section 3). Without TLS, anybody on the way could sign in as anybody, so http is
// for tests on this machine.
func checkIssuer(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Scheme != "https" && (u.Scheme != "http" || !onThisMachine(u.Hostname())) {
		return fmt.Errorf("--openid-issuer %q must be an https URL without query, such as https://login.company.example", text)
	}
	return nil
}

// onThisMachine reports whether a host is localhost or a loopback address.
func onThisMachine(host string) bool {
	at, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && at.IsLoopback()
}
