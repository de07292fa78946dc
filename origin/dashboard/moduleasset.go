package dashboard

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/addrspec/addrspec/wasm/module"
)

// moduleAsset is the module that pages run in the browser. It is three times
// smaller compressed, so it is kept and sent that way.
const moduleAsset = "addrspec.wasm"

// moduleBytes returns the module, nil if the program was compiled without it.
var moduleBytes = sync.OnceValue(func() []byte {
	wasm, err := module.Bytes()
	if err != nil {
		return nil
	}
	return wasm
})

var compressedModule = sync.OnceValue(func() []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is valid
	_, _ = z.Write(moduleBytes())                         // a buffer takes everything
	_ = z.Close()
	return b.Bytes()
})

// serveModule sends the module. Every browser that has WebAssembly accepts gzip.
func serveModule(w http.ResponseWriter, r *http.Request) {
	body := moduleBytes()
	if body == nil {
		http.Error(w, module.ErrMissing.Error(), http.StatusNotFound)
		return
	}
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		body = compressedModule()
		w.Header().Set("Content-Encoding", "gzip")
	}
	w.Header().Set("Vary", "Accept-Encoding")
	w.Header().Set("Content-Type", "application/wasm")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
}
