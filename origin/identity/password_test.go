package identity

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/alexedwards/argon2id"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"github.com/addrspec/addrspec/origin/ledger/book"
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
		right := func(password string) bool { return f.match(t.Context(), password, u.password) == nil }
		for _, set := range []string{nfc, nfd, wide} {
			require.NoError(t, f.SetPassword(t.Context(), u, set))
			u = f.user(t)
			require.Equal(t, []bool{true, true, true, false, false},
				[]bool{right(nfc), right(nfd), right(wide), right(strings.ToUpper(nfd)), right("cafe naive horse")}, "%q", set)
		}
		for _, old := range []string{nfd, wide, "with\ta tab", "zero\u200bwidth space"} {
			hash, err := argon2id.CreateHash(old, hashing)
			require.NoError(t, err)
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
	header, list, found := strings.Cut(commonPasswords, "\n\n")
	require.True(t, found)
	require.Contains(t, header, "Licence: MIT")
	require.Contains(t, header, "sha512-")
	words := strings.Fields(list)
	require.Len(t, words, 10_000)
	require.LessOrEqual(t, len(commonPasswords), 100<<10)
	require.True(t, slices.IsSorted(words))
	require.Len(t, slices.Compact(slices.Clone(words)), len(words))
	for _, word := range words {
		require.Equal(t, strings.ToLower(word), word)
		require.True(t, isCommon(word))
	}
	require.False(t, isCommon(""))
	require.False(t, isCommon("Licence: MIT"))
}

func TestSignUp(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		u, err := f.SignUp(ctx, "New@Example.com", "a long password")
		require.NoError(t, err)
		require.Equal(t, "new@example.com", u.Email)
		_, err = f.CheckPassword(ctx, "new@example.com", "a long password", Caller{})
		require.NoError(t, err)
		_, err = f.SignUp(ctx, "new@example.com", "another password")
		require.ErrorIs(t, err, book.ErrAccountExists)
		_, err = f.CheckPassword(ctx, "new@example.com", "another password", Caller{})
		require.ErrorIs(t, err, ErrWrongPassword, "not overwritten")
		_, err = f.CheckPassword(ctx, "new\x00\xff@example.com", "a\x00\xff long password", Caller{})
		require.ErrorIs(t, err, ErrWrongPassword, "what no database stores")
		_, err = f.SignUp(ctx, "third@example.com", "short")
		require.ErrorAs(t, err, new(*InputError))
		_, err = f.ledger.AccountByEmail(ctx, "third@example.com")
		require.ErrorIs(t, err, book.ErrNoAccount)
	})
}

// While all slots hash, others wait for two seconds and are then refused.
func TestHashesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &Identity{hashing: make(chan struct{}, hashesAtOnce)}
		for range hashesAtOnce {
			i.hashing <- struct{}{}
		}
		_, err := i.hash(t.Context(), "correct horse battery", "")
		require.ErrorIs(t, err, ErrBusy)
		<-i.hashing
		_, err = i.hash(t.Context(), "correct horse battery", "")
		require.NoError(t, err)
	})
}
