package identity

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
)

// withUser makes the fixture's user.
func (f *fixture) withUser(t *testing.T) User {
	_, err := f.CreateLink(t.Context(), f.account)
	require.NoError(t, err)
	u, err := f.User(t.Context(), f.account)
	require.NoError(t, err)
	return u
}

func (f *fixture) codeAt(t *testing.T, secret string, after time.Duration) string {
	code, err := totp.GenerateCode(secret, time.Unix(0, f.clock.Load()).Add(after))
	require.NoError(t, err)
	return code
}

// withTOTP gives the fixture's user an authenticator app, and moves the clock on.
func (f *fixture) withTOTP(t *testing.T) (u User, secret string, recovery []string) {
	u = f.withUser(t)
	secret, _, err := NewTOTP(u.Email)
	require.NoError(t, err)
	recovery, err = f.SetTOTP(t.Context(), u, secret, f.codeAt(t, secret, 0))
	require.NoError(t, err)
	f.advance(time.Hour)
	u, err = f.User(t.Context(), f.account)
	require.NoError(t, err)
	require.True(t, u.SecondFactor())
	return u, secret, recovery
}

func TestTOTPNeedsACodeToCount(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		u := f.withUser(t)
		secret, url, err := NewTOTP(u.Email)
		require.NoError(t, err)
		require.Contains(t, url, "otpauth://totp/addrspec:owner@example.com?")
		again, err := TOTPURL(u.Email, secret)
		require.NoError(t, err)
		require.Equal(t, url, again)
		_, err = f.SetTOTP(t.Context(), u, secret, "000000")
		require.ErrorContains(t, err, "The code is wrong")
		_, err = f.SetTOTP(t.Context(), u, "MFRGG", f.codeAt(t, secret, 0))
		require.ErrorContains(t, err, "not one that this page made")
		u, err = f.User(t.Context(), f.account)
		require.NoError(t, err)
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
		var accepted atomic.Int64
		var wait sync.WaitGroup
		for n := range 8 {
			wait.Go(func() {
				if replicas[n%2].CheckCode(t.Context(), u, code) == nil {
					accepted.Add(1)
				}
			})
		}
		wait.Wait()
		require.EqualValues(t, 1, accepted.Load())
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

func TestCodesAreLimited(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		u, secret, _ := f.withTOTP(t)
		replicas, refused := []*Identity{f.Identity, New(f.ledger)}, 0
		for n := range 40 {
			var tooMany *TooManyError
			if err := replicas[n%2].CheckCode(t.Context(), u, "123"); err != nil && !isWrong(err) {
				require.ErrorAs(t, err, &tooMany)
				refused++
			}
		}
		require.Equal(t, 40-CodesOfAccount.Burst, refused)
		require.Error(t, f.CheckCode(t.Context(), u, f.codeAt(t, secret, 0)), "the right one as well")
		f.advance(CodesOfAccount.Every)
		require.NoError(t, f.CheckCode(t.Context(), u, f.codeAt(t, secret, 0)))
	})
}

func isWrong(err error) bool { return err == ErrWrongCode }

func TestRecoveryCodes(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		u, _, recovery := f.withTOTP(t)
		require.Len(t, recovery, 10)
		require.NoError(t, f.CheckCode(ctx, u, " "+recovery[3][:10]+" "+recovery[3][10:]))
		require.ErrorIs(t, f.CheckCode(ctx, u, recovery[3]), ErrWrongCode, "each once")
		other, err := f.ledger.CreateAccount(ctx, "other@example.com", ledger.Terms{})
		require.NoError(t, err)
		_, err = f.CreateLink(ctx, other.ID)
		require.NoError(t, err)
		stranger, err := f.User(ctx, other.ID)
		require.NoError(t, err)
		require.ErrorIs(t, f.CheckCode(ctx, stranger, recovery[4]), ErrWrongCode, "of another account")
		renewed, err := f.RenewRecoveryCodes(ctx, u)
		require.NoError(t, err)
		require.ErrorIs(t, f.CheckCode(ctx, u, recovery[5]), ErrWrongCode, "replaced")
		require.NoError(t, f.CheckCode(ctx, u, renewed[0]))
		left, err := f.RecoveryCodesLeft(ctx, f.account)
		require.NoError(t, err)
		require.Equal(t, 9, left)
		require.NoError(t, f.RemoveTOTP(ctx, f.account))
		left, err = f.RecoveryCodesLeft(ctx, f.account)
		require.NoError(t, err)
		require.Zero(t, left)
		_, err = f.RenewRecoveryCodes(ctx, stranger)
		require.ErrorContains(t, err, "Set one up first")
	})
}

func TestResetFactors(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		_, _, _ = f.withTOTP(t)
		d := newDevice(t)
		f.register(t, d, "phone")
		token, err := f.SignIn(ctx, f.account, "", "curl", true)
		require.NoError(t, err)
		require.NoError(t, f.ResetFactors(ctx, f.account))
		_, err = f.Session(ctx, token)
		require.ErrorIs(t, err, ErrNoSession)
		u, err := f.User(ctx, f.account)
		require.NoError(t, err)
		require.False(t, u.TOTP)
		require.Zero(t, u.Passkeys)
		log, err := f.ledger.AuditLog(ctx, f.account, 0, 1)
		require.NoError(t, err)
		require.Equal(t, "factors.reset", log[0].Action)
	})
}
