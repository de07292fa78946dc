package command

import (
	"io"
	"net/http"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// getSecurityTxt returns the service's response.
func (s *instance) getSecurityTxt(t *testing.T) (*http.Response, string) {
	t.Helper()
	resp, err := http.Get("http://" + s.hostPort + "/.well-known/security.txt")
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp, string(body)
}

// The program serves the file of --security-txt with and without its pages, and 404 without a file.
func TestSecurityTxt(t *testing.T) {
	t.Parallel()
	file := origintest.SecurityTxt(t)
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, pages := range []string{"on", "off"} {
		resp, body := start(t, "--security-txt", file, "--dashboard", pages).getSecurityTxt(t)
		require.Equal(t, http.StatusOK, resp.StatusCode)
		require.Equal(t, "text/plain; charset=utf-8", resp.Header.Get("Content-Type"))
		require.Equal(t, string(want), body)
	}
	resp, body := start(t).getSecurityTxt(t)
	require.Equal(t, http.StatusNotFound, resp.StatusCode)
	require.Contains(t, body, "NOT_FOUND")
}

// SIGHUP reads the file again. An invalid one changes nothing.
func TestHangUpReloadsSecurityTxt(t *testing.T) {
	t.Parallel()
	file := origintest.SecurityTxt(t)
	p := launch(t, nil, "--security-txt", file)
	_, first := p.getSecurityTxt(t)
	replace(t, file, []byte(first+"Preferred-Languages: en\r\n"))
	require.NoError(t, p.Signal(syscall.SIGHUP))
	second := func() bool { _, body := p.getSecurityTxt(t); return body == first+"Preferred-Languages: en\r\n" }
	require.Eventually(t, second, hung, 10*time.Millisecond)
	replace(t, file, []byte("Contact: mailto:security@addrspec.example\r\n"))
	require.NoError(t, p.Signal(syscall.SIGHUP))
	require.Eventually(t, func() bool { return p.log.Contains("the new fields of security.txt are invalid") }, hung, 10*time.Millisecond)
	require.True(t, second())
	require.NoError(t, p.Terminate(hung))
}
