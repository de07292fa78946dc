//go:build wasip1

package main

import (
	"math"
	"runtime"
	"slices"
	"unsafe"

	"github.com/addrspec/addrspec/core/policy"
)

// Error results of the exports of this file.
const (
	errPolicy  = -7 // the document is no policy; see the report
	errSlot    = -8 // there is no such slot or handle, or the slot has no policy
	errVerdict = -9 // verdict: the policy has a member that needs decide; see the report
)

const (
	// policySlots is how many policies an instance has in slots, and how many with handles. A
	// policy takes at most 2.9 MB, since a document has a limit.
	policySlots = 16
	// loadedBytes is the limit on the documents with handles together, above the longest one.
	loadedBytes = 4 << 20
	// largeDocument is the size of a document from which on garbage is collected at once.
	largeDocument = 256 << 10
	// noSlot is the gatheringSlot of a document that gets a handle.
	noSlot = -1
)

var (
	slots [policySlots]*policy.Policy
	// loaded has the policies with handles, the last used one last.
	loaded []loadedPolicy
	// lastHandle is the last handle that was given to a document. Handles follow the slots.
	lastHandle int32 = policySlots - 1
	// document has the pieces of the next policy, for gatheringSlot.
	document      []byte
	gatheringSlot int32
)

type loadedPolicy struct {
	handle   int32
	document string
	*policy.Policy
}

//go:wasmexport addrspec_load_policy
func exportLoadPolicy(length int32) int32 { return takePolicy(noSlot, length) }

//go:wasmexport addrspec_policy
func exportPolicy(slot, length int32) int32 {
	if slot < 0 || slot >= policySlots {
		return errSlot
	}
	return takePolicy(slot, length)
}

// takePolicy appends a piece to the next policy. The last piece is empty and ends the document; a
// document over the limit ends at once, because Parse refuses it.
func takePolicy(slot, length int32) (n int32) {
	defer catch(&n)
	if length < 0 || length > inCap {
		return errTooLong
	}
	if slot != gatheringSlot {
		document, gatheringSlot = document[:0], slot
	}
	document = append(document, in[:length]...)
	if length > 0 && len(document) <= policy.MaxDocument {
		return 0
	}
	text := document
	document = document[:0] // reused, so that loading a document again makes no garbage
	if slot == noSlot {
		return load(text)
	}
	return installPolicy(slot, text)
}

// installPolicy makes a document the policy of a slot, which keeps what it has if the document is
// refused.
func installPolicy(slot int32, text []byte) int32 {
	p := parse(text)
	if p == nil {
		return errPolicy
	}
	slots[slot] = p
	collect(text)
	return 0
}

// load returns the handle of a document. A new document takes the place of those that were used
// least recently. Its handle is never another document's: after the last number, the host must
// replace the instance.
func load(text []byte) int32 {
	n := slices.IndexFunc(loaded, func(l loadedPolicy) bool { return l.document == string(text) })
	if n >= 0 {
		return use(n).handle
	}
	if lastHandle == math.MaxInt32 {
		return errPanic
	}
	p := parse(text)
	if p == nil {
		return errPolicy
	}
	lastHandle++
	loaded = append(loaded, loadedPolicy{lastHandle, string(text), p})
	bytes := 0
	for _, l := range loaded {
		bytes += len(l.document)
	}
	for len(loaded) > policySlots || bytes > loadedBytes {
		bytes -= len(loaded[0].document)
		loaded = slices.Delete(loaded, 0, 1)
	}
	collect(text)
	return lastHandle
}

// use makes a policy the last used one.
func use(n int) loadedPolicy {
	l := loaded[n]
	copy(loaded[n:], loaded[n+1:])
	loaded[len(loaded)-1] = l
	return l
}

// parse returns the policy of a document, or nil, and the report has the error.
func parse(text []byte) *policy.Policy {
	p, err := policy.Parse(text, checker)
	if err == nil {
		return p
	}
	refuse(errPolicy, err.Error())
	if wrong, ok := err.(*policy.Error); ok {
		outcome.offset = uint32(wrong.Offset)
	}
	return nil
}

