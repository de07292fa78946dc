package command

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/service"
)

// Addresses and keys appear in responses to their own callers only: not in the
// log, the metrics, the database or an error.
func TestAddressesAndKeysAreNotRecorded(t *testing.T) {
	t.Parallel()
	const canary = "canary-7f3a"
	s := start(t, "--dns", contract.Serve(t), "--dns-timeout", "300ms")
	key := s.newKey(t)
	for _, address := range []string{canary + "@mail.example", canary + "@servfail.example", canary + "@silent.example",
		canary + "..x@mail.example", canary + "%00@mail.example", "x@" + canary + ".example", canary} {
		response, _ := s.send(t, http.MethodGet, "/v1/email/"+address, key, "", nil)
		require.NotEmpty(t, response.Header.Get("X-Request-Id"))
	}
	for n, body := range []string{`{"emails":["` + canary + `@mail.example","` + canary + `@servfail.example"]}`,
		`{"emails":"` + canary + `"}`, `{"` + canary, canary} {
		_, text := s.send(t, http.MethodPost, "/v1/emails", key, body, http.Header{"Idempotency-Key": {canary}})
		if n > 0 {
			require.NotContains(t, text, canary, "the error contains the input")
		}
	}
	_, metrics := s.send(t, http.MethodGet, "/metrics", "", "", nil)
	require.Contains(t, metrics, "addrspec_requests_total")
	log := s.wholeLog(t)
	for _, secret := range []string{canary, key, key[:12]} {
		require.NotContains(t, log, secret, "the log")
		require.NotContains(t, metrics, secret, "the metrics")
	}
	for _, secret := range []string{canary, key} {
		requireInNoFile(t, filepath.Dir(strings.TrimPrefix(s.database, "sqlite:")), secret)
	}
}

// requireInNoFile checks every file of the database's directory, including its log.
func requireInNoFile(t *testing.T, dir, secret string) {
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		content, err := os.ReadFile(filepath.Join(dir, file.Name()))
		require.NoError(t, err)
		require.NotContains(t, string(content), secret, file.Name())
	}
}

func TestRedactedDatabaseURL(t *testing.T) {
	t.Parallel()
	flag := service.DatabaseFlag{Database: "postgres://me:hunter2@db/x?password=hunter2&sslpassword=hunter2"}
	require.NotContains(t, flag.Redacted(), "hunter2")
	require.Contains(t, flag.Redacted(), "db/x")
	flag = service.DatabaseFlag{Database: "postgres://me:hunter2@db:not a port/x"}
	require.NotContains(t, flag.Redacted(), "hunter2")
}
