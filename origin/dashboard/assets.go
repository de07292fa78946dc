package dashboard

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"maps"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/addrspec/addrspec/origin/dashboard/docs"
	"github.com/addrspec/addrspec/wasm/module"
)

//go:embed assets
var assetFiles embed.FS

// An asset is a file that pages refer to.
type asset struct {
	contentType string
	body        []byte
	compressed  func() []byte // made at the first use
}

func newAsset(contentType string, body []byte) asset {
	return asset{contentType, body, sync.OnceValue(func() []byte {
		var b bytes.Buffer
		z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is valid
		_, _ = z.Write(body)                                  // a buffer takes everything
		_ = z.Close()
		return b.Bytes()
	})}
}

const (
	moduleAsset = "addrspec.wasm" // that pages run in the browser
	indexAsset  = "search.json"   // that the search box of the documentation searches
)

// assets are read at the first use, since most commands show no page.
var assets = sync.OnceValue(func() map[string]asset {
	list := map[string]asset{}
	if wasm, err := module.Bytes(); err == nil { // the program may be compiled without it
		list[moduleAsset] = newAsset("application/wasm", wasm)
	}
	list[indexAsset] = newAsset("application/json", docs.Index())
	files, _ := assetFiles.ReadDir("assets") // embedded: cannot be missing
	for _, file := range files {
		body, _ := assetFiles.ReadFile("assets/" + file.Name())
		list[file.Name()] = newAsset(contentTypes[path.Ext(file.Name())], body)
	}
	return list
})

// contentTypes are not the system's, whose table may differ.
var contentTypes = map[string]string{
	".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}

// release is the hash of all assets. It is in every path, so that
// scripts can import each other by relative paths and browsers may keep them for
// ever.
var release = sync.OnceValue(func() string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(assets())) {
		sum.Write([]byte(name))
		sum.Write(assets()[name].body)
	}
	return hex.EncodeToString(sum.Sum(nil)[:6])
})

func assetPath(name string) string { return "/assets/" + release() + "/" + name }

// serveAsset sends an asset, compressed to every browser: text and the module are
// three times smaller so.
func serveAsset(w http.ResponseWriter, r *http.Request) {
	found, ok := assets()[r.PathValue("name")]
	if !ok {
		http.Error(w, "There is no such asset.", http.StatusNotFound)
		return
	}
	h, body := w.Header(), found.body
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	if r.PathValue("release") != release() {
		h.Set("Cache-Control", "no-cache") // the page came from a replica of another release
	}
	h.Set("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		body = found.compressed()
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Type", found.contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
}
