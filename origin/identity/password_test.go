package identity

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alexedwards/argon2id"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/limit"
)

func TestPasswordsThatAreRefused(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		u := User{Account: f.account, Email: "a.long.name@example.com"}
		for password, reason := range map[string]string{
			"": "shorter than 10", "short": "shorter than 10", strings.Repeat("ab", 129): "longer than 256", "a.long.name": "must not be the email",
			"aaaaaaaaaaaaaaa": "repeats", "\xff2345678901": "UTF-8",
			"password12": "commonest", "PassWord12": "commonest", "qwertyuiop": "commonest", "1234567890": "commonest", "Password2026!": "commonest",
			"sunshine99!!": "commonest", "a.long.name1": "must not be the email", "AddrSpec2026": "name of the service",
			"correct\thorse battery": "cannot type", "zero\u200bwidth space": "cannot type", "e\u0301e\u0301e\u0301e\u0301e\u0301": "shorter than 10",
		} {
			var input *InputError
			require.ErrorAs(t, f.SetPassword(t.Context(), u, password), &input, "%q", password)
			require.Contains(t, input.Sentence, reason)
		}
		for _, password := range []string{"correct horse battery", "sunshine over password12", "password-or-not", "michael8473920184", "пароль, и не один",
			norm.NFD.String(strings.Repeat("é", 128))} {
			require.NoError(t, f.SetPassword(t.Context(), u, password), password)
		}
	})
}

// A password is the same however a keyboard types its letters and spaces. A hash from
// before there was a normal form matches what was typed then.
func TestPasswordForms(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		const nfc, nfd, wide = "caf\u00e9 na\u00efve horse", "cafe\u0301 nai\u0308ve horse", "caf\u00e9\u3000na\u00efve\u00a0horse"
		u := f.withUser(t)
		right := func(password string) bool { return f.match(t.Context(), "", password, u.password) == nil }
		for _, set := range []string{nfc, nfd, wide} {
			require.NoError(t, f.SetPassword(t.Context(), u, set))
			u = f.user(t)
			require.Equal(t, []bool{true, true, true, false, false},
				[]bool{right(nfc), right(nfd), right(wide), right(strings.ToUpper(nfd)), right("cafe naive horse")}, "%q", set)
		}
		for _, old := range []string{nfd, wide, "with\ta tab", "zero\u200bwidth space"} {
			hash := must(argon2id.CreateHash(old, hashing))(t)
			u.password = hash
			require.True(t, right(old), "%q", old)
			require.False(t, right(nfc), "%q", old)
		}
		u.password = ""
		require.False(t, right(nfd))
	})
}

// The list has what its header says, in a form that isCommon can search.
func TestCommonPasswords(t *testing.T) {
	header, list, _ := strings.Cut(commonPasswords, "\n\n")
	require.Contains(t, header, "Licence: MIT")
	require.Contains(t, header, "sha512-")
	words := strings.Fields(list)
	require.Len(t, words, 10_000)
	require.True(t, slices.IsSorted(words))
	require.Len(t, slices.Compact(slices.Clone(words)), len(words))
	for _, word := range words {
		require.True(t, isCommon(strings.ToUpper(word)), word)
	}
	require.False(t, isCommon("") || isCommon("Licence: MIT"))
}

func TestSignUp(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		u := must(f.SignUp(ctx, "New@Example.com", "a long password"))(t)
		require.Equal(t, "new@example.com", u.Email)
		must(f.CheckPassword(ctx, "new@example.com", "a long password", Caller{}))(t)
		require.ErrorIs(t, errOf(f.SignUp(ctx, "new@example.com", "another password")), book.ErrAccountExists)
		_, err := f.CheckPassword(ctx, "new@example.com", "another password", Caller{})
		require.ErrorIs(t, err, ErrWrongPassword, "not overwritten")
		_, err = f.CheckPassword(ctx, "new\x00\xff@example.com", "a\x00\xff long password", Caller{})
		require.ErrorIs(t, err, ErrWrongPassword, "what no database stores")
		require.ErrorAs(t, errOf(f.SignUp(ctx, "third@example.com", "short")), new(*InputError))
		require.ErrorIs(t, errOf(f.ledger.AccountByEmail(ctx, "third@example.com")), book.ErrNoAccount)
	})
}

// While others hash, a hash waits for two seconds and is then refused. One network that takes
// all it can get delays another network's sign-in and does not prevent it.
func TestHashesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &Identity{hashing: newHashing()}
		require.NoError(t, i.hashing.Take(t.Context(), "one", hashesAtOnce))
		require.ErrorIs(t, errOf(i.hash(t.Context(), "other", "correct horse battery", "")), ErrBusy)
		i.hashing.Free("one", hashesAtOnce)

		spray, stop := context.WithCancel(t.Context())
		var ended sync.WaitGroup
		for range 2 * hashesAfter * hashesAtOnce {
			ended.Go(func() {
				for spray.Err() == nil {
					_ = i.hashed(spray, "one", func() error { time.Sleep(40 * time.Millisecond); return nil })
					time.Sleep(10 * time.Millisecond) // by the bubble's clock, as all times here
				}
			})
		}
		defer ended.Wait()
		defer stop()
		time.Sleep(5 * time.Second)
		began := time.Now()
		require.ErrorIs(t, i.match(t.Context(), "other", "wrong password", ""), ErrWrongPassword)
		require.LessOrEqual(t, time.Since(began), 100*time.Millisecond)
	})
}

// Each hash of a password that somebody gives counts as one of the caller's network.
func TestHashesAreOfTheNetwork(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		ctx, password := t.Context(), "correct horse battery"
		require.NoError(t, f.SetPassword(ctx, f.withUser(t), password))
		f.hashing = limit.New[string](limit.Config{Units: 2, PerOwner: 1})
		require.NoError(t, f.hashing.Take(ctx, "busy", 1))
		for network, want := range map[string]error{"busy": ErrBusy, "other": nil} {
			u := f.user(t)
			u.From.Network = network
			require.ErrorIs(t, errOf(f.CheckPassword(ctx, u.Email, password, u.From)), want, network)
			require.ErrorIs(t, f.ConfirmPassword(ctx, u, password), want, network)
			require.ErrorIs(t, f.SetPassword(ctx, u, password), want, network)
		}
	})
}
