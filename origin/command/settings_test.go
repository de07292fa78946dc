package command

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

// refused runs a command line that must be refused before a database is opened,
// and returns its error.
func refused(t *testing.T, args ...string) (message string) {
	ctx, cancel := context.WithTimeout(context.Background(), hung)
	defer cancel()
	file := filepath.Join(t.TempDir(), "a.db")
	var out, err bytes.Buffer
	code := run(ctx, append(args, "--database", "sqlite:"+file), streams{strings.NewReader(""), &out, &err})
	require.Equal(t, 2, code, "%v: %s", args, &err)
	require.Empty(t, out.String())
	_, missing := os.Stat(file)
	require.ErrorIs(t, missing, os.ErrNotExist, "%v: the database was opened", args)
	return err.String()
}

func TestServeRefusesSettings(t *testing.T) {
	t.Parallel()
	for args, message := range map[string]string{
		"--dns-timeout 0s":                "--dns-timeout 0s: must be from 10ms to 5m0s",
		"--dns-timeout=-5s":               "--dns-timeout -5s: must be from 10ms",
		"--dns-concurrency 0":             "--dns-concurrency 0: must be from 1 to",
		"--dns-concurrency=-1":            "--dns-concurrency -1: must be from 1",
		"--dns-timeout 5":                 "--dns-timeout: expected duration",
		"--dns-timeout 1h":                "--dns-timeout 1h0m0s: must be from 10ms",
		"--batch-timeout 0s":              "--batch-timeout 0s: must be from 10ms",
		"--batch-timeout=-1s":             "--batch-timeout -1s: must be from 10ms",
		"--grace 0s":                      "--grace 0s: must be from 1s",
		"--grace=-1s":                     "--grace -1s: must be from 1s",
		"--grace 500ms":                   "--grace 500ms: must be from 1s",
		"--max-connections 0":             "--max-connections 0: must be from 1 to",
		"--max-connections=-1":            "--max-connections -1: must be from 1",
		"--edge-secret hunter2":           "--edge-secret has 7 characters: must be at least 16 random ones",
		"--edge-secret 0123456789abcde":   "--edge-secret has 15 characters",
		"--edge-secret 0123456789abcdeé":  "printable ASCII",
		"--edge-secret 0123456789abcde\t": "white space at its start or end",

		"--edge-secret 0123456789abcdef,":                                  "--edge-secret, the second of two, has 0 characters",
		"--edge-secret hunter2,0123456789abcdef":                           "--edge-secret, the first of two, has 7 characters",
		"--edge-secret 0123456789abcdef,0123456789abcdef":                  "has the same secret twice",
		"--edge-secret 0123456789abcdef,1123456789abcdef,2123456789abcdef": "has 3 secrets: must be one, or two",

		"--listen 8080":            "--listen 8080: must be HOST:PORT",
		"--listen 127.0.0.1:":      "--listen 127.0.0.1:: must be HOST:PORT",
		"--listen 127.0.0.1:http_": "--listen 127.0.0.1:http_: must be HOST:PORT",
		"--listen 127.0.0.1:65536": "--listen 127.0.0.1:65536: must be HOST:PORT",
		"--operator-listen 9090":   "--operator-listen 9090: must be HOST:PORT",

		"--openid-name Company":                                     "need --openid-issuer",
		"--openid-issuer https://id.example":                        "needs --openid-client-id",
		"--openid-issuer http://id.example --openid-client-id a":    "must be an https URL without query",
		"--openid-issuer https://id.example?a --openid-client-id a": "must be an https URL without query",
		"--openid-issuer id.example --openid-client-id a":           "must be an https URL without query",

		"--listen 127.0.0.1:18080 --operator-listen 127.0.0.1:18080": "--operator-listen 127.0.0.1:18080 conflicts with --listen 127.0.0.1:18080: choose another port",
		"--listen 0.0.0.0:18080 --operator-listen 127.0.0.1:18080":   "conflicts with --listen",
		"--listen 127.0.0.1:18080 --operator-listen :18080":          "conflicts with --listen",
	} {
		err := refused(t, append([]string{"serve"}, strings.Split(args, " ")...)...)
		require.Contains(t, err, message, args)
		require.NotContains(t, err, "hunter2", "the secret is printed")
		require.NotContains(t, err, "0123456789", "the secret is printed")
	}
	require.Contains(t, refused(t, "doctor", "--dns-timeout", "0s"), "--dns-timeout 0s: must be from 10ms")
}

