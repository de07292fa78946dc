package command

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A number that cannot be is an error about the number, in both ways to write it.
func TestNumbersThatCannotBe(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.must("key create --account you@example.org --name n")
	const terms = "must be a whole number"
	for line, message := range map[string]string{
		"account create --account a@example.org --points -5":                  terms,
		"account create --account a@example.org --points 1e3":                 terms,
		"account create --account a@example.org --points 1_000":               terms,
		"account create --account a@example.org --points 1.5":                 terms,
		"account create --account a@example.org --points 0x10":                terms,
		"account create --account a@example.org --points 9223372036854775808": "1000000000000",
		"account create --account a@example.org --points 99999999999999":      "1000000000000",
		"account create --account a@example.org --rate -1":                    terms,
		"account create --account a@example.org --rate 0":                     "rate 0",
		"account create --account a@example.org --rate 1000001":               "1000000",
		"account change --account you@example.org --points -1":                terms,
		"key create --account you@example.org --name n --budget -2":           terms,
		"key create --account you@example.org --name n --rate -2":             terms,
		"key create --account you@example.org --name n --expires -1d":         "1d to 36500d",
		"key change --account you@example.org 1 --budget -2":                  terms,
		"key rotate --account you@example.org 1 --grace -1s":                  "0 to 168h",
		"key rotate --account you@example.org 1 --grace -.5h":                 "0 to 168h",
		"key rotate --account you@example.org 1 --grace 5":                    "expected duration",
		"doctor --dns-timeout -5s":                                            "--dns-timeout -5s: must be from 10ms",
		"serve --max-connections -1":                                          "--max-connections -1: must be from 1",
		"serve --max-connections 1e3":                                         "expected a valid 64 bit int",
		"serve --body-memory -64MiB":                                          "is not a size",
		"usage --first -1":                                                    "2026-11-20",
	} {
		i := strings.LastIndex(line, " ")
		s.refused(line[:i]+"="+line[i+1:], message)
		if line[i+1] == '-' { // kong takes the number for a flag
			message = "perhaps try " + line[strings.LastIndex(line[:i], " ")+1:i] + "="
		}
		s.refused(line, message)
	}
	_, err, code := operator(t, "account", "create", "--account", "a@example.org", "--points", "1 000", "--database", s.database)
	require.Equal(t, 2, code)
	require.Contains(t, err, terms)
	require.Len(t, s.rows("account list"), 1)
	require.Contains(t, s.must("account create --account one@example.org --points 1 --rate 1"), " 1 request/s, 1 point a month, a hard limit")
	require.Contains(t, s.must("key create --account one@example.org --name n --budget 1 --rate 1"), ", 1 point a month, 1 request/s")
	require.Contains(t, s.must("account create --account zero@example.org --points 0"), " 0 points a month, a hard limit")
}

// Flags may come before and after arguments, and "--" ends them.
func TestOrderOfFlags(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	for _, line := range []string{"key rotate 1 --account you@example.org --grace 0s", "key rotate --grace=0s --account=you@example.org 1"} {
		s.must("key create --account you@example.org --name n")
		s.must(line)
	}
	_, err, code := operator(t, "key", "revoke", "--account", "you@example.org", "--database", s.database, "--", "1")
	require.Zero(t, code, err)
	s.refused("key revoke --account you@example.org -5", "unknown flag -5")
	_, err, code = operator(t, "key", "revoke", "--account", "you@example.org", "--database", s.database, "--", "-5")
	require.Equal(t, 1, code)
	require.Contains(t, err, "no such key")
}

// --email, the flag of earlier releases, still names the account to create.
func TestAccountCreateAcceptsEmail(t *testing.T) {
	s := newShell(t)
	s.must("account create --email old@example.org")
	t.Setenv("ADDRSPEC_EMAIL", "variable@example.org")
	s.must("account create")
	require.Len(t, s.rows("account list"), 3)
}
