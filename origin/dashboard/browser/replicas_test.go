package browser

import (
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// Three replicas behind a balancer that gives each request to any of them: sessions,
// forms and keys work the same.
func TestLifeOfAKeyOnThreeReplicas(t *testing.T) {
	leftToCI(t)
	endpoint(t)
	database := pgtest.NeedDatabase(t)
	var replicas []*url.URL
	balancer := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(replicas[rand.IntN(len(replicas))])
		r.Out.Host = r.In.Host
	}})
	defer balancer.Close()
	public := strings.Replace(balancer.URL, "127.0.0.1", "localhost", 1)
	first := serve(t, database, "--demo", "--public-url", public)
	require.True(t, strings.HasPrefix(first.link, public))
	for _, s := range []*service{first, serve(t, database, "--public-url", public), serve(t, database, "--public-url", public)} {
		replicas = append(replicas, &url.URL{Scheme: "http", Host: s.host})
	}
	for _, replica := range replicas {
		resp, err := http.Get(replica.JoinPath("sign-in").String())
		require.NoError(t, err)
		resp.Body.Close()
		require.Equal(t, http.StatusOK, resp.StatusCode)
	}
	script(t, "stories/key-life.mjs", first.link)
}
