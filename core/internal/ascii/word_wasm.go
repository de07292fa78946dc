package ascii

import "unsafe"

// Word returns the first eight bytes of s, the first in the low bits. WebAssembly is
// little-endian and loads words from any address, but the compiler makes eight loads
// of binary.LittleEndian.Uint64 there.
func Word(s []byte) uint64 { return *(*uint64)(unsafe.Pointer((*[8]byte)(s))) }
