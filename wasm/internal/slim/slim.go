package slim

import (
	"encoding/binary"
	"io"
	"slices"
)

// section is the name of the custom section with the called functions: one bit for each
// function that the module defines, the lowest of the first byte for the first.
const section = "addrspec.called"

// longest is the most bytes that the section may have, for half a million functions.
const longest = 64 << 10

// Section numbers (core specification, section 5.5.2).
const (
	custom    = 0
	start     = 8
	code      = 10
	data      = 11
	dataCount = 12
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

// A Module is a module without some of its functions, in two parts: Code, for an
// engine, and what its memory contains at the start, which only Fill copies.
type Module struct {
	Code []byte
	from *io.SectionReader
	data []segment
}

// Cut returns wasm without custom sections and without the functions that are not
// called, of which it reads only the lengths. It returns false if wasm has no section of
// them, or has another form than those that this project builds; an engine then says
// what is wrong with it.
func Cut(wasm *io.SectionReader) (cut *Module, ok bool) {
	r := &reader{from: wasm, end: wasm.Size()}
	list := r.sections()
	bits, ok := r.marked(list)
	if !ok {
		return nil, false
	}
	cut = &Module{from: wasm, Code: r.append(make([]byte, 0, sizeOf(list)), span{0, preamble})}
	for _, s := range list {
		switch s.id {
		case custom:
		case start, dataCount: // code may read the segments
			r.fail()
		case data:
			cut.data = append(cut.data, r.segments(s.contents)...)
		case code:
			cut.Code = r.code(append(cut.Code, code), s.contents, bits)
		default:
			cut.Code = r.append(cut.Code, s.whole)
		}
	}
	return cut, r.err == nil
}

// sizeOf returns the most bytes that Cut leaves of the sections.
func sizeOf(list []part) (size int64) {
	for _, s := range list {
		if s.id != custom && s.id != data {
			size += s.whole.size
		}
	}
	return preamble + size + binary.MaxVarintLen32
}

// marked returns the bits of the custom section.
func (r *reader) marked(list []part) (bits []byte, ok bool) {
	for _, s := range list {
		if s.id != custom || s.contents.size > longest {
			continue
		}
		contents := r.append(nil, s.contents)
		length, size := binary.Uvarint(contents)
		if size > 0 && length == uint64(len(section)) && len(contents)-size >= len(section) && string(contents[size:][:length]) == section {
			return contents[size+len(section):], r.err == nil
		}
	}
	return nil, false
}

// trap is the code of a function that only traps: no local variables, unreachable, end.
var trap = []byte{0, 0x00, 0x0b}

// lengthSize is the size of a length in the longest form that the format allows, in
// bytes.
const lengthSize = binary.MaxVarintLen32

// code appends the length and the contents of the section of code to dst, with trap in
// place of each function without a bit.
func (r *reader) code(dst []byte, s span, bits []byte) []byte {
	length := len(dst)
	dst = append(dst, make([]byte, lengthSize)...)
	count, body := r.number(s.at)
	end := s.at + s.size
	if (count+7)/8 != uint64(len(bits)) {
		r.fail()
	}
	dst = binary.AppendUvarint(dst, count)
	n := uint64(0)
	for ; n < count && body < end && r.err == nil; n++ {
		one := r.vector(body)
		if bits[n/8]>>(n%8)&1 == 0 {
			dst = appendBytes(dst, trap)
		} else {
			dst = r.append(dst, span{body, one.at + one.size - body})
		}
		body = one.at + one.size
	}
	if n != count || body != end {
		r.fail()
	}
	putLength(dst[length:], len(dst)-length-lengthSize)
	return dst
}

// putLength writes n to the first lengthSize bytes of dst.
func putLength(dst []byte, n int) {
	for at := range lengthSize {
		dst[at] = byte(n>>(7*at))&0x7f | 0x80
	}
	dst[lengthSize-1] &= 0x7f
}

func appendBytes(dst, s []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}
