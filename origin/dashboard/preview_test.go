package dashboard

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// maxReceived is how many bytes a browser may receive for a page with everything it
// loads but the module. Pages themselves are not compressed: they have tokens.
const maxReceived = 100_000

// Every template has a preview, so that somebody looks at it and axe checks it.
func TestEveryTemplateHasAPreview(t *testing.T) {
	seen := map[string]bool{previewFile: true}
	for _, p := range previews() {
		seen[p.page] = true
	}
	for name := range templates() {
		require.True(t, seen[name], "templates/%s.html has no preview: add one to a file preview*.go", name)
	}
}

func TestPreviews(t *testing.T) {
	handler := Previews("test")
	paths := map[string]bool{}
	for _, p := range previews() {
		require.False(t, paths[p.path()], "two previews have the path %s", p.path())
		paths[p.path()] = true
		got := getPreview(handler, p.path())
		require.Equal(t, http.StatusOK, got.Code, "%s: %s", p.path(), got.Body)
		require.Contains(t, got.Body.String(), "</html>", p.path())
		require.NotEmpty(t, got.Header().Get("Content-Security-Policy"))
		bytes := weight(handler, got.Body.String())
		require.LessOrEqual(t, bytes, maxReceived, p.path())
		t.Logf("%6d bytes: %s", bytes, p.path())
	}
	require.Equal(t, "/preview/keys/many", getPreview(handler, "/dashboard/keys").Header().Get("Location"))
	require.Equal(t, "/preview/", getPreview(handler, "/nothing-like-that").Header().Get("Location"))
	post := httptest.NewRecorder()
	handler.ServeHTTP(post, httptest.NewRequest("POST", "/dashboard/keys", nil))
	require.Equal(t, http.StatusMethodNotAllowed, post.Code)
}

func getPreview(handler http.Handler, path string) *httptest.ResponseRecorder {
	got := httptest.NewRecorder()
	handler.ServeHTTP(got, httptest.NewRequest("GET", path, nil))
	return got
}

// references are the files that a page or a script loads.
var references = regexp.MustCompile(`/assets/\w+/([\w.-]+)|from "\./([\w.-]+)"|import\("\./([\w.-]+)"\)|import "\./([\w.-]+)"|new URL\("\./([\w.-]+)"`)

// weight returns the bytes of a page with what it loads, and what that loads.
func weight(handler http.Handler, page string) int {
	total, texts, seen := len(page), []string{page}, map[string]bool{moduleAsset: true}
	for len(texts) > 0 {
		text := texts[0]
		texts = texts[1:]
		for _, found := range references.FindAllStringSubmatch(text, -1) {
			name := strings.Join(found[1:], "")
			if seen[name] {
				continue
			}
			seen[name] = true
			texts = append(texts, getPreview(handler, assetPath(name)).Body.String())
			total += compressedSize(handler, name)
		}
	}
	return total
}

// compressedSize returns how many bytes a browser receives for an asset.
func compressedSize(handler http.Handler, name string) int {
	r := httptest.NewRequest("GET", assetPath(name), nil)
	r.Header.Set("Accept-Encoding", "gzip")
	got := httptest.NewRecorder()
	handler.ServeHTTP(got, r)
	return got.Body.Len()
}

// Assets are the same bytes with and without compression.
func TestCompressedAssets(t *testing.T) {
	handler := Previews("test")
	for name, asset := range assets() {
		r := httptest.NewRequest("GET", assetPath(name), nil)
		r.Header.Set("Accept-Encoding", "gzip, br")
		got := httptest.NewRecorder()
		handler.ServeHTTP(got, r)
		require.Equal(t, "gzip", got.Header().Get("Content-Encoding"), name)
		require.Equal(t, "Accept-Encoding", got.Header().Get("Vary"), name)
		z, err := gzip.NewReader(got.Body)
		require.NoError(t, err, name)
		body, err := io.ReadAll(z)
		require.NoError(t, err, name)
		require.Equal(t, string(asset.body), string(body), name)
		require.Equal(t, string(asset.body), getPreview(handler, assetPath(name)).Body.String(), name)
	}
}

func BenchmarkRender(b *testing.B) {
	for _, p := range previews() {
		if p.state == "many" || p.state == "full" || p.state == "plain" {
			b.Run(p.page+"/"+p.state, func(b *testing.B) {
				for b.Loop() {
					if _, err := renderPreview(p, "test"); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
