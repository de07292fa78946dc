package main

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/contract"
	"github.com/addrspec/addrspec/origin/origintest"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

// refused runs a command line that must be refused before anything is opened.
func refused(t *testing.T, args ...string) (says string) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
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

func TestSettingsThatAreRefused(t *testing.T) {
	for args, says := range map[string]string{
		"--dns-timeout 0s":                "--dns-timeout 0s: give a time from 10ms to 5m0s",
		"--dns-timeout=-5s":               "--dns-timeout -5s: give a time",
		"--dns-concurrency 0":             "--dns-concurrency 0: give a number of at least 1",
		"--dns-concurrency=-1":            "--dns-concurrency -1: give a number",
		"--dns-timeout 5":                 "--dns-timeout: expected duration",
		"--dns-timeout 1h":                "--dns-timeout 1h0m0s: give a time",
		"--batch-timeout 0s":              "--batch-timeout 0s: give a time",
		"--batch-timeout=-1s":             "--batch-timeout -1s: give a time",
		"--grace 0s":                      "--grace 0s: give a time from 1s",
		"--grace=-1s":                     "--grace -1s: give a time",
		"--grace 500ms":                   "--grace 500ms: give a time from 1s",
		"--max-connections 0":             "--max-connections 0: give a number of at least 1",
		"--max-connections=-1":            "--max-connections -1: give a number",
		"--edge-secret hunter2":           "--edge-secret has 7 characters: give at least 16 random ones",
		"--edge-secret 0123456789abcde":   "--edge-secret has 15 characters",
		"--edge-secret 0123456789abcdeé":  "printable ASCII",
		"--edge-secret 0123456789abcde\t": "white space at an end",
		"--listen 8080":                   "--listen 8080: give HOST:PORT",
		"--listen 127.0.0.1:":             "--listen 127.0.0.1:: give HOST:PORT",
		"--listen 127.0.0.1:http_":        "--listen 127.0.0.1:http_: give HOST:PORT",
		"--listen 127.0.0.1:65536":        "--listen 127.0.0.1:65536: give HOST:PORT",
		"--operator-listen 9090":          "--operator-listen 9090: give HOST:PORT",

		"--listen 127.0.0.1:18080 --operator-listen 127.0.0.1:18080": "--operator-listen 127.0.0.1:18080 is the address of --listen 127.0.0.1:18080: give it a port of its own",
		"--listen 0.0.0.0:18080 --operator-listen 127.0.0.1:18080":   "is the address of --listen",
		"--listen 127.0.0.1:18080 --operator-listen :18080":          "is the address of --listen",
	} {
		err := refused(t, append([]string{"serve"}, strings.Split(args, " ")...)...)
		require.Contains(t, err, says, args)
		require.NotContains(t, err, "hunter2", "the secret is printed")
		require.NotContains(t, err, "0123456789", "the secret is printed")
	}
	require.Contains(t, refused(t, "doctor", "--dns-timeout", "0s"), "--dns-timeout 0s: give a time")
}

// All that is wrong is said at once, so that it is mended at once.
func TestAllWrongSettingsAreSaid(t *testing.T) {
	err := refused(t, "serve", "--dns-timeout", "0s", "--grace", "0s", "--max-connections", "0", "--edge-secret", "x")
	for _, flag := range []string{"--dns-timeout", "--grace", "--max-connections", "--edge-secret"} {
		require.Equal(t, 1, strings.Count(err, flag+" "), err)
	}
}

