//go:build wasip1

package main

import "github.com/addrspec/addrspec/core"

// report lies beside the JSON in a fixed place, so that a host has what it
// needs without parsing: little-endian 32-bit words, in this order. Texts
// stand in the output buffer behind the JSON; their places count from its
// start.
type report struct {
	valid    uint32 // 1 or 0
	emailEnd uint32 // end of the quoted email that starts at 9, behind {"email":
	mxAt     uint32 // place of the five octets `false` of the mx value
	host     text   // the domain to ask for MX, in A-label form; empty for none
	reason   uint32 // number of the reason of a refusal; 0 for a valid address
	offset   uint32 // of the offending octet in the input
	code     text   // the reason's stable name
	section  text   // the norm it rests on
	sentence text   // what is wrong and how to mend it
}

// text is a piece of the output buffer.
type text struct{ at, length uint32 }

// check writes the facts about email and the report on it.
func check(email []byte, fullSuggestion bool) int32 {
	f := checker.Check(email)
	outcome = report{reason: uint32(f.Refusal.Reason), offset: uint32(f.Refusal.Offset)}
	if f.Valid {
		outcome.valid = 1
	}
	json, at := core.AppendJSON(out[:0], &f, fullSuggestion)
	outcome.emailEnd, outcome.mxAt = uint32(at.EmailEnd), uint32(at.MX)
	if end := place(json, &f); len(end) > outCap {
		return errPanic // outCap is wrong: all this stands elsewhere by now
	}
	return int32(len(json))
}

// place puts the report's texts behind the JSON and returns all of it.
func place(json []byte, f *core.Facts) []byte {
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

func put(t *text, dst, s []byte) []byte {
	*t = text{uint32(len(dst)), uint32(len(s))}
	return append(dst, s...)
}

func putString(t *text, dst []byte, s string) []byte {
	*t = text{uint32(len(dst)), uint32(len(s))}
	return append(dst, s...)
}
