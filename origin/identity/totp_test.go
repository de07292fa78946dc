package identity

import (
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

func (f *fixture) codeAt(t *testing.T, secret string, after time.Duration) string {
	return must(totp.GenerateCode(secret, time.Unix(0, f.clock.Load()).Add(after)))(t)
}

func newSecret(t *testing.T) string {
	secret, _, err := NewTOTP("owner@example.com", "")
	require.NoError(t, err)
	return secret
}

// withTOTP makes the fixture's user with an authenticator app, and moves the clock on.
func (f *fixture) withTOTP(t *testing.T) (u User, secret string, recovery []string) {
	u, secret = f.withUser(t), newSecret(t)
	recovery = must(f.SetTOTP(t.Context(), u, secret, f.codeAt(t, secret, 0)))(t)
	f.advance(time.Hour)
	u = f.user(t)
	require.True(t, u.TOTP)
	return u, secret, recovery
}

func (f *fixture) setTOTPAs(t *testing.T, u User) error {
	secret := newSecret(t)
	return errOf(f.SetTOTP(t.Context(), u, secret, f.codeAt(t, secret, 0)))
}

func (f *fixture) setTOTP(t *testing.T) { require.NoError(t, f.setTOTPAs(t, f.user(t))) }

func TestTOTPNeedsACodeToCount(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		u := f.withUser(t)
		secret, url, err := NewTOTP(u.Email, "not a secret")
		require.NoError(t, err)
		require.Contains(t, url, "otpauth://totp/addrspec:owner@example.com?")
		same, again, err := NewTOTP(u.Email, secret)
		require.NoError(t, err)
		require.Equal(t, []string{secret, url}, []string{same, again})
		require.ErrorContains(t, errOf(f.SetTOTP(t.Context(), u, secret, "000000")), "The code is wrong")
		require.ErrorContains(t, errOf(f.SetTOTP(t.Context(), u, "MFRGG", "000000")), "not one that this page made")
		u = f.user(t)
		require.False(t, u.TOTP)
		require.ErrorIs(t, f.CheckCode(t.Context(), u, f.codeAt(t, "", 0)), ErrWrongCode, "the code of no secret")
	})
}

// RFC 6238 section 5.2: a code is accepted once, even if it comes to two replicas
// at the same time, and none that is older than one accepted.
func TestTOTPCodeIsAcceptedOnce(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		u, secret, _ := f.withTOTP(t)
		replicas := []*Identity{f.Identity, New(f.ledger)}
		code := f.codeAt(t, secret, 0)
		require.Equal(t, 1, atOnce(8, func(n int) error { return replicas[n%2].CheckCode(t.Context(), u, code) }))
		f.advance(time.Hour)
		require.NoError(t, f.CheckCode(t.Context(), u, f.codeAt(t, secret, 30*time.Second)), "a clock that is ahead")
		require.ErrorIs(t, f.CheckCode(t.Context(), u, f.codeAt(t, secret, 0)), ErrWrongCode, "older than one accepted")
		f.advance(time.Hour)
		require.NoError(t, f.CheckCode(t.Context(), u, f.codeAt(t, secret, -30*time.Second)), "a clock that is behind")
		for _, skew := range []time.Duration{-61 * time.Second, 61 * time.Second} {
			f.advance(time.Hour)
			require.ErrorIs(t, f.CheckCode(t.Context(), u, f.codeAt(t, secret, skew)), ErrWrongCode, skew)
		}
	})
}

func TestRecoveryCodes(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		u, _, recovery := f.withTOTP(t)
		require.Len(t, recovery, 10)
		require.NoError(t, f.CheckCode(ctx, u, " "+recovery[3][:10]+" "+recovery[3][10:]))
		require.ErrorIs(t, f.CheckCode(ctx, u, recovery[3]), ErrWrongCode, "each once")
		stranger := must(f.SignUp(ctx, "other@example.com", "correct horse battery"))(t)
		require.ErrorIs(t, f.CheckCode(ctx, stranger, recovery[4]), ErrWrongCode, "of another account")
		renewed := must(f.RenewRecoveryCodes(ctx, u))(t)
		require.ErrorIs(t, f.CheckCode(ctx, u, recovery[5]), ErrWrongCode, "replaced")
		require.NoError(t, f.CheckCode(ctx, u, renewed[0]))
		require.Equal(t, 9, must(f.RecoveryCodesLeft(ctx, f.account))(t))
		require.NoError(t, f.RemoveTOTP(ctx, f.user(t)))
		require.Zero(t, must(f.RecoveryCodesLeft(ctx, f.account))(t))
		require.ErrorContains(t, errOf(f.RenewRecoveryCodes(ctx, stranger)), "Set one up first")
	})
}

func TestResetFactors(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		f.withTOTP(t)
		f.register(t, newDevice(), "phone")
		token := f.signIn(t, true)
		require.NoError(t, f.ResetFactors(ctx, f.account))
		require.ErrorIs(t, errOf(f.Session(ctx, token)), ErrNoSession)
		u := f.user(t)
		require.False(t, u.TOTP)
		require.Zero(t, u.Passkeys)
		require.Equal(t, "factors.reset", must(f.ledger.AuditLog(ctx, f.account, 0, 1))(t)[0].Action)
	})
}

func (f *fixture) sealedBy(t *testing.T, keys ...string) *store.Sealer {
	s := must(store.NewSealer(keys...))(t)
	f.WithSealer(s)
	return s
}

func (f *fixture) stored(t *testing.T, account int64) (text string) {
	require.NoError(t, f.database(t).QueryRowContext(t.Context(), "SELECT totp FROM users WHERE account = $1", account).Scan(&text))
	return text
}

const (
	oneKey   = "one key of the tests, which is not random"
	otherKey = "another key of the tests, neither random"
)

// A thief of the database has no secret of an authenticator app, and cannot use one as another account's. Secrets
// from before there was a key, and of the key of before, are sealed as they are used.
func TestSecretOfTheAppIsSealed(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		_, secret, recovery := f.withTOTP(t)
		require.Equal(t, secret, f.stored(t, f.account))
		for _, keys := range [][]string{{oneKey}, {otherKey, oneKey}, {otherKey}} {
			s := f.sealedBy(t, keys...)
			u := f.user(t)
			require.NoError(t, f.CheckCode(ctx, u, f.codeAt(t, secret, 0)))
			require.ErrorIs(t, f.CheckCode(ctx, u, f.codeAt(t, secret, 0)), ErrWrongCode)
			require.NoError(t, errOf(f.SignIn(ctx, u, "", "curl", true)), "the user has not changed")
			require.Contains(t, f.stored(t, f.account), s.IDs()[0])
			require.NotContains(t, f.stored(t, f.account), secret)
			f.advance(time.Hour)
		}
		thief := must(f.SignUp(ctx, "other@example.com", "correct horse battery"))(t)
		move := "UPDATE users SET totp = (SELECT totp FROM users WHERE account = $1) WHERE account = $2"
		must(f.database(t).ExecContext(ctx, move, f.account, thief.Account))(t)
		thief = must(f.User(ctx, thief.Account))(t)
		require.ErrorIs(t, f.CheckCode(ctx, thief, f.codeAt(t, secret, 0)), store.ErrAltered)

		f.WithSealer(nil)
		u := f.user(t)
		err := f.CheckCode(ctx, u, f.codeAt(t, secret, 0))
		require.ErrorAs(t, err, new(*store.UnknownKeyError))
		require.NotContains(t, err.Error(), secret)
		require.NoError(t, f.CheckCode(ctx, u, recovery[0]), "a recovery code needs no key")
	})
}
