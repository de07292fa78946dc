package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestFaults is a short soak: real processes, few rounds, and only the trials that
// prove something in a short time. Times are reported but not judged.
func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("left to ./build.sh test ci")
	}
	var out bytes.Buffer
	const short = "kill/,replicas-2/postgres,outage/,revoked/sqlite,sigterm/sqlite"
	failed, err := soak(t.Context(), options{seconds: 10, only: short}, &out)
	t.Log("\n" + out.String())
	require.NoError(t, err)
	require.Zero(t, failed)
}

func TestPercentile(t *testing.T) {
	times := []time.Duration{5, 1, 4, 2, 3}
	for p, want := range map[int]time.Duration{1: 1, 20: 1, 21: 2, 50: 3, 99: 5, 100: 5} {
		require.Equal(t, want, percentile(times, p), p)
	}
	require.Zero(t, percentile(nil, 50))
}

// A response that differs from the contract is an error.
func TestOutcomePoints(t *testing.T) {
	headers := map[string][]string{"Content-Type": {"application/json"}, "X-Request-Id": {"1"}, "Retry-After": {"1"}}
	judge := func(r request, status int, body string) (int64, error) {
		o := outcome{status: status, header: headers, body: []byte(body)}
		return o.points(r)
	}
	two := batchOf(2, 0)
	for name, c := range map[string]struct {
		request request
		status  int
		body    string
		points  int64
		good    bool
	}{
		"a single":           {single("a@b"), 200, `{"email":"a@b","valid":true,"mx":false}`, 1, true},
		"a single cut short": {single("a@b"), 200, `{"email":"a@b"}`, 1, false},
		"a batch":            {two, 200, `{"total":2,"usage_points":2,"results":[1,2]}`, 2, true},
		"too expensive":      {two, 200, `{"total":2,"usage_points":3,"results":[1,2]}`, 3, false},
		"too short":          {two, 200, `{"total":1,"usage_points":1,"results":[1]}`, 0, false},
		"a part":             {two, 200, `{"partial":true,"total":1,"usage_points":1,"results":[1]}`, 1, true},
		"shape A":            {two, 503, `{"status":503,"error":"x","code":"REQUEST_CANCELLED"}`, 0, true},
		"another code":       {two, 503, `{"status":503,"error":"x","code":"OTHER"}`, 0, false},
		"another status":     {two, 503, `{"status":500,"error":"x","code":"REQUEST_CANCELLED"}`, 0, false},
		"no JSON":            {two, 503, `Service Unavailable`, 0, false},
		"a defect":           {two, 500, `{"status":500,"error":"x","code":"INTERNAL_ERROR"}`, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			points, err := judge(c.request, c.status, c.body)
			require.Equal(t, c.good, err == nil, err)
			if c.good {
				require.Equal(t, c.points, points)
			}
		})
	}
}

// A request after the server closed the idle connection is sent on a new one, and one
// whose connection is closed instead of a response is cut.
func TestClientOfClosedConnection(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			panic(http.ErrAbortHandler)
		}
	}))
	defer server.Close()
	c := &client{address: server.Listener.Addr().String(), keepAlive: true}
	require.Equal(t, http.StatusOK, c.send(single("jane@example.org")).status)
	first := c.conn
	server.CloseClientConnections()
	require.Eventually(t, func() bool { return closedByServer(first) }, 2*time.Minute, time.Millisecond)
	require.Equal(t, http.StatusOK, c.send(single("jane@example.org")).status)
	require.NotSame(t, first, c.conn)
	cut := c.send(batchOf(2, 1))
	require.Error(t, cut.err)
	require.True(t, cut.sent)

	server.Close()
	require.Eventually(t, func() bool { o := c.send(single("jane@example.org")); return o.err != nil && !o.sent },
		2*time.Minute, time.Millisecond)
}

// What a load counts is what the account was charged: a replay costs nothing more, a request that
// was cut off may have cost its points, and one with an Idempotency-Key until it is settled.
func TestLoadCounts(t *testing.T) {
	replayed, cut := "", false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if cut {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Request-Id", "1")
		w.Header().Set("Idempotency-Replayed", replayed)
		_, _ = io.WriteString(w, `{"total":2,"usage_points":2,"results":[1,2]}`)
	}))
	defer server.Close()
	a := &account{}
	l := a.load(1, always(server.Listener.Addr().String()), nil)
	c := &client{address: l.at(0)}
	defer c.close()
	plain, once := batchOf(2, 1), batchOf(2, 2)
	once.once = "key"
	for _, step := range []struct {
		request     request
		replayed    string
		cut         bool
		least, most int64
		odd         int
	}{
		{plain, "", false, 2, 2, 0},
		{plain, "", true, 2, 4, 0},
		{once, "", true, 2, 6, 0},
		{once, "", false, 4, 6, 0},
		{once, "true", false, 4, 6, 0},
		{once, "", false, 4, 6, 1},
	} {
		replayed, cut = step.replayed, step.cut
		if step.request.once != "" && !l.stored["key"] {
			l.unsettled[0] = step.request
		}
		l.send(c, 0, step.request)
		least, most := a.charged()
		require.Equal(t, []int64{step.least, step.most}, []int64{least, most}, "%+v", step)
		require.Len(t, l.odd, step.odd)
	}
}
