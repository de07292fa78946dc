package command

import (
	"context"
	"database/sql"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/contract"
)

// A stalled reader of the log blocks no request, and the lines kept for it are
// bounded. Once it continues, every line either arrives or is counted as dropped.
func TestStalledLogBlocksNoRequest(t *testing.T) {
	t.Parallel()
	in, out, err := os.Pipe()
	require.NoError(t, err)
	defer in.Close()
	p := launch(t, out)
	require.NoError(t, out.Close())
	key := p.unlimitedKey(t)

	asked := 0
	for asked++; p.metric(t, "addrspec_log_dropped_lines_total") == 0; asked++ {
		p.requireServed(t, key, 1000)
		asked += 1000
		require.Less(t, asked, 50_000, "the memory for lines is not bounded")
	}
	const further = 500
	p.requireServed(t, key, further)
	asked += further

	go io.Copy(p.log, in)
	require.Eventually(t, func() bool { return p.log.Contains("log lines were dropped") }, hung, 10*time.Millisecond)
	require.NoError(t, p.Terminate(hung))
	log, noticed := p.log.String(), 0
	for _, notice := range regexp.MustCompile(`"log lines were dropped.*"lines":(\d+)}`).FindAllStringSubmatch(log, -1) {
		n, err := strconv.Atoi(notice[1])
		require.NoError(t, err)
		noticed += n
	}
	require.GreaterOrEqual(t, noticed, further, "lines beyond the bound are dropped")
	require.Equal(t, asked, noticed+strings.Count(log, `"msg":"request"`), "requests")
}

// A service whose log is never read stops in time.
func TestStalledLogDoesNotDelayStop(t *testing.T) {
	t.Parallel()
	in, out, err := os.Pipe()
	require.NoError(t, err)
	defer in.Close()
	p := launch(t, out, "--grace", "1s")
	require.NoError(t, out.Close())
	key := p.unlimitedKey(t)
	p.requireServed(t, key, 1000)
	require.NoError(t, p.Terminate(hung))
}

// A service continues after the reader of its log has closed.
func TestClosedLogDoesNotEndService(t *testing.T) {
	t.Parallel()
	in, out, err := os.Pipe()
	require.NoError(t, err)
	p := launch(t, out)
	require.NoError(t, out.Close())
	require.NoError(t, in.Close())
	for range 20 {
		p.requireHealthy(t)
	}
	require.Eventually(t, func() bool { return p.metric(t, "addrspec_log_dropped_lines_total") > 0 }, hung, 50*time.Millisecond)
	p.requireHealthy(t)
	require.NoError(t, p.Terminate(hung))
}

// lock locks the service's database for writing until release is called.
func (s *instance) lock(t *testing.T) (release func()) {
	db, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(s.database, "sqlite:")+"?_pragma=busy_timeout(20000)")
	require.NoError(t, err)
	conn, err := db.Conn(context.Background())
	require.NoError(t, err)
	_, err = conn.ExecContext(context.Background(), "BEGIN IMMEDIATE")
	require.NoError(t, err)
	return func() {
		require.NoError(t, conn.Close())
		require.NoError(t, db.Close())
	}
}

var refusals = regexp.MustCompile(`(?m)^.*"the ledger failed".*$`)

var leftOut = regexp.MustCompile(`"left_out":(\d+)`)

// During a database outage every request fails with the same error. It is logged
// once a second, with a count of the lines left out.
func TestOutageIsLoggedOnceASecond(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t))
	key := s.newKey(t)
	release := s.lock(t)
	began, refused := time.Now(), 0
	for refused < 300 {
		response, body := s.send(t, http.MethodGet, "/v1/email/a@mail.example", key, "", nil)
		require.Equal(t, http.StatusServiceUnavailable, response.StatusCode, body)
		refused++
	}
	release()
	s.stop()
	s.requireStopped(t)

	lines := refusals.FindAllString(s.log.String(), -1)
	counted := len(lines)
	for _, line := range lines {
		if more := leftOut.FindStringSubmatch(line); more != nil {
			n, err := strconv.Atoi(more[1])
			require.NoError(t, err)
			counted += n
		}
	}
	require.Equal(t, refused, counted)
	require.LessOrEqual(t, len(lines), int(time.Since(began)/time.Second)+2) // real time: a slow machine may write more lines
}
