package slim

import (
	"encoding/binary"
	"slices"
)

// section is the name of the custom section with the called functions: one bit for each
// function that the module defines, the lowest of the first byte for the first.
const section = "addrspec.called"

// Section numbers (core specification, section 5.5.2).
const (
	custom = 0
	code   = 10
)

// preamble is the size of what precedes the sections.
const preamble = 8

// Mark appends the section to wasm. called has an element for each function that wasm
// defines.
func Mark(wasm []byte, called []bool) []byte {
	contents := appendBytes(nil, []byte(section))
	bits := make([]byte, (len(called)+7)/8)
	for n, is := range called {
		if is {
			bits[n/8] |= 1 << (n % 8)
		}
	}
	return appendBytes(append(slices.Clip(wasm), custom), append(contents, bits...))
}

// Cut returns wasm without the functions that are not called. It returns false if wasm
// has no section of them, or has another form than those that this project builds; an
// engine then says what is wrong with it.
func Cut(wasm []byte) (cut []byte, ok bool) {
	list, ok := sections(wasm)
	if !ok {
		return nil, false
	}
	bits, ok := marked(list)
	if !ok {
		return nil, false
	}
	cut = append(make([]byte, 0, len(wasm)), wasm[:preamble]...)
	for _, s := range list {
		if s.id == custom {
			continue
		}
		if s.id != code {
			cut = append(cut, s.whole...)
		} else if cut, ok = appendCode(cut, s.contents, bits); !ok {
			return nil, false
		}
	}
	return cut, true
}

// part is a section.
type part struct {
	id              byte
	whole, contents []byte
}

// sections splits wasm.
func sections(wasm []byte) (list []part, ok bool) {
	if len(wasm) < preamble {
		return nil, false
	}
	for rest := wasm[preamble:]; len(rest) > 0; {
		contents, after, ok := cutBytes(rest[1:])
		if !ok {
			return nil, false
		}
		list = append(list, part{rest[0], rest[:len(rest)-len(after)], contents})
		rest = after
	}
	return list, true
}

// marked returns the bits of the custom section.
func marked(list []part) (bits []byte, ok bool) {
	for _, s := range list {
		if s.id != custom {
			continue
		}
		if name, bits, ok := cutBytes(s.contents); ok && string(name) == section {
			return bits, true
		}
	}
	return nil, false
}

// trap is the code of a function that only traps: no local variables, unreachable, end.
var trap = []byte{0, 0x00, 0x0b}

// appendCode appends the section of code, with trap in place of each function without a
// bit.
func appendCode(dst, contents, bits []byte) ([]byte, bool) {
	count, size := binary.Uvarint(contents)
	if size <= 0 || (count+7)/8 != uint64(len(bits)) {
		return nil, false
	}
	bodies, rest := slices.Clone(contents[:size]), contents[size:]
	for n := range count {
		body, after, ok := cutBytes(rest)
		if !ok {
			return nil, false
		}
		if bits[n/8]>>(n%8)&1 == 0 {
			body = trap
		}
		bodies, rest = appendBytes(bodies, body), after
	}
	return appendBytes(append(dst, code), bodies), len(rest) == 0
}

// cutBytes returns the bytes behind a length, and the rest.
func cutBytes(s []byte) (contents, rest []byte, ok bool) {
	length, size := binary.Uvarint(s)
	if size <= 0 || length > uint64(len(s)-size) {
		return nil, nil, false
	}
	s = s[size:]
	return s[:length], s[length:], true
}

func appendBytes(dst, s []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}