// collect frees the garbage of loading a large document, which would double the memory.
func collect(text []byte) {
	if len(text) > largeDocument {
		runtime.GC()
	}
}

// renewPolicies makes the loaded policies compare addresses by the lists of checker.
func renewPolicies() {
	for n, p := range slots {
		if p != nil {
			slots[n] = p.WithLists(checker)
		}
	}
	for n, p := range loaded {
		loaded[n].Policy = p.WithLists(checker)
	}
}

//go:wasmexport addrspec_verdict
func exportVerdict(handle, length int32) int32 { return evaluate(handle, length, false) }

//go:wasmexport addrspec_decide
func exportDecide(handle, length int32) int32 { return evaluate(handle, length, true) }

// evaluate writes the verdicts of a policy on each subject of the input.
func evaluate(handle, length int32, whole bool) (n int32) {
	defer catch(&n)
	var p *policy.Policy
	if 0 <= handle && handle < policySlots {
		p = slots[handle]
	} else if n := slices.IndexFunc(loaded, func(l loadedPolicy) bool { return l.handle == handle }); n >= 0 {
		p = use(n).Policy
	}
	switch {
	case p == nil:
		return errSlot
	case length < 0 || length > inCap:
		return errTooLong
	case !whole && p.HasAddresses():
		return refuse(errVerdict, "the policy has addresses, which addrspec_verdict does not know; call addrspec_decide")
	case !whole && p.HasExchanges():
		return refuse(errVerdict, "the policy has exchanges, which addrspec_verdict does not know; call addrspec_decide")
	}
	return verdicts(p, in[:length], whole)
}

// wordsSize is the size of the words before the texts in the input of a verdict: words 0 and 1
// of the report, and what the lookup found.
const wordsSize = 3 * prefix

// verdictMax is the size of the longest verdict:
// {"action":"review","reason":"looks_disposable","rule":"review.reasons[9999]"}.
const verdictMax = 77

// The output has room for the verdicts on the most records that fit the input.
const _ = uint(outCap - inCap/(wordsSize+prefix)*(prefix+verdictMax))

// recordEnd returns the end of the record that begins at an offset of input, or 0 if it ends after
// the input.
func recordEnd(input []byte, at int) int {
	if at+prefix > len(input) {
		return 0
	}
	end := at + prefix + int(*word(input[at:]))
	if end > len(input) {
		return 0
	}
	return end
}

// verdicts writes the verdict of p on each subject of the input, after its length, and
// returns the number of bytes. Only whole subjects have an address and exchanges.
func verdicts(p *policy.Policy, input []byte, whole bool) int32 {
	written := 0
	var in policy.Input
	for at := 0; at < len(input); {
		host := recordEnd(input, at+wordsSize)
		if host == 0 {
			return errFraming
		}
		words := (*[wordsSize / prefix]uint32)(unsafe.Pointer(&input[at]))
		in.Facts, in.More, in.Lookup = words[0], words[1], policy.Lookup(words[2])
		in.Host = input[at+wordsSize+prefix : host]
		at = host
		if whole {
			address := recordEnd(input, host)
			at = recordEnd(input, max(address, host))
			if address == 0 || at == 0 || at > address+prefix && !framed(input[address+prefix:at]) {
				return errFraming
			}
			if p.HasAddresses() {
				in.Address = input[host+prefix : address]
				if len(in.Address) == 0 && in.Facts&1 != 0 { // a block would be skipped
					return errFraming
				}
			}
			if p.HasExchanges() {
				in.Exchanges = names(input[address+prefix : at])
			}
		}
		json := policy.AppendJSON(out[written+prefix:written+prefix], p.Evaluate(&in, checker))
		*word(out[written:]) = uint32(len(json))
		written += prefix + len(json)
	}
	if written > outCap {
		return errPanic // append has reallocated the output
	}
	return int32(written)
}

// exchangeNames is the memory for the exchanges of a subject.
var exchangeNames [][]byte

// names returns the texts of records that are framed, until the next call.
func names(records []byte) [][]byte {
	exchangeNames = exchangeNames[:0]
	for len(records) > 0 {
		name := first(records)
		exchangeNames = append(exchangeNames, name)
		records = records[prefix+len(name):]
	}
	return exchangeNames
}
