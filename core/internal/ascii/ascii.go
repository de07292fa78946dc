// Package ascii has functions on ASCII text that package bytes lacks: they
// change only the case of ASCII letters, or test eight bytes at once.
package ascii

import (
	"runtime"
	"unsafe"
)

// Lower returns c in lower case if it is an ASCII letter, else c.
func Lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// A word consists of eight bytes, which are compared at once. Multiplying a byte
// by ones copies it to each of them.
const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// Word returns the first eight bytes of s, the first in the low bits. Compilers turn the
// expression into one load, but into eight for WebAssembly, which is little-endian and
// loads words from any address. encoding/binary would add reflection to the module.
func Word(s []byte) uint64 {
	b := (*[8]byte)(s)
	if runtime.GOARCH == "wasm" {
		return *(*uint64)(unsafe.Pointer(b))
	}
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// IsWord reports whether each byte of w is ASCII.
func IsWord(w uint64) bool { return w&highs == 0 }

// HasLess reports whether a byte of w is less than c. All bytes of w and c must
// be ASCII.
func HasLess(w uint64, c byte) bool { return (w-ones*uint64(c))&^w&highs != 0 }

// HasByte reports whether a byte of w equals c.
func HasByte(w uint64, c byte) bool {
	w ^= ones * uint64(c)
	return (w-ones)&^w&highs != 0
}

// Is reports whether every byte of s is ASCII.
func Is(s []byte) bool {
	for ; len(s) >= 8; s = s[8:] {
		if !IsWord(Word(s)) {
			return false
		}
	}
	for _, c := range s {
		if c >= 0x80 {
			return false
		}
	}
	return true
}

// AppendLower appends s to dst with its ASCII letters in lower case. dst may
// begin where s does.
func AppendLower(dst, s []byte) []byte {
	for _, c := range s {
		dst = append(dst, Lower(c))
	}
	return dst
}

// HasPrefixFold reports whether s begins with prefix in any case. prefix must be
// in lower case. bytes.EqualFold would add 4 KB of Unicode tables to the
// compressed module.
func HasPrefixFold(s []byte, prefix string) bool {
	if len(s) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		if Lower(s[i]) != prefix[i] {
			return false
		}
	}
	return true
}
