package dashboard

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"sync"
)

//go:embed assets
var assetFiles embed.FS

// An asset is a file that pages refer to.
type asset struct {
	contentType string
	body        []byte
}

// assets are read at the first use, since most commands show no page.
var assets = sync.OnceValue(func() map[string]asset {
	list := map[string]asset{}
	err := fs.WalkDir(assetFiles, "assets", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := assetFiles.ReadFile(file)
		list[path.Base(file)] = asset{contentType(file), body}
		return err
	})
	if err != nil {
		panic(err) // embedded: cannot be missing
	}
	return list
})

// contentType does not ask the system, whose table may differ.
func contentType(file string) string {
	switch path.Ext(file) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	return mime.TypeByExtension(path.Ext(file))
}

// release is the hash of all assets and the module. It is in every path, so that
// scripts can import each other by relative paths and browsers may keep them for
// ever.
var release = sync.OnceValue(func() string {
	sum := sha256.New()
	sum.Write(moduleBytes())
	for _, name := range sortedKeys(assets()) {
		sum.Write([]byte(name))
		sum.Write(assets()[name].body)
	}
	return hex.EncodeToString(sum.Sum(nil)[:6])
})

// assetPath returns the path of an asset.
func assetPath(name string) string { return "/assets/" + release() + "/" + name }

func serveAsset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	found, ok := assets()[name]
	if !ok && name != moduleAsset {
		http.Error(w, "There is no such asset.", http.StatusNotFound)
		return
	}
	h := w.Header()
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	if r.PathValue("release") != release() {
		h.Set("Cache-Control", "no-cache") // the page came from a replica of another release
	}
	if name == moduleAsset {
		serveModule(w, r)
		return
	}
	h.Set("Content-Type", found.contentType)
	h.Set("Content-Length", strconv.Itoa(len(found.body)))
	_, _ = w.Write(found.body)
}
