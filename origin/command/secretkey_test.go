package command

import (
	"fmt"
	"os"
	"path/filepath"
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

func ledgerWithSecrets(t *testing.T, database string) (app, hook string) {
	app = withApp(t, database, "owner@example.com")
	return app, lastWord((&shell{t, database}).must("account webhook --account owner@example.com --set https://hooks.example.com/x"))
}

func withApp(t *testing.T, database, email string) (secret string) {
	l := ledgertest.Open(t, database)
	defer l.Close()
	a := must(l.CreateAccount(t.Context(), email, book.Terms{}))(t)
	users := identity.New(l)
	require.NoError(t, users.SetPassword(t.Context(), identity.User{Account: a.ID, Email: a.Email}, "correct horse battery"))
	secret, _, err := identity.NewTOTP(a.Email, "")
	require.NoError(t, err)
	code := must(totp.GenerateCode(secret, time.Now()))(t)
	must(users.SetTOTP(t.Context(), must(users.User(t.Context(), a.ID))(t), secret, code))(t)
	return secret
}

func sealer(t *testing.T, key string) *store.Sealer { return must(store.NewSealer(key))(t) }

func idOf(t *testing.T, key string) string { return sealer(t, key).IDs()[0] }

func servedOn(t *testing.T, database string, flags ...string) {
	t.Helper()
	s := start(t, append([]string{"--dns", contract.Serve(t), "--database", database}, flags...)...)
	s.stop()
	s.requireStopped(t)
	for _, key := range []string{oneKey, otherKey} {
		require.NotContains(t, s.log.String(), key)
	}
}

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
		requireSealed := func(key string, secrets int64) {
			t.Helper()
			l := ledgertest.Open(t, database)
			defer l.Close()
			counts := must(store.CountSecrets(t.Context(), l.Store()))(t)
			require.Equal(t, map[string]int64{key: secrets}, counts)
		}
		servedOn(t, database)
		requireSealed("", 2) // without a key all works as before
		servedOn(t, database, "--secret-key", oneKey)
		requireSealed(idOf(t, oneKey), 2)

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
		requireSealed(idOf(t, oneKey), 3) // the previous one is kept
		servedOn(t, database, "--secret-key", otherKey+","+oneKey)
		requireSealed(idOf(t, otherKey), 3)
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
	has := func(path string, want bool) { // not even in the free space of a page
		text := textOf(t, path)
		for _, secret := range secrets {
			require.Equal(t, want, strings.Contains(text, secret), path)
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
		if strings.Contains(flags, oneKey) {
			require.Contains(t, refusedOn(t, restored), id)
			servedOn(t, restored, "--secret-key-file", fileOf(t, "key", oneKey+"\n"))
		}
	}
	imported := pgtest.NeedDatabase(t)
	(&shell{t, imported}).must("import " + export)
	l := ledgertest.Open(t, imported)
	users := identity.New(l).WithSealer(sealer(t, oneKey))
	a := must(l.AccountByEmail(t.Context(), "owner@example.com"))(t)
	next := must(totp.GenerateCode(secret, time.Now().Add(30*time.Second)))(t)
	require.NoError(t, users.CheckCode(t.Context(), must(users.User(t.Context(), a.ID))(t), next))
}
