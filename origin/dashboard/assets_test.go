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

	"github.com/addrspec/addrspec/wasm/module"
)

// maxReceived is how many bytes a browser may receive for a page with everything it
// loads but the module and the index, which it loads when somebody is about to type. Pages themselves are not compressed: they have tokens.
const maxReceived = 50_000

// references are the files that a page or a script loads.
var references = regexp.MustCompile(`/assets/\w+/([\w.-]+)|from "\./([\w.-]+)"|import\("\./([\w.-]+)"\)|import "\./([\w.-]+)"`)

// weight returns the bytes of a page with what it loads, and what that loads.
func weight(s *site, page string) int {
	total, texts, seen := len(page), []string{page}, map[string]bool{moduleAsset: true, indexAsset: true}
	for len(texts) > 0 {
		text := texts[0]
		texts = texts[1:]
		for _, found := range references.FindAllStringSubmatch(text, -1) {
			name := strings.Join(found[1:], "")
			if !seen[name] {
				seen[name] = true
				texts = append(texts, string(assets()[name].body))
				total += getAsset(s, name, "gzip").Body.Len()
			}
		}
	}
	return total
}

func getAsset(s *site, name, encoding string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", assetPath(name), nil)
	r.Header.Set("Accept-Encoding", encoding)
	got := httptest.NewRecorder()
	s.ServeHTTP(got, r)
	return got
}

// Assets, of which the module is the embedded one, are the same bytes with and without compression. Browsers
// keep those of this release.
func TestCompressedAssets(t *testing.T) {
	s, b := ownSite(t)
	wasm, err := module.Bytes()
	require.NoError(t, err)
	got := expect(t, http.StatusOK, b.get(assetPath(moduleAsset))) // the client asks for gzip and decompresses
	require.Equal(t, string(wasm), got.body)
	require.Equal(t, "application/wasm", got.header.Get("Content-Type"))
	require.Contains(t, got.header.Get("Cache-Control"), "immutable")
	require.Equal(t, "no-cache", b.get("/assets/older/"+moduleAsset).header.Get("Cache-Control"))
	expect(t, http.StatusNotFound, b.get("/assets/older/nothing.js"))
	for name, asset := range assets() {
		got := getAsset(s, name, "gzip, br")
		require.Equal(t, http.StatusOK, got.Code, name)
		require.Equal(t, "gzip", got.Header().Get("Content-Encoding"), name)
		require.Equal(t, "Accept-Encoding", got.Header().Get("Vary"), name)
		z, err := gzip.NewReader(got.Body)
		require.NoError(t, err, name)
		body, err := io.ReadAll(z)
		require.NoError(t, err, name)
		require.Equal(t, string(asset.body), string(body), name)
		require.Equal(t, string(asset.body), getAsset(s, name, "identity").Body.String(), name)
	}
}
