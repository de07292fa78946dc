package identity

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func admitted(n int, attempt func(n int) error) (count int) {
	for n := range n {
		if !tooMany(attempt(n)) {
			count++
		}
	}
	return count
}

func tooMany(err error) bool {
	_, refused := errors.AsType[*TooManyError](err)
	return refused
}

// Attempts at the same time, as from several replicas, get no more tokens than attempts in turn. A bucket that
// was used while the clock was ahead takes no longer than any other once it was set back.
func TestAttemptsAreLimited(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		kind := Kind{What: "test", Address: Limit{5, time.Minute}, All: Limit{7, time.Hour}}
		attempt := func(from string) error { return f.Attempt(t.Context(), kind, Caller{Address: from}) }
		require.Equal(t, 5, atOnce(20, func(int) error { return attempt("somebody") }))
		require.EqualError(t, attempt("somebody"), "there were too many attempts; try again in 60 seconds")
		f.advance(59 * time.Second)
		require.EqualError(t, attempt("somebody"), "there were too many attempts; try again in 1 second")
		f.advance(time.Second)
		require.NoError(t, attempt("somebody"))
		require.Equal(t, 1, admitted(10, func(n int) error { return attempt(fmt.Sprint("network ", n)) }), "all networks together")
		kind.What = "another"
		require.NoError(t, attempt("somebody"), "another kind has buckets of its own")
		f.advance(365 * 24 * time.Hour)
		require.Equal(t, kind.Address.Burst, admitted(10, func(int) error { return attempt("somebody") }))
		f.advance(-365 * 24 * time.Hour)
		require.True(t, tooMany(attempt("somebody")))
		f.advance(kind.All.Every)
		require.Equal(t, 1, admitted(10, func(int) error { return attempt("somebody") }), "of all networks")
	})
}

// What anybody can make many of is deleted a few rows at a time once it has expired.
func TestExpiredRowsAreDeletedInSlices(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		for _, insert := range []string{"challenges (hash, data, expires_ns) SELECT 'h' || i, '', 1", "attempts (subject, tat_ns) SELECT 's' || i, 1"} {
			_, err := f.database(t).ExecContext(t.Context(),
				"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250) INSERT INTO "+insert+" FROM n")
			require.NoError(t, err)
		}
		for _, left := range []int{151, 52, 3, 4} {
			must(f.begin(t.Context(), "", "", ""))(t)
			require.NoError(t, f.Attempt(t.Context(), Kind{What: fmt.Sprint(left), All: Limit{1, time.Minute}}, Caller{}))
			require.Equal(t, []int{left, left}, []int{f.rows(t, "challenges"), f.rows(t, "attempts")})
		}
	})
}

// However many networks take turns, an account's guesses are bounded by the hour, and a
// single network's leave the account's bucket to others.
func TestGuessesAtAnAccountAreBounded(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		for _, kind := range []Kind{Passwords, Codes} {
			hourOf := func(networks int) int {
				return admitted(60*networks, func(n int) error {
					if n%networks == 0 {
						f.advance(time.Minute)
					}
					from := Caller{Address: fmt.Sprint("address ", n%networks), Network: fmt.Sprint("network ", n%networks)}
					return f.guess(t.Context(), kind, from, "owner", false)
				})
			}
			perHour := func(l Limit) int { return l.Burst + int(time.Hour/l.Every) }
			require.LessOrEqual(t, hourOf(1), perHour(kind.Network), kind.What)
			require.NoError(t, f.guess(t.Context(), kind, Caller{Address: "elsewhere", Network: "elsewhere"}, "owner", false), kind.What)
			require.LessOrEqual(t, hourOf(8), perHour(kind.Account), kind.What)
			require.NoError(t, f.guess(t.Context(), kind, Caller{Address: "elsewhere"}, "other", false), kind.What)
		}
	})
}

