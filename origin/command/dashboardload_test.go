package command

import (
	"crypto/rand"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/mxtest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// dashboardForms is the documented bound of forms that arrive at a time.
const dashboardForms = 256

// loadZone is the DNS data of these tests.
const loadZone = "example.com. MX 10 mail.example.com."

// Clients that send forms slowly keep nobody from a page or from the API, and those
// of one network nobody from sending a form. Further forms get a clear response, and
// the slow ones end soon.
func TestSlowFormsBlockNoPage(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", mxtest.Start(t, loadZone), "--trusted-proxy", "127.0.0.0/8")
	key := ledgertest.NewAccount(t, s.ledger, testAccount)
	slow := s.slowForms(t, func(n int) string { return fmt.Sprintf("192.0.2.%d", n%256) })
	s.awaitForm(t, "192.0.2.7", http.StatusTooManyRequests, slow)
	for _, other := range []string{"192.0.3.7", "2001:db8::7"} {
		require.Equal(t, http.StatusForbidden, s.postForm(t, other), "no form token, but a slot")
	}
	slow = s.slowForms(t, func(n int) string { return fmt.Sprintf("10.1.%d.7", n%256) })
	s.awaitForm(t, "192.0.4.7", http.StatusServiceUnavailable, slow)
	for range 3 {
		status, body := s.page(t, "/sign-in")
		require.Equal(t, http.StatusOK, status)
		require.Contains(t, body, "</html>")
		require.Equal(t, http.StatusOK, s.checkAddress(t, key))
	}
	late := slow()
	response, body := late.Response()
	for response.StatusCode != http.StatusRequestTimeout { // it got no slot
		late = slow()
		response, body = late.Response()
	}
	require.Contains(t, body, "did not arrive within 3 seconds")
	s.awaitForm(t, "192.0.4.7", http.StatusForbidden, nil)
}

// slowForms sends forms that do not end, from the addresses that from returns. The
// function that it returns sends one more.
func (s *instance) slowForms(t *testing.T, from func(n int) string) func() *origintest.TestConn {
	n := 0
	slow := func() *origintest.TestConn {
		n++
		return origintest.Dial(t, s.hostPort, hung).Send("POST /sign-in HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\nX-Forwarded-For: " + from(n) +
			"\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 10\r\n\r\n")
	}
	for range dashboardForms {
		slow()
	}
	return slow
}

// awaitForm waits until a form from an address gets a status. Meanwhile it sends more
// slow ones, in place of those that have ended on a slow machine.
func (s *instance) awaitForm(t *testing.T, from string, want int, slow func() *origintest.TestConn) {
	status := 0
	require.Eventually(t, func() bool {
		for range 8 {
			if slow != nil {
				slow()
			}
		}
		status = s.postForm(t, from)
		return status == want
	}, hung, 10*time.Millisecond, "%d", status)
}

// postForm sends a form through a proxy that names an address.
func (s *instance) postForm(t *testing.T, from string) int {
	response, _ := s.send(t, http.MethodPost, "/sign-in", "", "{}", http.Header{"X-Forwarded-For": {from}})
	return response.StatusCode
}

// Clients without a key that request pages and read nothing keep nobody from a
// page, and their connections are closed for others.
func TestUnreadPagesBlockNoPage(t *testing.T) {
	t.Parallel()
	const unread = 40
	for name, most := range map[string]int{"connections": unread, "slots of pages": 1000} {
		t.Run(name, func(t *testing.T) {
			s := start(t, "--dns", mxtest.Start(t, loadZone), "--max-connections", strconv.Itoa(most))
			for range unread {
				c := origintest.Dial(t, s.hostPort, hung)
				require.NoError(t, c.SetReadBuffer(4096))
				go c.Send(strings.Repeat("GET /docs/check-emails HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\n\r\n", 1000))
				c.Header(http.MethodGet)
			}
			for range 200 {
				response, body := origintest.Exchange(t, s.hostPort, "GET /sign-in HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\nConnection: close\r\n\r\n", hung)
				require.Equal(t, http.StatusOK, response.StatusCode, body)
			}
		})
	}
}

// page requests a page as a browser does.
func (s *instance) page(t testing.TB, path string) (status int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.hostPort+path, nil)
	require.NoError(t, err)
	r.Header.Set("Accept", "text/html")
	return exchange(t, http.DefaultClient, r)
}

