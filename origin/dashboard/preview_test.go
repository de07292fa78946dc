package dashboard

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// maxWeight is how many bytes a page may have with everything it loads but the
// module, without compression.
const maxWeight = 100_000

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
		require.LessOrEqual(t, weight(handler, got.Body.String()), maxWeight, p.path())
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
	total, texts, seen := 0, []string{page}, map[string]bool{moduleAsset: true}
	for len(texts) > 0 {
		text := texts[0]
		texts, total = texts[1:], total+len(text)
		for _, found := range references.FindAllStringSubmatch(text, -1) {
			for _, name := range found[1:] {
				if name != "" && !seen[name] {
					seen[name] = true
					texts = append(texts, getPreview(handler, assetPath(name)).Body.String())
				}
			}
		}
	}
	return total
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
