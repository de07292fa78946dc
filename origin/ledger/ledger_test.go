package ledger

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// No error contains a secret, its digest or an email address.
func TestErrorsContainNoSecrets(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, unlimitedTerms)
		under := f.mustBegin()
		_, err := under.Claim(1, nil)
		require.NoError(t, err)
		const canary = "canary@example.com"
		_, err = f.CreateAccount(f.ctx, canary, book.Terms{})
		require.NoError(t, err)

		errs := []error{}
		collect := func(err error) {
			require.Error(t, err)
			errs = append(errs, err)
		}
		_, err = f.CreateAccount(f.ctx, canary, book.Terms{})
		collect(err)
		_, err = f.CreateAccount(f.ctx, canary+" x", book.Terms{})
		collect(err)
		_, err = f.AccountByEmail(f.ctx, "x"+canary)
		collect(err)
		cancelled, cancel := context.WithCancel(f.ctx)
		cancel()
		_, err = f.AccountByEmail(cancelled, canary)
		collect(err)

		f.hideTables()
		_, err = under.Charge(Charge{Points: 1, Response: []byte(canary)})
		collect(err)
		under.End()
		_, _, err = f.Begin(f.ctx, f.secret, "")
		collect(err)
		_, _, err = f.CreateKey(f.ctx, f.account, canary, book.KeyTerms{})
		collect(err)
		_, err = f.CreateAccount(f.ctx, "y"+canary, book.Terms{})
		collect(err)
		_, err = f.AccountByEmail(f.ctx, canary)
		collect(err)
		for _, err := range errs {
			text := fmt.Sprintf("%+v %#v", err, err.Error())
			require.NotContains(t, text, "canary")
			require.NotContains(t, text, f.secret[4:])
			require.NotContains(t, text, book.DigestOf(f.secret).Hex())
		}
		f.restoreTables()
	})
}

// hideTables renames tables, so that statements fail.
func (f *fixture) hideTables() { f.rename("%s", "%s_gone") }

// restoreTables reverts hideTables.
func (f *fixture) restoreTables() { f.rename("%s_gone", "%s") }

func (f *fixture) rename(from, to string) {
	f.Helper()
	for _, table := range []string{"accounts", "keys", "usage"} {
		f.exec("ALTER TABLE " + fmt.Sprintf(from, table) + " RENAME TO " + fmt.Sprintf(to, table))
	}
}
