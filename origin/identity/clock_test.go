package identity

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// ahead is by how much the clock of these tests was wrong.
const ahead = 365 * 24 * time.Hour

// wrongly runs do while the clock is ahead, and corrects it.
func (f *fixture) wrongly(do func()) {
	f.advance(ahead)
	do()
	f.advance(-ahead)
}

// A clock that was ahead locks nobody out after it is corrected, and what it has left
// neither lives longer than usual nor stays for ever.
func TestAttemptsAfterTheClockWasAhead(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		limit := Limit{"test", 3, time.Minute}
		f.wrongly(func() {
			for range 4 {
				_ = f.Attempt(t.Context(), limit, "somebody")
			}
			require.NoError(t, f.Attempt(t.Context(), limit, "who does not return"))
		})
		for range 3 {
			require.NoError(t, f.Attempt(t.Context(), limit, "somebody"))
		}
		var tooMany *TooManyError
		require.ErrorAs(t, f.Attempt(t.Context(), limit, "somebody"), &tooMany)
		require.Equal(t, time.Minute, tooMany.Wait)
		require.Equal(t, 1, f.rows(t, "attempts"), "the row that nobody asks for is deleted")
	})
}

// A request that is late by less than a minute, as another replica's may be, fills no
// bucket.
func TestLateAttemptFillsNoBucket(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		limit := Limit{"test", 3, time.Minute}
		for range 3 {
			require.NoError(t, f.Attempt(t.Context(), limit, "somebody"))
		}
		f.advance(-50 * time.Second)
		var tooMany *TooManyError
		require.ErrorAs(t, f.Attempt(t.Context(), limit, "somebody"), &tooMany)
	})
}

func TestCodesAfterTheClockWasAhead(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		u, secret, _ := f.withTOTP(t)
		f.wrongly(func() { require.NoError(t, f.CheckCode(t.Context(), u, f.codeAt(t, secret, 0))) })
		code := f.codeAt(t, secret, 0)
		require.NoError(t, f.CheckCode(t.Context(), u, code))
		require.ErrorIs(t, f.CheckCode(t.Context(), u, code), ErrWrongCode, "once, as always")
	})
}

func TestSessionsAfterTheClockWasAhead(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		f.withUser(t)
		before, err := f.SignIn(ctx, User{Account: f.account}, "", "before", true)
		require.NoError(t, err)
		var complete, incomplete string
		f.advance(time.Hour)
		f.wrongly(func() {
			complete, err = f.SignIn(ctx, User{Account: f.account}, "", "curl", true)
			require.NoError(t, err)
			incomplete, err = f.SignIn(ctx, User{Account: f.account}, "", "curl", false)
			require.NoError(t, err)
		})
		for _, token := range []string{complete, incomplete} {
			_, err = f.Session(ctx, token)
			require.ErrorIs(t, err, ErrNoSession, "it would last a year longer")
		}
		list, err := f.Sessions(ctx, f.account)
		require.NoError(t, err)
		require.Empty(t, list, "the first one had expired by the wrong clock")
		_, err = f.Session(ctx, before)
		require.ErrorIs(t, err, ErrNoSession)
		_, err = f.SignIn(ctx, User{Account: f.account}, "", "after", true)
		require.NoError(t, err)
		require.Equal(t, 1, f.rows(t, "sessions"))
	})
}

// A session that was used while the clock was ahead goes on, expires when it should,
// and is no fresh proof.
func TestSessionUsedWhileTheClockWasAhead(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		f.withUser(t)
		token, err := f.SignIn(ctx, User{Account: f.account}, "", "curl", true)
		require.NoError(t, err)
		f.advance(5 * 24 * time.Hour)
		s, err := f.Session(ctx, token)
		require.NoError(t, err)
		require.NoError(t, f.Confirm(ctx, s))
		f.advance(-5 * 24 * time.Hour)
		s, err = f.Session(ctx, token)
		require.NoError(t, err)
		now := time.Unix(0, f.clock.Load())
		require.False(t, s.Fresh(now))
		require.True(t, now.Add(sessionIdle).Equal(s.Expires), s.Expires)
		list, err := f.Sessions(ctx, f.account)
		require.NoError(t, err)
		require.True(t, now.Equal(list[0].Seen), list[0].Seen)
	})
}

func TestLinkMadeWhileTheClockWasAhead(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		var token string
		f.wrongly(func() {
			var err error
			token, err = f.CreateLink(t.Context(), f.account)
			require.NoError(t, err)
		})
		_, err := f.LinkUser(t.Context(), token)
		require.ErrorIs(t, err, ErrLinkUsed)
		_, _, err = f.UseLink(t.Context(), token)
		require.ErrorIs(t, err, ErrLinkUsed)
	})
}

func TestCeremonyBegunWhileTheClockWasAhead(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		c := ceremony{"test", "browser"}
		var state string
		f.wrongly(func() {
			var err error
			state, err = f.begin(t.Context(), c, "data")
			require.NoError(t, err)
		})
		var data string
		require.ErrorIs(t, f.finish(t.Context(), c, state, &data), ErrChallenge)
		_, err := f.begin(t.Context(), c, "data")
		require.NoError(t, err)
		require.Equal(t, 1, f.rows(t, "challenges"), "the other is deleted")
	})
}

// What a limit leaves while the clock is right must not be taken for impossible.
func TestLongestLimit(t *testing.T) {
	for _, limit := range []Limit{PasswordsOfAddress, PasswordsOfNetwork, PasswordsOfAccount, PasswordsOfDevice, ConfirmationsOfSession,
		CodesOfAccount, CodesOfDevice, LinksOfAddress, ChallengesOfAddress, Challenges, SignUpsOfAddress, SignUpsOfDay} {
		require.LessOrEqual(t, limit.full(), longestLimit, limit.What)
	}
}
