package command

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/mxtest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// launchWithFiles is launchWith for a process that may open few files.
func launchWithFiles(t *testing.T, files int, args ...string) *process {
	t.Helper()
	s := &instance{database: origintest.NewDatabase(t), log: new(origintest.Log)}
	shell := append([]string{"-c", fmt.Sprintf(`ulimit -n %d && exec "$0" "$@"`, files), os.Args[0]}, origintest.ServeArgs(t, s.database, args...)...)
	cmd := exec.Command("sh", shell...)
	cmd.Env = append(os.Environ(), programVariable+"=1")
	cmd.Stderr = s.log
	p, err := origintest.Start(cmd, origintest.OnStdout)
	require.NoError(t, err, s.log)
	t.Cleanup(p.Kill)
	s.hostPort, err = origintest.AddressIn(p.FirstLine)
	require.NoError(t, err)
	return &process{s, p}
}

// A process that may open few files has fewer connections and lookups, so that none
// fails for want of a file: with more connections than files, and all lookups waiting
// for a silent resolver, other requests are served.
func TestFewOpenFiles(t *testing.T) {
	t.Parallel()
	for _, files := range []int{128, 512} {
		server := mxtest.New(t, knownZone)
		s := launchWithFiles(t, files, "--dns", server.Addr, "--dns-timeout", "1m", "--batch-timeout", "1m")
		key := s.unlimitedKey(t)
		s.requireStatus(t, http.StatusOK, "/v1/email/a@mail.example", key, `"mx":true`)
		fits := requireFits(t, s.wholeLog(t), files)

		server.RespondAll(mxtest.Silent)
		for range 8 { // more than one account's share
			go s.get(key, "/v1/email/a@silent.example")
		}
		require.Eventually(t, func() bool { return server.Asked("silent.example") > 0 }, hung, time.Millisecond)
		for range files {
			conn, err := net.Dial("tcp", s.hostPort)
			require.NoError(t, err)
			defer conn.Close()
			_, _ = io.WriteString(conn, "GET /healthz HTTP/1.1\r\n")
		}
		require.Eventually(t, func() bool { return s.metric(t, "addrspec_connections_shed_total") >= float64(files-fits) }, hung, 20*time.Millisecond)
		require.LessOrEqual(t, s.metric(t, "addrspec_connections"), float64(fits))
		require.LessOrEqual(t, s.metric(t, "process_open_fds"), float64(files))
		s.requireStatus(t, http.StatusOK, "/v1/email/a@mail.example", key, `"mx":true`)
		server.RespondAll(mxtest.Answer)
		s.requireStatus(t, http.StatusOK, "/v1/email/a@web.example", key, `"mx":false`)
		require.NotContains(t, s.wholeLog(t), "too many open files")
	}
}

// requireFits returns the number of connections that the log of a start says.
func requireFits(t *testing.T, log string, files int) (connections int) {
	t.Helper()
	var line struct {
		Files       int `json:"open_files"`
		Needed      int `json:"needed"`
		Connections int `json:"max_connections"`
		Lookups     int `json:"dns_concurrency"`
	}
	first, _, _ := strings.Cut(log, "\n")
	require.NoError(t, json.Unmarshal([]byte(first), &line), first)
	require.Contains(t, first, "may open few files")
	require.Contains(t, first, "LimitNOFILE=")
	require.Equal(t, files, line.Files)
	require.Greater(t, line.Needed, 4096)
	require.Less(t, line.Connections+line.Lookups, files)
	return line.Connections
}