// checkAddress checks an address and returns the status.
func (s *instance) checkAddress(t testing.TB, key string) (status int) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.hostPort+"/v1/email/jane@example.com", nil)
	require.NoError(t, err)
	r.Header.Set("X-API-Key", key)
	status, _ = exchange(t, http.DefaultClient, r)
	return status
}

func exchange(t testing.TB, client *http.Client, r *http.Request) (status int, body string) {
	t.Helper()
	resp, err := httpClient.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(text)
}

// BenchmarkAPIBesideDashboard measures the latency of the API alone, and while 64
// clients request pages and sign in.
func BenchmarkAPIBesideDashboard(b *testing.B) {
	for _, clients := range []int{0, 64} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) { benchmarkBeside(b, clients) })
	}
}

func benchmarkBeside(b *testing.B, clients int) {
	s := start(b, "--dns", mxtest.Start(b, loadZone), "--trusted-proxy", "127.0.0.1")
	key, _ := ledgertest.NewAccountOn(b, s.ledger, testAccount, book.Terms{Rate: ledgertest.Unlimited(), Points: ledgertest.Unlimited()})
	require.Equal(b, http.StatusOK, s.checkAddress(b, key))
	end, counts := s.hammer(clients)
	defer end()
	var took []time.Duration
	for b.Loop() {
		from := time.Now()
		require.Equal(b, http.StatusOK, s.checkAddress(b, key))
		took = append(took, time.Since(from)) // real time: a benchmark
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
	for status, n := range counts() {
		b.ReportMetric(float64(n)/b.Elapsed().Seconds(), fmt.Sprintf("pages-%d/s", status))
	}
}

// hammer requests pages and tries to sign in until end is called. counts returns
// the responses by status.
func (s *instance) hammer(clients int) (end func(), counts func() map[int]int) {
	stop, seen, lock, work := make(chan struct{}), map[int]int{}, sync.Mutex{}, sync.WaitGroup{}
	for i := range clients {
		work.Go(func() {
			jar, _ := cookiejar.New(nil)
			v := visitor{base: "http://" + s.hostPort, client: http.Client{Jar: jar}}
			for n := 2 * i; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				status := v.request(n)
				lock.Lock()
				seen[status]++
				lock.Unlock()
			}
		})
	}
	counts = func() map[int]int {
		lock.Lock()
		defer lock.Unlock()
		return maps.Clone(seen)
	}
	return sync.OnceFunc(func() { close(stop); work.Wait() }), counts
}

// A visitor requests pages like a browser: with cookies, and the token of forms.
type visitor struct {
	base   string
	client http.Client
	token  string
}

var tokenOfPage = regexp.MustCompile(`name="form-token" content="([^"]*)"`)

// request requests a page, or every other time tries to sign in with a wrong
// password. It returns the status, 0 for none.
func (v *visitor) request(n int) int {
	r, err := http.NewRequest(http.MethodGet, v.base+"/sign-in", nil)
	if n%2 == 1 {
		form := url.Values{"email": {rand.Text() + "@example.com"}, "password": {"a wrong password"}, "form_token": {v.token}}
		r, err = http.NewRequest(http.MethodPost, v.base+"/sign-in", strings.NewReader(form.Encode()))
	}
	if err != nil {
		return 0
	}
	r.Header.Set("Accept", "text/html")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("X-Forwarded-For", fmt.Sprintf("192.0.2.%d", n%250)) // attempts are limited for each address
	resp, err := v.client.Do(r)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	if found := tokenOfPage.FindSubmatch(text); found != nil {
		v.token = string(found[1])
	}
	return resp.StatusCode
}
