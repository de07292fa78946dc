package contract

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/origintest"
)

// timeout limits one exchange. The slowest case waits for a silent resolver.
const timeout = 30 * time.Second

// send sends the request on its own connection. A client library would normalize
// the targets that the cases are about.
func (r *Request) send(t *testing.T, hostPort, key string) (int, http.Header, []byte) {
	response, body := origintest.Exchange(t, hostPort, r.text(hostPort, key), timeout)
	return response.StatusCode, response.Header, []byte(body)
}

func (r *Request) method() string {
	if r.Method == "" {
		return http.MethodGet
	}
	return r.Method
}

func (r *Request) text(hostPort, key string) string {
	fill := strings.NewReplacer("{fill}", strings.Repeat(r.Fill, r.Times))
	request := origintest.Request{Method: r.method(), Target: fill.Replace(r.Target), Body: fill.Replace(r.Body)}
	for name, value := range r.headers() {
		for line := range strings.SplitSeq(strings.ReplaceAll(value, "{key}", key), "\n") {
			request.Header = append(request.Header, name+": "+line)
		}
	}
	return request.Text(hostPort)
}

// headers returns the headers of the case, with a key and a media type added if it
// has none. A header with an empty value is omitted.
func (r *Request) headers() map[string]string {
	all := map[string]string{"X-API-Key": "{key}"}
	if r.method() == http.MethodPost {
		all["Content-Type"] = "application/json"
	}
	if _, ok := r.Headers["Authorization"]; ok {
		delete(all, "X-API-Key")
	}
	for name, value := range r.Headers {
		if all[name] = value; value == "" {
			delete(all, name)
		}
	}
	return all
}

// checkHeaders checks the headers that every response has and those of this one.
func (a *Answer) checkHeaders(t *testing.T, name string, got http.Header) {
	want := map[string]string{"Content-Type": "application/json", "X-Request-Id": "~^[A-Za-z0-9._:-]+$", "Cache-Control": "~no-store"}
	for header, value := range a.Headers {
		want[header] = value
	}
	for header, value := range want {
		if pattern, ok := strings.CutPrefix(value, "~"); ok {
			require.Regexp(t, regexp.MustCompile(pattern), got.Get(header), "%s: %s", name, header)
			continue
		}
		require.Equal(t, value, got.Get(header), "%s: %s", name, header)
	}
}
