package command

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/api"
)

// getSecurityTxt returns the response of a service in a process of its own.
func getSecurityTxt(t *testing.T, flags ...string) (*http.Response, string) {
	t.Helper()
	p := launch(t, nil, flags...)
	resp, err := http.Get("http://" + p.hostPort + api.SecurityTxtPath)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp, string(body)
}

// The program serves security.txt with and without its pages, and 404 without a
// contact.
func TestSecurityTxt(t *testing.T) {
	t.Parallel()
	flags := []string{"--security-contact", "mailto:security@addrspec.example?subject=a,b", "--security-contact", "https://addrspec.example/report",
		"--security-policy", "https://addrspec.example/security", "--security-languages", "en,de", "--public-url", "https://addrspec.example/"}
	for _, pages := range []string{"on", "off"} {
		resp, body := getSecurityTxt(t, append(flags, "--dashboard", pages)...)
		require.Equal(t, http.StatusOK, resp.StatusCode)
		require.Equal(t, "text/plain; charset=utf-8", resp.Header.Get("Content-Type"))
		require.Regexp(t, `^Contact: mailto:security@addrspec\.example\?subject=a,b\r\nContact: https://addrspec\.example/report\r\nExpires: \d{4}-\d\d-01T00:00:00Z\r\n`+
			`Preferred-Languages: en,de\r\nCanonical: https://addrspec\.example/\.well-known/security\.txt\r\nPolicy: https://addrspec\.example/security\r\n$`, body)
	}
	_, body := getSecurityTxt(t, "--security-contact", "tel:+1-201-555-0123", "--public-url", "http://localhost:8080")
	require.NotContains(t, body, "Canonical", "it must have https")
	resp, body := getSecurityTxt(t)
	require.Equal(t, http.StatusNotFound, resp.StatusCode)
	require.Contains(t, body, "NOT_FOUND")
}

func TestServeRefusesSecurityTxt(t *testing.T) {
	t.Parallel()
	require.Contains(t, refused(t, "serve", "--security-contact", "security@addrspec.example"), "must be a URI such as mailto:")
	require.Contains(t, refused(t, "serve", "--security-policy", "https://addrspec.example"), "need --security-contact")
}
