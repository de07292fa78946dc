package command

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// An instance is a running `addrspec serve`, in this process unless launch
// started it.
type instance struct {
	hostPort string
	database string
	ledger   *ledger.Ledger // the same database, opened a second time
	log      *origintest.Log
	stop     context.CancelFunc
	exit     chan int
}

// start runs serve until the test ends.
func start(t testing.TB, args ...string) *instance {
	t.Helper()
	s := &instance{database: origintest.NewDatabase(t), log: new(origintest.Log), exit: make(chan int, 1)}
	args = origintest.ServeArgs(t, s.database, args...)
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	out, in := io.Pipe()
	go func() { s.exit <- run(ctx, args, streams{strings.NewReader(""), in, s.log}); in.Close() }()
	t.Cleanup(func() { stop(); <-s.exit })
	line, err := origintest.FirstLine(out)
	require.NoError(t, err, s.log)
	s.hostPort, err = origintest.AddressIn(line)
	require.NoError(t, err)
	s.ledger = ledgertest.Open(t, s.database)
	return s
}

// requireStopped waits until serve has returned 0.
func (s *instance) requireStopped(t testing.TB) {
	t.Helper()
	require.Zero(t, <-s.exit)
	s.exit <- 0 // for the clean-up of start
}

const testAccount = "batch@contract.test"

// newKey makes testAccount, without limits, and a key for it.
func (s *instance) newKey(t testing.TB) string {
	return ledgertest.NewAccount(t, s.ledger, testAccount)
}

// limitedKey makes testAccount with a limit of points, and a key for it.
func (s *instance) limitedKey(t testing.TB, points book.Limit) (key string, account int64) {
	return ledgertest.NewAccountOn(t, s.ledger, testAccount, book.Terms{Rate: ledgertest.Unlimited(), Points: &points})
}

// otherKey makes another account, on the default plan, and a key for it.
func (s *instance) otherKey(t testing.TB) string {
	key, _ := ledgertest.NewAccountOn(t, s.ledger, "neighbour@contract.test", book.Terms{})
	return key
}

// used returns the points of testAccount.
func (s *instance) used(t testing.TB) int64 { return ledgertest.Used(t, s.ledger, testAccount) }

// send sends one request with further headers.
func (s *instance) send(t testing.TB, method, path, key, body string, more http.Header) (*http.Response, string) {
	request, err := http.NewRequest(method, "http://"+s.hostPort+path, strings.NewReader(body))
	require.NoError(t, err)
	request.Header = http.Header{"X-Api-Key": {key}, "Content-Type": {"application/json"}}
	for name, values := range more {
		request.Header[name] = values
	}
	response, err := httpClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	resp, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response, string(resp)
}

// An envelope is the response to a batch as a client reads it.
type envelope struct {
	Success, Partial bool
	Total            int
	Valid            int `json:"valid_count"`
	Invalid          int `json:"invalid_count"`
	Errors           int `json:"error_count"`
	Points           int `json:"usage_points"`
	Results          []struct{ Email, Status string }
}

// post sends a batch.
func (s *instance) post(key string, emails []string) (status int, e envelope, err error) {
	body, _ := json.Marshal(map[string][]string{"emails": emails})
	request, _ := http.NewRequest(http.MethodPost, "http://"+s.hostPort+"/v1/emails", bytes.NewReader(body))
	request.Header.Set("X-API-Key", key)
	request.Header.Set("Content-Type", "application/json")
	response, err := httpClient.Do(request)
	if err != nil {
		return 0, e, err
	}
	defer response.Body.Close()
	return response.StatusCode, e, json.NewDecoder(response.Body).Decode(&e)
}

// httpClient keeps a connection for each of 16 concurrent requests.
var httpClient = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}

// get fetches a page. It may run outside the test's goroutine.
func (s *instance) get(key, path string) (status int, body string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), hung)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.hostPort+path, nil)
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("X-API-Key", key)
	response, err := httpClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	return response.StatusCode, string(page), err
}

func (s *instance) requireHealthy(t testing.TB) {
	t.Helper()
	status, _, err := s.get("", "/healthz")
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
}

// metrics returns the page /metrics.
func (s *instance) metrics(t testing.TB) string {
	t.Helper()
	status, page, err := s.get("", "/metrics")
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
	return page
}

// metric returns the value of a series without labels.
func (s *instance) metric(t testing.TB, name string) float64 {
	t.Helper()
	line := regexp.MustCompile(`(?m)^` + name + ` (.*)$`).FindStringSubmatch(s.metrics(t))
	require.NotNil(t, line, name)
	value, err := strconv.ParseFloat(line[1], 64)
	require.NoError(t, err)
	return value
}

// wholeLog returns the log once it has a line for each request served so far:
// lines are written in the background.
func (s *instance) wholeLog(t testing.TB) string {
	last := rand.Text()
	s.send(t, http.MethodGet, "/healthz", "", "", http.Header{"X-Request-Id": {last}})
	require.Eventually(t, func() bool { return s.log.Contains(last) }, hung, time.Millisecond)
	return s.log.String()
}
