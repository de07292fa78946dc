// Package passkeytest makes passkeys for tests.
package passkeytest

import vw "github.com/descope/virtualwebauthn" // an authenticator in software, for tests

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