// An owner goes on in a browser that is known while others have used up what there is. All
// known browsers have one bucket, so 30 tokens give no more guesses than one.
func TestKnownBrowsersShareABucket(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		u, secret, _ := f.withTOTP(t)
		replicas := []*Identity{f.Identity, New(f.ledger)}
		guess := func(from Caller) error {
			u.From = from
			return f.CheckCode(t.Context(), u, "wrong")
		}
		stranger := func(n int) error {
			u.From = Caller{Network: fmt.Sprint(n)}
			return replicas[n%2].CheckCode(t.Context(), u, "wrong")
		}
		require.Equal(t, Codes.Account.Burst, admitted(40, stranger), "on both replicas together")
		require.True(t, tooMany(f.CheckCode(t.Context(), u, f.codeAt(t, secret, 0))), "the right code as well")
		u.From = Caller{Device: u.DeviceToken()}
		require.NoError(t, f.CheckCode(t.Context(), u, f.codeAt(t, secret, 0)))

		f.advance(24 * time.Hour)
		one := admitted(40, func(int) error { return guess(Caller{Device: u.DeviceToken()}) })
		f.advance(24 * time.Hour)
		var tokens []string
		for range 30 {
			must(f.SignIn(t.Context(), u, "", "curl", true))(t)
			u = f.user(t)
			tokens = append(tokens, u.DeviceToken())
		}
		thirty := admitted(300, func(n int) error { return guess(Caller{Network: fmt.Sprint(n), Device: tokens[n%30]}) })
		require.Equal(t, one, thirty)
		require.Equal(t, 2*Codes.Account.Burst, thirty, "its own bucket, and the one that it has as a stranger")
	})
}

// A token is worth something for its account, until the password or the authenticator app
// changes; sealing the app's secret with another key changes neither.
func TestDeviceTokens(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		other := must(f.SignUp(ctx, "other@example.com", "correct horse battery"))(t)
		u := f.withUser(t)
		require.NoError(t, f.SetPassword(ctx, u, "correct horse battery"))
		u = f.user(t)
		token := u.DeviceToken()
		ends := func(name string) {
			u = f.user(t)
			require.False(t, u.knows(Caller{Device: token}), name)
			token = u.DeviceToken()
		}
		for name, forged := range map[string]string{"another account's": other.DeviceToken(), "changed": strings.ToUpper(token),
			"cut": token[:len(token)-1], "longer": token + "A", "empty": ""} {
			require.False(t, u.knows(Caller{Device: forged}), name)
		}
		require.False(t, new(User).knows(Caller{Device: new(User).DeviceToken()}), "nobody's")
		require.NoError(t, f.SetPassword(ctx, u, "another long password"))
		ends("a new password")
		f.setTOTP(t)
		ends("an authenticator app, for anybody who knew the password alone")
		before := f.stored(t, f.account)
		for _, keys := range [][]string{{oneKey}, {otherKey, oneKey}} {
			must(f.sealedBy(t, keys...).SealAll(ctx, f.ledger.Store()))(t)
			require.NotEqual(t, before, f.stored(t, f.account))
			u = f.user(t)
			require.True(t, u.knows(Caller{Device: token}))
		}
		f.setTOTP(t)
		ends("another app")
		require.NoError(t, f.RemoveTOTP(ctx, f.user(t)))
		ends("the removal of the app")

		limit := func(from Caller) int {
			return admitted(3*Passwords.Account.Burst, func(n int) error {
				from.Address, from.Network = fmt.Sprint(n), fmt.Sprint(n)
				return f.guess(ctx, Passwords, from, u.Email, u.knows(from))
			})
		}
		require.Equal(t, Passwords.Account.Burst, limit(Caller{}))
		_, err := f.CheckPassword(ctx, "Owner@example.com ", "another long password", Caller{})
		require.True(t, tooMany(err), "the same account, however it is written")
		_, err = f.CheckPassword(ctx, u.Email, "another long password", Caller{Device: token})
		require.NoError(t, err, "strangers have used up theirs")
		require.Equal(t, Passwords.Account.Burst-1, limit(Caller{Device: token}))
	})
}

// Another session's wrong confirmations, as those of a cookie's thief, block none, and
// sessions together are bounded as well.
func TestConfirmations(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		u := f.withUser(t)
		confirm := func(session int64) error {
			u.From.Session = session
			return f.guess(t.Context(), Confirmations, Caller{Network: fmt.Sprint(session)}, accountName(u.Account), false)
		}
		require.Equal(t, Confirmations.Network.Burst, admitted(20, func(int) error { return confirm(1) }))
		u.From.Session = 1
		require.True(t, tooMany(f.ConfirmPassword(t.Context(), u, "wrong")))
		u.From.Session = 2
		require.ErrorIs(t, f.ConfirmPassword(t.Context(), u, "wrong"), ErrWrongPassword)
		require.Equal(t, Confirmations.Account.Burst-Confirmations.Network.Burst-1, admitted(100, func(n int) error { return confirm(int64(3 + n)) }))
		_, err := f.CheckPassword(t.Context(), accountName(u.Account), "wrong", Caller{})
		require.ErrorIs(t, err, ErrWrongPassword, "an email that is the account's number")
	})
}
