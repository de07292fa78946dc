package ledger

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The serialisation of an origin is its own serialisation, and has no part that a
// browser leaves out.
func FuzzParseOrigin(f *testing.F) {
	for _, text := range []string{"https://shop.example", "HTTPS://Shop.Example:443/", "http://localhost:3000", "https://bücher.example", "https://[::1]", "https://127.1", "null", "https://*.example", "https://a@b", "https://a.example:0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		origin, err := ParseOrigin(text)
		if err != nil {
			return
		}
		again, err := ParseOrigin(origin)
		require.NoError(t, err, origin)
		require.Equal(t, origin, again)
		u, err := url.Parse(origin)
		require.NoError(t, err)
		require.Equal(t, origin, u.Scheme+"://"+u.Host)
		require.Equal(t, strings.ToLower(origin), origin)
	})
}
