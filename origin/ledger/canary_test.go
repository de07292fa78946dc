package ledger

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever fails, neither a key nor an address is in the error.
func TestErrorsHoldNoSecrets(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, plenty)
		under := b.arrive()
		_, err := under.Claim(1, nil)
		require.NoError(t, err)
		const canary = "canary@example.com"
		_, err = b.CreateAccount(b.ctx, canary, Terms{})
		require.NoError(t, err)

		errs := []error{}
		collect := func(err error) {
			require.Error(t, err)
			errs = append(errs, err)
		}
		_, err = b.CreateAccount(b.ctx, canary, Terms{})
		collect(err)
		_, err = b.CreateAccount(b.ctx, canary+" x", Terms{})
		collect(err)
		_, err = b.AccountByEmail(b.ctx, "x"+canary)
		collect(err)
		cancelled, cancel := context.WithCancel(b.ctx)
		cancel()
		_, err = b.AccountByEmail(cancelled, canary)
		collect(err)

		b.wreck()
		_, err = under.Charge(Charge{Points: 1, Answer: []byte(canary)})
		collect(err)
		under.End()
		_, _, err = b.Begin(b.ctx, b.secret)
		collect(err)
		_, _, err = b.CreateKey(b.ctx, b.account, canary, KeyTerms{})
		collect(err)
		_, err = b.CreateAccount(b.ctx, "y"+canary, Terms{})
		collect(err)
		_, err = b.AccountByEmail(b.ctx, canary)
		collect(err)
		for _, err := range errs {
			text := fmt.Sprintf("%+v %#v", err, err.Error())
			require.NotContains(t, text, "canary")
			require.NotContains(t, text, b.secret[4:])
			require.NotContains(t, text, digestOf(b.secret).hex())
		}
		b.mend()
	})
}

// wreck takes tables away; mend brings them back.
func (b *bench) wreck() { b.rename("%s", "%s_gone") }
func (b *bench) mend()  { b.rename("%s_gone", "%s") }

func (b *bench) rename(from, to string) {
	b.Helper()
	for _, table := range []string{"accounts", "keys", "usage"} {
		b.sql("ALTER TABLE " + fmt.Sprintf(from, table) + " RENAME TO " + fmt.Sprintf(to, table))
	}
}
