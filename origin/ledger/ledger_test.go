package ledger

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
)

// No error contains a secret, its digest or an email address.
func TestErrorsContainNoSecrets(t *testing.T) {
	eachDatabase(t, unlimitedTerms, func(t *testing.T, f *fixture) {
		under := f.mustBegin()
		must(under.Claim(1, nil))(t)
		const canary = "canary@example.com"
		must(f.CreateAccount(f.ctx, canary, book.Terms{}))(t)

		requireNoSecret := func(_ any, err error) {
			t.Helper()
			require.Error(t, err)
			text := fmt.Sprintf("%+v %#v", err, err.Error())
			for _, secret := range []string{"canary", f.secret[4:], book.DigestOf(f.secret).Hex()} {
				require.NotContains(t, text, secret)
			}
		}
		requireNoSecret(f.CreateAccount(f.ctx, canary, book.Terms{}))
		requireNoSecret(f.CreateAccount(f.ctx, canary+" x", book.Terms{}))
		requireNoSecret(f.AccountByEmail(f.ctx, "x"+canary))
		cancelled, cancel := context.WithCancel(f.ctx)
		cancel()
		requireNoSecret(f.AccountByEmail(cancelled, canary))

		rename := func(from, to string) { // so that statements fail
			for _, table := range []string{"accounts", "keys", "usage"} {
				f.exec("ALTER TABLE " + table + from + " RENAME TO " + table + to)
			}
		}
		rename("", "_gone")
		requireNoSecret(under.Charge(Charge{Points: 1, Response: []byte(canary)}))
		under.End()
		_, _, err := f.Begin(f.ctx, f.secret, "")
		requireNoSecret(nil, err)
		_, _, err = f.CreateKey(f.ctx, f.account, canary, book.KeyTerms{})
		requireNoSecret(nil, err)
		requireNoSecret(f.CreateAccount(f.ctx, "y"+canary, book.Terms{}))
		requireNoSecret(f.AccountByEmail(f.ctx, canary))
		rename("_gone", "")
	})
}
