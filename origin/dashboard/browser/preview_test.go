package browser

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/origintest"
)

// preview starts the previews and returns their URL.
func preview(t testing.TB) string {
	t.Helper()
	p, err := origintest.Start(command(t, "dashboard", "preview", "--listen", "127.0.0.1:0"), origintest.OnStdout)
	require.NoError(t, err)
	t.Cleanup(p.Kill)
	return regexp.MustCompile(`http://[^/]+`).FindString(p.FirstLine)
}

// axe finds nothing on any page in any state, in light, dark and on a phone.
func TestEveryPreviewIsAccessible(t *testing.T) {
	leftToCI(t)
	endpoint(t)
	out := script(t, "previews.mjs", preview(t))
	require.Regexp(t, `^[1-9][0-9]* previews`, out)
	t.Log(out)
}

// TestScreenshots takes a picture of every preview, in the folder that
// ADDRSPEC_SCREENSHOTS names.
func TestScreenshots(t *testing.T) {
	folder := os.Getenv("ADDRSPEC_SCREENSHOTS")
	if folder == "" {
		t.Skip("ADDRSPEC_SCREENSHOTS names no folder; ./build.sh screenshots does")
	}
	require.NoError(t, os.MkdirAll(folder, 0o755))
	script(t, "previews.mjs", preview(t), folder)
}
