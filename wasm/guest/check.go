//go:build wasip1

package main

import (
	"unsafe"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/core/policy"
)

// report gives a host what it needs besides the JSON, without parsing: 32-bit
// little-endian words in this order, at a fixed address. Its texts follow the JSON
// in the output buffer.
type report struct {
	facts      uint32 // the boolean facts, as bits
	more       uint32 // the other facts that a policy needs
	emailEnd   uint32 // end in the JSON of the quoted email, which starts at 9, after {"email":
	mx         place  // of the values of mx, disposable and, in details, exchange
	disposable place
	exchange   place
	host       place  // the domain to look up MX records for, as A-labels; may be empty
	reason     uint32 // number of the reason; 0 for a valid address
	offset     uint32 // of the offending byte in the input
	code       place  // stable name of the reason
	section    place  // of the standard that the reason is based on
	sentence   place  // what is wrong and how to fix it
	reserved   [5]uint32
}

// place is an offset and a length in the output buffer.
type place struct{ at, length uint32 }

// check writes the result and the report for email to the start of out, and returns
// the length of the JSON or errPanic.
func check(email []byte, flags int32) int32 {
	f := checker.Check(email)
	json := appendResult(out[:0], &f, flags)
	if end := appendTexts(json, &f); len(end) > outCap {
		return errPanic // outCap is too small: append has reallocated the output
	}
	return int32(len(json))
}

// appendResult appends the result for f to dst, which is empty, and sets the report
// but its texts.
func appendResult(dst []byte, f *core.Facts, flags int32) []byte {
	outcome = report{} // a literal with fields would be made on the stack and copied
	outcome.facts, outcome.more = policy.Facts(f), policy.More(f, checker.Form(f))
	outcome.reason, outcome.offset = uint32(f.Refusal.Reason), uint32(f.Refusal.Offset)
	json, at := core.AppendJSON(dst, f, flags&flagFullSuggestion != 0)
	if flags&flagDetails != 0 {
		json = checker.AppendDetails(json, f)
	}
	outcome.emailEnd, outcome.mx, outcome.disposable = uint32(at.EmailEnd), placeOf(at.MX), placeOf(at.Disposable)
	if flags&flagDetails != 0 && len(f.Host) > 0 {
		outcome.exchange = place{uint32(len(json) - len(core.NoExchange)), uint32(len("null"))}
	}
	return json
}

func bit(n int, fact bool) uint32 {
	if fact {
		return 1 << n
	}
	return 0
}

func placeOf(p core.Place) place { return place{uint32(p.Start), uint32(p.End - p.Start)} }

// appendTexts appends the texts of the report to the JSON.
func appendTexts(json []byte, f *core.Facts) []byte {
	end := put(&outcome.host, json, f.Host)
	if f.Valid {
		return end
	}
	end = putString(&outcome.code, end, f.Refusal.Reason.Code())
	end = putString(&outcome.section, end, f.Refusal.Reason.Section())
	sentence := f.Refusal.AppendSentence(end, f.Email)
	outcome.sentence = place{uint32(len(end)), uint32(len(sentence) - len(end))}
	return sentence
}

// put appends s to dst and sets t to its place.
func put(t *place, dst, s []byte) []byte {
	*t = place{uint32(len(dst)), uint32(len(s))}
	return append(dst, s...)
}

func putString(t *place, dst []byte, s string) []byte {
	*t = place{uint32(len(dst)), uint32(len(s))}
	return append(dst, s...)
}

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

// writeRecord writes the result for email to the start of dst, with flagReports between its
// report and the texts of the report. It returns the number of bytes, or -1 if dst is too
// small, which is a defect.
func writeRecord(dst, email []byte, flags int32) int {
	f := checker.Check(email)
	start, reports := prefix, flags&flagReports != 0
	if reports {
		start = reportPrefix
	}
	room := dst[start:start]
	json := appendResult(room, &f, flags)
	end := json
	if reports {
		end = appendTexts(json, &f)
	}
	if len(end) > cap(room) {
		return -1 // append has reallocated the output
	}
	*word(dst) = uint32(len(json))
	if reports {
		*word(dst[prefix:]) = uint32(len(end) - len(json))
		*(*report)(unsafe.Pointer(&dst[2*prefix])) = outcome
	}
	return start + len(end)
}

// word returns the 32-bit word at the start of b, little-endian as all of
// WebAssembly's memory, at any address. encoding/binary would add reflection to the
// module.
func word(b []byte) *uint32 { return (*uint32)(unsafe.Pointer(&b[0])) }
