package edge_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/contract"
)

// BenchmarkSingle compares a single at the origin with one through the worker on
// the same machine, which sends a second request to the origin.
func BenchmarkSingle(b *testing.B) {
	o := startOrigin(b, "--dns", contract.Serve(b))
	key := o.account(b, "bench@edge.test")
	for _, c := range []struct {
		name string
		p    *process
	}{{"origin", o.process}, {"workerd", startWorkerd(b, "http://"+o.hostPort)}} {
		b.Run(c.name, func(b *testing.B) {
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					fetch(b, "http://"+c.p.hostPort+"/v1/email/jane.doe@mail.example", key)
				}
			})
		})
	}
}

func fetch(b *testing.B, url, key string) {
	r, err := http.NewRequest(http.MethodGet, url, nil)
	require.NoError(b, err)
	r.Header.Set("X-API-Key", key)
	response, err := http.DefaultClient.Do(r)
	require.NoError(b, err)
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	require.NoError(b, err)
	require.Equal(b, http.StatusOK, response.StatusCode)
}
