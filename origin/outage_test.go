package main

import (
	"context"
	"database/sql"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/contract"
)

// lock keeps the service from writing its database until release is called.
func (s *service) lock(t *testing.T) (release func()) {
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

// While the database is away, each request that is refused would log the same
// error; it is logged once a second, and each one that was left out is counted.
func TestAnOutageIsLoggedOnceASecond(t *testing.T) {
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
	require.LessOrEqual(t, len(lines), int(time.Since(began)/time.Second)+2)
}
