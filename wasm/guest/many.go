//go:build wasip1

package main

import (
	"unsafe"

	"github.com/addrspec/addrspec/core"
)

// prefix is the size of a length before an address and before a result.
const prefix = 4

// reportPrefix is the size of the lengths and the report before a result with
// flagReports.
const reportPrefix = 2*prefix + int(unsafe.Sizeof(report{}))

// checkMany checks the addresses in input, each after its length, and writes each
// result after its length. It checks as many as surely fit into out, at least one,
// and returns the number of bytes written. Results are those of check.
func checkMany(input []byte, flags int32) int32 {
	if !framed(input) {
		return errFraming
	}
	written := 0
	for len(input) > 0 {
		email := first(input)
		if reportPrefix+6*len(email)+restCap > outCap-written {
			break
		}
		n := writeRecord(out[written:], email, flags)
		if n < 0 {
			return errPanic
		}
		written += n
		input = input[prefix+len(email):]
	}
	return int32(written)
}

// framed reports whether input is a sequence of lengths, each followed by as many
// bytes.
func framed(input []byte) bool {
	for len(input) > 0 {
		if len(input) < prefix || *word(input) > uint32(len(input)-prefix) {
			return false
		}
		input = input[prefix+len(first(input)):]
	}
	return true
}

// first returns the first address in an input that is framed.
func first(input []byte) []byte {
	return input[prefix:][:*word(input)]
}

// writeRecord writes the result for email to the start of dst. It returns the
// number of bytes, or -1 if dst is too small, which is a defect.
func writeRecord(dst, email []byte, flags int32) int {
	f := checker.Check(email)
	if flags&flagReports != 0 {
		return writeWithReport(dst, &f, flags)
	}
	room := dst[prefix:prefix]
	json := appendResult(room, &f, flags)
	if len(json) > cap(room) {
		return -1 // append has reallocated the output
	}
	*word(dst) = uint32(len(json))
	return prefix + len(json)
}

// writeWithReport writes the result for f, after its report, and then the texts of
// the report.
func writeWithReport(dst []byte, f *core.Facts, flags int32) int {
	room := dst[reportPrefix:reportPrefix]
	json := appendResult(room, f, flags)
	end := appendTexts(json, f)
	if len(end) > cap(room) {
		return -1 // append has reallocated the output
	}
	*word(dst) = uint32(len(json))
	*word(dst[prefix:]) = uint32(len(end) - len(json))
	*(*report)(unsafe.Pointer(&dst[2*prefix])) = outcome
	return reportPrefix + len(end)
}

// word returns the 32-bit word at the start of b, little-endian as all of
// WebAssembly's memory, at any address. encoding/binary would add reflection to the
// module.
func word(b []byte) *uint32 { return (*uint32)(unsafe.Pointer(&b[0])) }
