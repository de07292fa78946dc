package command

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

const (
	oneKey   = "0123456789abcdef0123456789abcdef-one"
	otherKey = "0123456789abcdef0123456789abcdef-other"
)

// ledgerWithSecrets makes a database with an account that has an authenticator app and a
// webhook, and returns their secrets.
func ledgerWithSecrets(t *testing.T, database string) (app, hook string) {
	app = withApp(t, database, "owner@example.com")
	out, problem, exit := operator(t, "account", "webhook", "--account", "owner@example.com", "--set", "https://hooks.example.com/x", "--database", database)
	require.Zero(t, exit, problem)
	return app, regexp.MustCompile(`whsec_\S+`).FindString(out)
}

// withApp makes an account with an authenticator app, and returns its secret.
func withApp(t *testing.T, database, email string) (secret string) {
	l := ledgertest.Open(t, database)
	defer l.Close()
	a, err := l.CreateAccount(t.Context(), email, book.Terms{})
	require.NoError(t, err)
	users := identity.New(l)
	require.NoError(t, users.SetPassword(t.Context(), identity.User{Account: a.ID, Email: a.Email}, "correct horse battery"))
	u, err := users.User(t.Context(), a.ID)
	require.NoError(t, err)
	secret, _, err = identity.NewTOTP(u.Email, "")
	require.NoError(t, err)
	code, err := totp.GenerateCode(secret, time.Now())
	require.NoError(t, err)
	_, err = users.SetTOTP(t.Context(), u, secret, code)
	require.NoError(t, err)
	return secret
}

// secretsOf counts the secrets of a database by the ID of their key.
func secretsOf(t *testing.T, database string) map[string]int64 {
	l := ledgertest.Open(t, database)
	defer l.Close()
	counts, err := store.CountSecrets(t.Context(), l.Store())
	require.NoError(t, err)
	return counts
}

func idOf(t *testing.T, key string) string {
	s, err := store.NewSealer(key)
	require.NoError(t, err)
	return s.IDs()[0]
}

// servedOn runs serve on a database until it has sealed what there is.
func servedOn(t *testing.T, database string, flags ...string) {
	t.Helper()
	s := start(t, append([]string{"--dns", contract.Serve(t), "--database", database}, flags...)...)
	s.stop()
	s.requireStopped(t)
	for _, key := range []string{oneKey, otherKey} {
		require.NotContains(t, s.log.String(), key)
	}
}

// refusedOn runs serve on a database, which it refuses, and returns its error.
func refusedOn(t *testing.T, database string, flags ...string) string {
	t.Helper()
	out, problem, code := operator(t, origintest.ServeArgs(t, database, append(flags, "--dns", contract.Serve(t))...)...)
	require.Equal(t, 1, code, out)
	require.Empty(t, out)
	return problem
}

// A service with a key seals what a service without one has left. From then on it does
// not start with a wrong key or none, and with two while the key is changed.
func TestSecretKeyOfTheService(t *testing.T) {
	t.Parallel()
	pgtest.EachDatabase(t, func(t *testing.T, database string) {
		ledgerWithSecrets(t, database)
		servedOn(t, database)
		require.Equal(t, map[string]int64{"": 2}, secretsOf(t, database), "without a key all works as before")
		servedOn(t, database, "--secret-key", oneKey)
		require.Equal(t, map[string]int64{idOf(t, oneKey): 2}, secretsOf(t, database))

		for _, flags := range [][]string{nil, {"--secret-key", otherKey}} {
			problem := refusedOn(t, database, flags...)
			require.Contains(t, problem, "sealed with the key whose ID is "+idOf(t, oneKey)+", which is not given: give it with --secret-key")
			require.NotContains(t, problem, otherKey)
		}
		on, webhook := &shell{t, database}, "account webhook --account owner@example.com "
		for _, does := range []string{"--rotate", "--test", "--set https://hooks.example.com/y"} {
			on.refused(webhook+does, "which is not given")
		}
		on.must(webhook + "--rotate --secret-key " + oneKey)
		require.Equal(t, map[string]int64{idOf(t, oneKey): 3}, secretsOf(t, database), "the previous one is kept")
		servedOn(t, database, "--secret-key", otherKey+","+oneKey)
		require.Equal(t, map[string]int64{idOf(t, otherKey): 3}, secretsOf(t, database))
		servedOn(t, database, "--secret-key-file", fileOf(t, "key", otherKey+"\n"))
		require.Contains(t, refusedOn(t, database, "--secret-key", oneKey), idOf(t, otherKey))
		on.must(webhook + "--remove") // the way out where the key is lost
	})
}

