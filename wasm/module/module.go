// Package module embeds the built addrspec.wasm for programs in Go. Package host
// runs it.
package module

import (
	"embed"
	"errors"
)

// The pattern also matches addrspec.wasm.md, so that a fresh clone compiles
// before the module is built.
//
//go:embed addrspec.wasm*
var files embed.FS

const name = "addrspec.wasm"

// ErrMissing is returned by Bytes if the program was compiled without the module.
var ErrMissing = errors.New("this program was compiled without addrspec.wasm; build it with ./build.sh, or name a module file")

// Bytes returns the module, or ErrMissing.
func Bytes() ([]byte, error) {
	wasm, err := files.ReadFile(name)
	if err != nil {
		return nil, ErrMissing
	}
	return wasm, nil
}
