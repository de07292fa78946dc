package person

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestClientName(t *testing.T) {
	for userAgent, want := range map[string]string{
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36":              "Chrome on Linux",
		"Mozilla/5.0 (Windows NT 10.0; Win64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36 Edg/140": "Edge on Windows",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Mobile/15E148 Safari/604.1":                 "Safari on iPhone",
		"curl/8.5.0": "curl", "": "an unknown program",
	} {
		require.Equal(t, want, clientName(userAgent))
	}
}
