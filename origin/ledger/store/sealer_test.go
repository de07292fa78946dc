package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
	"github.com/addrspec/addrspec/origin/rig/storetest"
)

const (
	oneKey   = "one key of the tests, which is not random"
	otherKey = "another key of the tests, neither random"
)

func sealer(t *testing.T, keys ...string) *store.Sealer {
	s, err := store.NewSealer(keys...)
	require.NoError(t, err)
	return s
}

func TestSealer(t *testing.T) {
	one := sealer(t, oneKey)
	sealed := one.Seal(store.SecretOfTOTP, 7, "JBSWY3DP")
	require.Regexp(t, `^sealed1\.[0-9a-f]{8}\.[A-Za-z0-9_-]+$`, sealed)
	require.NotContains(t, sealed, "JBSWY3DP")
	require.NotEqual(t, sealed, one.Seal(store.SecretOfTOTP, 7, "JBSWY3DP"), "a nonce of its own")
	secret, err := one.Open(store.SecretOfTOTP, 7, sealed)
	require.NoError(t, err)
	require.Equal(t, "JBSWY3DP", secret)
	require.Equal(t, sealed, one.Renewed(store.SecretOfTOTP, 7, sealed))
	require.Empty(t, one.Seal(store.SecretOfTOTP, 7, ""), "none remains none")

	for name, open := range map[string]func() (string, error){
		"another account":  func() (string, error) { return one.Open(store.SecretOfTOTP, 70, sealed) },
		"another purpose":  func() (string, error) { return one.Open(store.SecretOfWebhook, 7, sealed) },
		"cut":              func() (string, error) { return one.Open(store.SecretOfTOTP, 7, sealed[:len(sealed)-4]) },
		"nothing":          func() (string, error) { return one.Open(store.SecretOfTOTP, 7, sealed[:len("sealed1.01234567.")]) },
		"not in base64url": func() (string, error) { return one.Open(store.SecretOfTOTP, 7, sealed+"!") },
		"changed":          func() (string, error) { return one.Open(store.SecretOfTOTP, 7, sealed[:20]+flip(sealed[20:])) },
	} {
		_, err := open()
		require.ErrorIs(t, err, store.ErrAltered, name)
	}
}

// flip changes the first character.
func flip(text string) string {
	if text[0] == 'A' {
		return "B" + text[1:]
	}
	return "A" + text[1:]
}

// While keys are changed the first seals and both open. Without a key a secret is
// stored as it is.
func TestKeysOfASealer(t *testing.T) {
	var none *store.Sealer
	one, other, both := sealer(t, oneKey), sealer(t, otherKey), sealer(t, otherKey, oneKey)
	old := one.Seal(store.SecretOfWebhook, 1, "whsec_x")
	var unknown *store.UnknownKeyError
	for _, s := range []*store.Sealer{none, other} {
		_, err := s.Open(store.SecretOfWebhook, 1, old)
		require.ErrorAs(t, err, &unknown)
		require.Equal(t, one.IDs()[0], unknown.ID)
		require.Contains(t, err.Error(), "--secret-key")
		require.Equal(t, old, s.Renewed(store.SecretOfWebhook, 1, old), "what cannot be opened remains")
	}
	require.Equal(t, "whsec_x", none.Seal(store.SecretOfWebhook, 1, "whsec_x"))
	renewed := both.Renewed(store.SecretOfWebhook, 1, old)
	for _, c := range []struct {
		s      *store.Sealer
		stored string
	}{{both, old}, {other, renewed}, {one, "whsec_x"}} {
		secret, err := c.s.Open(store.SecretOfWebhook, 1, c.stored)
		require.NoError(t, err)
		require.Equal(t, "whsec_x", secret)
	}
}

// A start seals what earlier releases and the key of before have left, page by page,
// and nothing at all if a key is missing.
func TestSealAll(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		ctx, db := t.Context(), storetest.Open(t, url)
		one, other := sealer(t, oneKey), sealer(t, otherKey)
		const accounts = 230 // more than two pages
		require.NoError(t, db.Transact(ctx, store.Transaction{Decide: func(time.Time) (list []store.Statement, _ error) {
			for n := range int64(accounts) {
				ignore := func(store.Row) error { return nil }
				list = append(list,
					store.Statement{Name: "create_account", Args: []any{fmt.Sprintf("%d@example.com", n), "free", nil, nil, nil, 1}, Scan: ignore},
					store.Statement{Name: "create_user", Args: []any{n + 1, fmt.Sprint(n), 1}},
					store.Statement{Name: "put_totp", Args: []any{n + 1, fmt.Sprintf("SECRET%d", n+1), 0}},
					store.Statement{Name: "put_webhook", Args: []any{n + 1, "https://example.com", "whsec_before", 1}},
					store.Statement{Name: "rotate_webhook", Args: []any{n + 1, one.Seal(store.SecretOfWebhook, n+1, "whsec_now"), 1}})
			}
			return list, nil
		}}))
		var none *store.Sealer
		for _, wrong := range []*store.Sealer{none, other} {
			changed, err := wrong.SealAll(ctx, db)
			require.ErrorAs(t, err, new(*store.UnknownKeyError))
			require.Zero(t, changed)
		}
		counts, err := store.CountSecrets(ctx, db)
		require.NoError(t, err)
		require.Equal(t, map[string]int64{"": 2 * accounts, one.IDs()[0]: accounts}, counts)

		for _, s := range []*store.Sealer{one, sealer(t, otherKey, oneKey), other} {
			changed, err := s.SealAll(ctx, db)
			require.NoError(t, err)
			require.Equal(t, map[bool]int{true: 0, false: 2 * accounts}[s == other], changed, "no other key is needed any more")
			counts, err := store.CountSecrets(ctx, db)
			require.NoError(t, err)
			require.Equal(t, map[string]int64{s.IDs()[0]: 3 * accounts}, counts)
		}
		var secret, previous string
		require.NoError(t, db.Query(ctx, store.Statement{Name: "list_unsealed_webhooks", Args: []any{accounts - 1, "x", 1}, Scan: func(r store.Row) error {
			return r.Scan(new(int64), &secret, &previous)
		}}))
		for want, stored := range map[string]string{"whsec_now": secret, "whsec_before": previous} {
			opened, err := other.Open(store.SecretOfWebhook, accounts, stored)
			require.NoError(t, err)
			require.Equal(t, want, opened)
		}
	})
}
