package ledger

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever fails, neither a key nor an address stands in the error.
func TestErrorsTellNoSecrets(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, plenty)
		admitted := b.send(b.once(1, 1))
		const canary = "canary@example.com"
		_, err := b.CreateAccount(b.ctx, canary, Terms{})
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
		_, err = b.Admit(b.ctx, b.once(2, 2))
		collect(err)
		_, err = b.Settle(b.ctx, admitted, Settlement{Answer: []byte(canary)})
		collect(err)
		_, _, err = b.CreateKey(b.ctx, b.account, canary)
		collect(err)
		_, err = b.CreateAccount(b.ctx, "y"+canary, Terms{})
		collect(err)
		_, err = b.AccountByEmail(b.ctx, canary)
		collect(err)
		for _, err := range errs {
			text := fmt.Sprintf("%+v %#v", err, err.Error())
			require.NotContains(t, text, "canary")
			require.NotContains(t, text, b.secret[4:])
			hash := digestOf(b.secret)
			require.NotContains(t, text, toHex(hash[:]))
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
		query := "ALTER TABLE " + fmt.Sprintf(from, table) + " RENAME TO " + fmt.Sprintf(to, table)
		var err error
		switch s := b.store.(type) {
		case *sqlite:
			_, err = s.write.ExecContext(b.ctx, query)
		case *postgres:
			_, err = s.pool.Exec(b.ctx, query)
		}
		require.NoError(b, err)
	}
}
