// Package passkeytest makes passkeys for tests.
package passkeytest

import (
	"testing"

	vw "github.com/descope/virtualwebauthn" // an authenticator in software, for tests
	"github.com/stretchr/testify/require"
)

// A Device is an authenticator with one passkey for a site.
type Device struct {
	Authenticator vw.Authenticator
	Credential    vw.Credential
	Site          vw.RelyingParty
}

func NewDevice(site vw.RelyingParty) *Device { return &Device{vw.NewAuthenticator(), New(), site} }

// Create returns what a browser's navigator.credentials.create returns.
func (d *Device) Create(t testing.TB, options []byte) string {
	parsed, err := vw.ParseAttestationOptions(string(options))
	require.NoError(t, err)
	d.Authenticator.Options.UserHandle = []byte(parsed.UserID)
	return vw.CreateAttestationResponse(d.Site, d.Authenticator, d.Credential, *parsed)
}

// Sign returns what a browser's navigator.credentials.get returns.
func (d *Device) Sign(t testing.TB, options []byte) string {
	parsed, err := vw.ParseAssertionOptions(string(options))
	require.NoError(t, err)
	d.Credential.Counter++
	return vw.CreateAssertionResponse(d.Site, d.Authenticator, d.Credential, *parsed)
}

// usualKey is the size of a public key with two coordinates of 32 bytes, in COSE
// (RFC 9053 section 7.1.1).
const usualKey = 77

// New returns a passkey. virtualwebauthn leaves out a zero byte at the start of a
// coordinate, which one key in 128 has, and such a key is rightly refused.
func New() vw.Credential {
	for {
		if c := vw.NewCredential(vw.KeyTypeEC2); len(c.Key.AttestationData()) == usualKey {
			return c
		}
	}
}
