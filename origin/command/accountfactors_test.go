package command

import (
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/ledger"
)

// The command line gives operator rights without a change of terms, and resets the
// factors of an owner who has lost them.
func TestAccountRightsAndFactors(t *testing.T) {
	t.Parallel()
	database := "sqlite:" + t.TempDir() + "/a.db"
	on := func(args string) string {
		out, err, code := operator(t, append(strings.Fields(args), "--database", database)...)
		require.Zero(t, code, err)
		return out
	}
	on("account create --email a@example.org --points 7")
	require.Contains(t, on("account change --account a@example.org --operator"), "may now manage all accounts")
	require.Contains(t, on("account list"), "  7 ", "the terms are as they were")
	l, err := ledger.Open(t.Context(), database)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	i, user := identity.New(l), identity.User{}
	read := func() identity.User {
		user, err = i.User(t.Context(), 1)
		require.NoError(t, err)
		return user
	}
	require.True(t, read().Operator)
	require.Contains(t, on("account change --account a@example.org --no-operator --plan pro"), "plan pro")
	require.False(t, read().Operator)

	secret, _, err := identity.NewTOTP(user.Email, "")
	require.NoError(t, err)
	code, err := totp.GenerateCode(secret, time.Now())
	require.NoError(t, err)
	_, err = i.SetTOTP(t.Context(), user, secret, code)
	require.NoError(t, err)
	on("account link --account a@example.org")
	require.True(t, read().TOTP, "a link alone resets nothing")
	require.Contains(t, on("account link --account a@example.org --reset-factors"), "are removed")
	require.False(t, read().TOTP)

	_, err = i.SignIn(t.Context(), identity.User{Account: 1}, "", "curl", true)
	require.NoError(t, err)
	require.Contains(t, on("account sign-out --account a@example.org"), "signed out everywhere")
	sessions, err := i.Sessions(t.Context(), 1)
	require.NoError(t, err)
	require.Empty(t, sessions)

	require.NotContains(t, on("account link --account a@example.org"), "signed up for")
	_, err = i.SignUp(t.Context(), "b@example.org", "correct horse battery")
	require.NoError(t, err)
	out := on("account link --account b@example.org")
	require.Contains(t, out, "The account was signed up for, and nothing shows by whom.")
	_, _, err = i.UseLink(t.Context(), strings.TrimSpace(out[strings.LastIndex(out, "/")+1:]))
	require.NoError(t, err)
	require.NotContains(t, on("account link --account b@example.org"), "signed up for")
}
