package edge_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// startPages starts an origin with pages like those of a dashboard and returns its
// URL.
func startPages(t *testing.T) string {
	mux := http.NewServeMux()
	mux.HandleFunc("/dashboard/cookies", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Set-Cookie", "a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT")
		w.Header().Add("Set-Cookie", "b=2; HttpOnly")
		fmt.Fprintf(w, "%s %s %s", r.Header.Get("Cookie"), r.Header.Get("X-Forwarded-Host"), r.Header.Get("X-Forwarded-For"))
	})
	mux.HandleFunc("/assets/compressed", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		io.WriteString(z, strings.Repeat("page ", 10_000))
		z.Close()
	})
	mux.HandleFunc("/docs", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/dashboard/cookies", http.StatusSeeOther)
	})
	mux.HandleFunc("/dashboard/nothing", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("/dashboard/upload", func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, r.Method, " ", n, " ", err, " ", r.URL.RawQuery)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// Requests for pages and their responses are forwarded unchanged.
func TestForwardPages(t *testing.T) {
	t.Parallel()
	originURL := startPages(t)
	for _, runtime := range runtimes {
		t.Run(runtime.name, func(t *testing.T) {
			w := runtime.start(t, originURL, "ADDRSPEC_FORWARD=dashboard")
			cookies := w.send(t, get("/dashboard/cookies", "Cookie: c=3", "X-Forwarded-For: 192.0.2.1"))
			require.Equal(t, []string{"a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT", "b=2; HttpOnly"}, cookies.header.Values("Set-Cookie"))
			require.Equal(t, "c=3 "+w.hostPort+" ", cookies.body)

			compressed := w.send(t, get("/assets/compressed", "Accept-Encoding: identity"))
			require.Equal(t, strings.Repeat("page ", 10_000), compressed.body)
			require.Empty(t, compressed.header.Get("Content-Encoding"))

			moved := w.send(t, get("/docs"))
			require.Equal(t, http.StatusSeeOther, moved.status)
			require.Equal(t, "/dashboard/cookies", moved.header.Get("Location"))

			require.Equal(t, http.StatusNoContent, w.send(t, get("/dashboard/nothing")).status)
			require.Equal(t, http.StatusOK, w.send(t, request{Method: http.MethodHead, Target: "/dashboard/cookies"}).status)
			upload := request{Method: http.MethodPost, Target: "/dashboard/upload?a=%2F&b", Header: []string{"Content-Type: text/csv"}, Body: strings.Repeat("x", 3<<20)}
			require.Equal(t, "POST 3145728 <nil> a=%2F&b", w.send(t, upload).body)
		})
	}
}
