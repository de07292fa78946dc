//go:build wasip1

package main

import (
	"runtime"
	"unsafe"

	"github.com/addrspec/addrspec/core/policy"
)

// Error results of exportPolicy and exportVerdict.
const (
	errPolicy = -7 // the document is no policy; see the report
	errSlot   = -8 // there is no such slot, or it has no policy
)

// policySlots is how many policies an instance has. A policy takes at most 2.9 MB, since a
// document has a limit.
const policySlots = 16

// largeDocument is the size of a document from which on garbage is collected at once.
const largeDocument = 256 << 10

var (
	policies [policySlots]*policy.Policy
	// document has the pieces of the next policy, for gatheringSlot.
	document      []byte
	gatheringSlot int32
)

//go:wasmexport addrspec_policy
func exportPolicy(slot, length int32) (n int32) {
	defer catch(&n)
	if slot < 0 || slot >= policySlots {
		return errSlot
	}
	if length < 0 || length > inCap {
		return errTooLong
	}
	if slot != gatheringSlot {
		document, gatheringSlot = nil, slot
	}
	if length > 0 {
		return gatherPolicy(in[:length])
	}
	return installPolicy(slot)
}

// gatherPolicy appends a piece to the next policy. Over the limit it lets Parse refuse
// what there is.
func gatherPolicy(piece []byte) int32 {
	document = append(document, piece...)
	if len(document) > policy.MaxDocument {
		return installPolicy(gatheringSlot)
	}
	return 0
}

// installPolicy makes the gathered document the policy of a slot. If it is none, the slot
// keeps what it has, and the report has the error.
func installPolicy(slot int32) int32 {
	text := document
	document = nil // not for the next policy, whatever comes of this one
	p, err := policy.Parse(text)
	if err != nil {
		outcome = report{}
		putString(&outcome.sentence, out[:0], err.Error())
		if wrong, ok := err.(*policy.Error); ok {
			outcome.offset = uint32(wrong.Offset)
		}
		return errPolicy
	}
	policies[slot] = p
	if len(text) > largeDocument {
		runtime.GC() // else the garbage of large documents would double the memory
	}
	return 0
}

//go:wasmexport addrspec_verdict
func exportVerdict(slot, length int32) (n int32) {
	defer catch(&n)
	if slot < 0 || slot >= policySlots || policies[slot] == nil {
		return errSlot
	}
	if length < 0 || length > inCap {
		return errTooLong
	}
	return verdicts(policies[slot], in[:length])
}

// factsPrefix is the size of what comes before the host text in the input of a verdict: words 0
// and 1 of the report, what the lookup found, and the length of the text.
const factsPrefix = 4 * prefix

// verdictMax is the size of the longest verdict:
// {"action":"review","reason":"gibberish>=0.55","rule":"review.reasons[9999]"}.
const verdictMax = 76

// The output has room for the verdicts on the most records that fit the input.
const _ = uint(outCap - inCap/factsPrefix*(prefix+verdictMax))

// verdicts writes the verdict of p on each record of the input, after its length, and
// returns the number of bytes.
func verdicts(p *policy.Policy, input []byte) int32 {
	written := out[:0]
	var in policy.Input
	for len(input) > 0 {
		if len(input) < factsPrefix {
			return errFraming
		}
		record := (*[factsPrefix / prefix]uint32)(unsafe.Pointer(&input[0]))
		input = input[factsPrefix:]
		if record[3] > uint32(len(input)) {
			return errFraming
		}
		in.Facts, in.More, in.Lookup, in.Host = record[0], record[1], policy.Lookup(record[2]), input[:record[3]]
		at := len(written)
		written = policy.AppendJSON(append(written, 0, 0, 0, 0), p.Evaluate(&in))
		*word(written[at:]) = uint32(len(written) - at - prefix)
		input = input[record[3]:]
	}
	if len(written) > outCap {
		return errPanic // append has reallocated the output
	}
	return int32(len(written))
}