// One error lists every wrong setting, so that all can be corrected together.
func TestServeListsEveryWrongSetting(t *testing.T) {
	t.Parallel()
	err := refused(t, "serve", "--dns-timeout", "0s", "--grace", "0s", "--max-connections", "0", "--edge-secret", "x")
	for _, flag := range []string{"--dns-timeout", "--grace", "--max-connections", "--edge-secret"} {
		require.Equal(t, 1, strings.Count(err, flag+" "), err)
	}
}

func TestServeStartUpErrors(t *testing.T) {
	t.Parallel()
	taken := start(t, "--dns", contract.Serve(t)).hostPort
	dir := t.TempDir()
	notModule := filepath.Join(dir, "not.wasm")
	require.NoError(t, os.WriteFile(notModule, []byte("\x00asm\x01\x00\x00\x00"), 0o600))
	notDirectory := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(notDirectory, nil, 0o600))
	module := origintest.ModuleFile(t)
	database := "sqlite:" + filepath.Join(dir, "a.db")
	for name, c := range map[string]struct {
		args     []string
		contains []string
	}{
		"port taken":              {[]string{"--listen", taken}, []string{taken, "in use", "--listen"}},
		"port not a port":         {[]string{"--listen", "127.0.0.1:x"}, []string{"--listen 127.0.0.1:x"}},
		"database unwritable":     {[]string{"--database", "sqlite:" + notDirectory + "/a.db"}, []string{notDirectory}},
		"database unknown":        {[]string{"--database", "mysql://x"}, []string{"sqlite:"}},
		"module missing":          {[]string{"--module", filepath.Join(dir, "none.wasm")}, []string{"--module", "none.wasm"}},
		"module not one":          {[]string{"--module", notModule}, []string{"--module", "not a module of addrspec", "addrspec_"}},
		"lists missing":           {[]string{"--lists", filepath.Join(dir, "none")}, []string{"--lists"}},
		"lists damaged":           {[]string{"--lists", notModule}, []string{"lists"}},
		"resolver not an address": {[]string{"--dns", "nowhere"}, []string{"nowhere", "host:port"}},
		"plans missing":           {[]string{"--plans", filepath.Join(dir, "none")}, []string{"plans", "none"}},
		"security.txt missing":    {[]string{"--security-txt", filepath.Join(dir, "none")}, []string{"--security-txt", "none"}},
		"no connections":          {[]string{"--max-connections", "0"}, []string{"--max-connections 0", "must be from 1"}},
		"no such flag":            {[]string{"--nonsense"}, []string{"nonsense", "--help"}},
	} {
		t.Run(name, func(t *testing.T) {
			var out, err bytes.Buffer
			args := append([]string{"serve", "--listen", "127.0.0.1:0", "--database", database, "--module", module,
				"--dns", "127.0.0.1:1", "--cache-dir", moduletest.CacheDir()}, c.args...)
			ctx, cancel := context.WithTimeout(context.Background(), hung)
			defer cancel()
			code := run(ctx, args, streams{strings.NewReader(""), &out, &err})
			require.NotZero(t, code, err.String())
			for _, words := range c.contains {
				require.Contains(t, err.String(), words)
			}
		})
	}
}

func TestServeRefusesSmallBodyMemory(t *testing.T) {
	t.Parallel()
	_, message, code := operator(t, "serve", "--body-memory", "1MiB")
	require.NotZero(t, code)
	require.Contains(t, message, "--body-memory 1.0 MiB: must be at least 20 MiB")
	_, message, code = operator(t, "serve", "--body-memory", "much")
	require.NotZero(t, code)
	require.Contains(t, message, "write it like 64MiB")
}

func TestServeWarnsOfSettings(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t), "--batch-timeout", "1s")
	require.Contains(t, s.wholeLog(t), "set --batch-timeout above --dns-timeout")
}