func TestSecretKeysThatAreRefused(t *testing.T) {
	t.Parallel()
	file, weak := fileOf(t, "key", " \n"), fileOf(t, "weak", "hunter2\n")
	for flags, message := range map[string]string{
		"serve --secret-key hunter2":                                       "has 7 characters: must be at least 32",
		"doctor --secret-key hunter2":                                      "--secret-key has 7 characters",
		"restore no-such-backup --secret-key hunter2":                      "--secret-key has 7 characters",
		"account webhook --account owner@example.com --secret-key hunter2": "--secret-key has 7 characters",
		"serve --secret-key " + oneKey + ",hunter2":                        "the second of two, has 7 characters",
		"serve --secret-key " + oneKey + "," + oneKey:                      "has the same secret twice",
		"serve --secret-key " + oneKey + " --secret-key-file " + file:      "are both given: give one of them",
		"serve --secret-key-file " + file:                                  "has no key: write the output of openssl",
		"serve --secret-key-file " + weak:                                  weak + " has 7 characters",
		"serve --secret-key-file /no/such/file":                            "/no/such/file: no such file",
	} {
		problem := refused(t, strings.Fields(flags)...)
		require.Contains(t, problem, message, flags)
		require.NotContains(t, problem, "hunter2")
		require.NotContains(t, problem, oneKey)
	}
}

// doctor says how secrets are stored, and with which key.
func TestDoctorOfSecrets(t *testing.T) {
	t.Parallel()
	database, id := "sqlite:"+filepath.Join(t.TempDir(), "a.db"), idOf(t, oneKey)
	finds := func(flags, finds string) (out string) {
		out = requireFindings(t, "--database "+database+flags, finds)
		require.NotContains(t, out, oneKey)
		return out
	}
	require.NoError(t, ledgertest.Open(t, database).Close())
	finds("", "secrets ok there are none")
	secret, _ := ledgerWithSecrets(t, database)
	finds("", `secrets ADVICE those of .* are stored as they are \(2\), .*give serve a --secret-key$`)
	finds(" --secret-key "+oneKey, "secrets ADVICE 2 of 2 are not sealed with the present key, whose ID is "+id)
	servedOn(t, database, "--secret-key", oneKey)
	finds(" --secret-key "+oneKey, "secrets ok 2 sealed with the key whose ID is "+id)
	require.NotContains(t, finds("", "secrets WRONG secrets .*"+id+", which is not given"), secret)
	finds(" --secret-key "+otherKey, "secrets WRONG secrets .*"+id+", which is not given")
	file := fileOf(t, "key", oneKey)
	require.NoError(t, os.Chmod(file, 0o644))
	finds(" --secret-key-file "+file, "files WRONG .*chmod 0600 "+file)
}

// A backup and an export have no secret in plain text, and work with the key only. Both
// say so.
func TestCopiesOfSealedSecrets(t *testing.T) {
	t.Parallel()
	database, directory := "sqlite:"+filepath.Join(t.TempDir(), "a.db"), t.TempDir()
	secret, hook := ledgerWithSecrets(t, database)
	on, id, secrets := &shell{t, database}, idOf(t, oneKey), []string{secret, hook}
	for n := range 3 { // so few leave a page enough free space that nothing is moved there
		secrets = append(secrets, withApp(t, database, fmt.Sprintf("%d@example.com", n)))
	}
	has := func(path string, want bool) {
		text := textOf(t, path)
		for n, secret := range secrets {
			require.Equal(t, want, strings.Contains(text, secret),
				"%s: secret %d, which must not even be in the free space of a page", path, n)
		}
	}
	before, backup, export := directory+"/before.db", directory+"/backup.db", directory+"/export.ndjson"
	on.must("backup " + before)
	has(before, true)
	servedOn(t, database, "--secret-key", oneKey)
	require.Contains(t, on.must("backup "+backup), "secrets sealed with the key whose ID is "+id)
	on.must("export " + export)
	has(backup, false)
	has(export, false)
	for flags, says := range map[string]string{
		"": "which is not given: serve does not start without it", " --secret-key " + otherKey: "which is not given",
		" --secret-key " + oneKey: "which is given",
	} {
		restored := "sqlite:" + filepath.Join(t.TempDir(), "restored.db")
		require.Contains(t, (&shell{t, restored}).must("restore "+backup+flags),
			"sealed with the key whose ID is "+id+", "+says)
		require.Contains(t, refusedOn(t, restored), id)
		servedOn(t, restored, "--secret-key", oneKey)
	}
	imported := pgtest.NeedDatabase(t)
	(&shell{t, imported}).must("import " + export)
	l := ledgertest.Open(t, imported)
	s, err := store.NewSealer(oneKey)
	require.NoError(t, err)
	users := identity.New(l).WithSealer(s)
	a, err := l.AccountByEmail(t.Context(), "owner@example.com")
	require.NoError(t, err)
	u, err := users.User(t.Context(), a.ID)
	require.NoError(t, err)
	next, err := totp.GenerateCode(secret, time.Now().Add(30*time.Second))
	require.NoError(t, err)
	require.NoError(t, users.CheckCode(t.Context(), u, next))
}
