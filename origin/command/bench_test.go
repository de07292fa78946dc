package command

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/contract"
)

// clients is the number of keep-alive connections that send requests.
const clients = 32

// BenchmarkSingle measures a GET over loopback, with the charge flushed to disk
// and the MX from the cache. It compares net/http alone with a response of the
// same length, which is the limit of the machine.
func BenchmarkSingle(b *testing.B) {
	b.Run("bare net/http", func(b *testing.B) {
		body := strings.Repeat("x", 307)
		bare := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) })}
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(b, err)
		go bare.Serve(listener)
		defer bare.Close()
		load(b, func() *http.Request { return newRequest(b, http.MethodGet, "http://"+listener.Addr().String(), "", "") })
	})
	b.Run("addrspec", func(b *testing.B) {
		s := start(b, "--dns", contract.Serve(b))
		key, url := s.newKey(b), "http://"+s.hostPort+"/v1/email/jane.doe@mail.example"
		load(b, func() *http.Request { return newRequest(b, http.MethodGet, url, key, "") })
	})
}

// BenchmarkBatch measures batches of 64 addresses at cached domains.
func BenchmarkBatch(b *testing.B) {
	s := start(b, "--dns", contract.Serve(b))
	key, url := s.newKey(b), "http://"+s.hostPort+"/v1/emails"
	emails, _, _ := mailList(64)
	body := `{"emails":["` + strings.Join(emails, `","`) + `"]}`
	load(b, func() *http.Request { return newRequest(b, http.MethodPost, url, key, body) })
	b.ReportMetric(64*float64(b.N)/b.Elapsed().Seconds(), "addresses/s")
}

func newRequest(b *testing.B, method, url, key, body string) *http.Request {
	request, err := http.NewRequest(method, url, strings.NewReader(body))
	require.NoError(b, err)
	request.Header.Set("X-API-Key", key)
	request.Header.Set("Content-Type", "application/json")
	return request
}

// load sends b.N requests on the clients' connections.
func load(b *testing.B, make func() *http.Request) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	b.SetParallelism(clients / 2)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			response, err := client.Do(make())
			if err != nil {
				b.Error(err)
				return
			}
			io.Copy(io.Discard, response.Body)
			response.Body.Close()
			if response.StatusCode != http.StatusOK {
				b.Errorf("status %d", response.StatusCode)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}
