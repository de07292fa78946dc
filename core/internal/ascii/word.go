//go:build !wasm

package ascii

import "encoding/binary"

// Word returns the first eight bytes of s, the first in the low bits. The compiler turns
// it into one load.
func Word(s []byte) uint64 { return binary.LittleEndian.Uint64(s) }
