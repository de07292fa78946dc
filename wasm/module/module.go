// Package module holds the built addrspec.wasm for programs in Go.
package module

import (
	"embed"
	"errors"
)

// The pattern also matches the page beside the module, so that a fresh clone
// compiles before the module is built.
//
//go:embed addrspec.wasm*
var files embed.FS

// ErrMissing says that the program was compiled without the module.
var ErrMissing = errors.New("this program was compiled without addrspec.wasm; build it with ./build.sh, or name a module file")

// Bytes returns the module's binary, or ErrMissing.
func Bytes() ([]byte, error) {
	wasm, err := files.ReadFile("addrspec.wasm")
	if err != nil {
		return nil, ErrMissing
	}
	return wasm, nil
}