// Settings that work are only warned of, and the usual ones are not.
func TestSettingsThatAreWarnedOf(t *testing.T) {
	for _, c := range []struct {
		listen, operator string
		batch            time.Duration
		says             string // "" for no warning
	}{
		{"127.0.0.1:8080", "", 10 * time.Second, ""},
		{"localhost:8080", "[::1]:9090", 5 * time.Second, ""},
		{"[::ffff:127.0.0.1]:8080", "127.0.0.1:9090", 5 * time.Second, ""},
		{"0.0.0.0:8080", "", 10 * time.Second, "no TLS of its own; let a proxy"},
		{":8080", "127.0.0.1:9090", 10 * time.Second, "no TLS of its own; let a proxy"},
		{"api.example.org:8080", "", 10 * time.Second, "no TLS of its own; let a proxy"},
		{"127.0.0.1:8080", "0.0.0.0:9090", 10 * time.Second, ""},
		{"127.0.0.1:8080", "", time.Second, "give a --batch-timeout over --dns-timeout"},
	} {
		var log bytes.Buffer
		serve := serveCmd{Listen: c.listen, OperatorListen: c.operator, BatchTimeout: c.batch, DNSTimeout: 5 * time.Second}
		require.NoError(t, serve.checkListeners())
		serve.warn(slog.New(slog.NewTextHandler(&log, nil)))
		if c.says == "" {
			require.Empty(t, log.String(), "%+v", c)
			continue
		}
		require.Equal(t, 1, strings.Count(log.String(), "\n"), "%+v: %s", c, &log)
		require.Contains(t, log.String(), c.says)
	}
	s := start(t, "--dns", contract.Serve(t), "--batch-timeout", "1s")
	require.Contains(t, s.wholeLog(t), "give a --batch-timeout over --dns-timeout")
}

func TestStartUpErrorsSayWhatToDo(t *testing.T) {
	taken := start(t, "--dns", contract.Serve(t)).hostPort
	dir := t.TempDir()
	notModule := filepath.Join(dir, "not.wasm")
	require.NoError(t, os.WriteFile(notModule, []byte("\x00asm\x01\x00\x00\x00"), 0o600))
	notFolder := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(notFolder, nil, 0o600))
	module := origintest.ModuleFile(t)
	database := "sqlite:" + filepath.Join(dir, "a.db")
	for name, c := range map[string]struct {
		args []string
		says []string
	}{
		"port taken":              {[]string{"--listen", taken}, []string{taken, "is taken", "--listen"}},
		"port not a port":         {[]string{"--listen", "127.0.0.1:x"}, []string{"--listen 127.0.0.1:x"}},
		"database unwritable":     {[]string{"--database", "sqlite:" + notFolder + "/a.db"}, []string{notFolder}},
		"database unknown":        {[]string{"--database", "mysql://x"}, []string{"sqlite:"}},
		"module missing":          {[]string{"--module", filepath.Join(dir, "none.wasm")}, []string{"--module", "none.wasm"}},
		"module not one":          {[]string{"--module", notModule}, []string{"--module", "not a module of addrspec", "addrspec_"}},
		"lists missing":           {[]string{"--lists", filepath.Join(dir, "none")}, []string{"--lists"}},
		"lists damaged":           {[]string{"--lists", notModule}, []string{"lists"}},
		"resolver not an address": {[]string{"--dns", "nowhere"}, []string{"nowhere", "host:port"}},
		"plans missing":           {[]string{"--plans", filepath.Join(dir, "none")}, []string{"plans", "none"}},
		"no connections":          {[]string{"--max-connections", "0"}, []string{"--max-connections 0", "at least 1"}},
		"no such flag":            {[]string{"--nonsense"}, []string{"nonsense", "--help"}},
	} {
		t.Run(name, func(t *testing.T) {
			var out, err bytes.Buffer
			args := append([]string{"serve", "--listen", "127.0.0.1:0", "--database", database, "--module", module,
				"--dns", "127.0.0.1:1", "--cache-dir", moduletest.CacheDir()}, c.args...)
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
			defer cancel()
			code := run(ctx, args, streams{strings.NewReader(""), &out, &err})
			require.NotZero(t, code, err.String())
			for _, words := range c.says {
				require.Contains(t, err.String(), words)
			}
		})
	}
}
