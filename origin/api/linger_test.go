package api

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A client that sends the whole body before it reads the response, as Go's client
// and so Caddy may, gets 413 and no reset connection.
func TestTooLongBodiesGetAResponse(t *testing.T) {
	f := newFakes(t)
	address := f.listen(t, 10)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for _, size := range []int{maxBody + 1, 2*maxBody - 1} {
		body := strings.Repeat(" ", size)
		for range 50 {
			request, err := http.NewRequest(http.MethodPost, "http://"+address+"/v1/emails", strings.NewReader(body))
			require.NoError(t, err)
			request.Header.Set("Content-Type", contentJSON)
			request.Header.Set("X-API-Key", goodKey)
			response, err := client.Do(request)
			require.NoError(t, err, "%d bytes", size)
			response.Body.Close()
			require.Equal(t, http.StatusRequestEntityTooLarge, response.StatusCode)
		}
	}
}
