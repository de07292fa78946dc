//go:build wasip1

package main

import "github.com/addrspec/addrspec/core"

// report gives a host what it needs besides the JSON, without parsing: 32-bit
// little-endian words in this order, at a fixed address. Its texts follow the JSON
// in the output buffer.
type report struct {
	valid    uint32 // 1 or 0
	emailEnd uint32 // end in the JSON of the quoted email, which starts at 9, after {"email":
	mxAt     uint32 // offset in the JSON of the mx value `false`
	host     text   // the domain to look up MX records for, as A-labels; may be empty
	reason   uint32 // number of the reason; 0 for a valid address
	offset   uint32 // of the offending byte in the input
	code     text   // stable name of the reason
	section  text   // of the standard that the reason is based on
	sentence text   // what is wrong and how to fix it
}

// text is an offset and a length in the output buffer.
type text struct{ at, length uint32 }

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
	outcome = report{reason: uint32(f.Refusal.Reason), offset: uint32(f.Refusal.Offset)}
	if f.Valid {
		outcome.valid = 1
	}
	json, at := core.AppendJSON(dst, f, flags&flagFullSuggestion != 0)
	if flags&flagDetails != 0 {
		json = checker.AppendDetails(json, f)
	}
	outcome.emailEnd, outcome.mxAt = uint32(at.EmailEnd), uint32(at.MX)
	return json
}

// appendTexts appends the texts of the report to the JSON.
func appendTexts(json []byte, f *core.Facts) []byte {
	end := put(&outcome.host, json, f.Host)
	if f.Valid {
		return end
	}
	end = putString(&outcome.code, end, f.Refusal.Reason.Code())
	end = putString(&outcome.section, end, f.Refusal.Reason.Section())
	sentence := f.Refusal.AppendSentence(end, f.Email)
	outcome.sentence = text{uint32(len(end)), uint32(len(sentence) - len(end))}
	return sentence
}

// put appends s to dst and sets t to its place.
func put(t *text, dst, s []byte) []byte {
	*t = text{uint32(len(dst)), uint32(len(s))}
	return append(dst, s...)
}

func putString(t *text, dst []byte, s string) []byte {
	*t = text{uint32(len(dst)), uint32(len(s))}
	return append(dst, s...)
}
