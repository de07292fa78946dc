//go:build wasip1 && component

package main

import (
	"bytes"
	"unsafe"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/core/policy"
)

// This file has the exports of the component (wasm/wit/addrspec.wit) in the
// canonical ABI of the component model: parameters are flat, results are in
// memory, and the host calls cabi_realloc for memory for its arguments.

// results is the result of a call in the layout of the canonical ABI. The host
// reads it before the next call.
var results [22]uint32

// large is an argument that does not fit into in.
var large []byte

// maxArgument is the limit for an argument: the largest lists and 1 MiB more, so
// that lists slightly over their limit return an error instead of trapping.
const maxArgument = maxLists + 1<<20

//go:wasmexport cabi_realloc
func cabiRealloc(old, oldSize, align, size uint32) uint32 {
	if size <= inCap {
		return address(unsafe.Pointer(&in))
	}
	if size > maxArgument {
		panic("the argument is too large")
	}
	before := argument(old, oldSize)
	large = append(make([]byte, 0, size), before...)[:size]
	return address(unsafe.Pointer(&large[0]))
}

// argument returns size bytes at an address that cabiRealloc returned.
func argument(at, size uint32) []byte {
	if at == address(unsafe.Pointer(&in)) {
		return in[:size]
	}
	return large[:size]
}

//go:wasmexport addrspec:validation/checks@2.2.0#check
func componentCheck(at, size, suggestion uint32) uint32 {
	return checkInto(at, size, int32(suggestion))
}

//go:wasmexport addrspec:validation/checks@2.2.0#explain
func componentExplain(at, size, suggestion uint32) uint32 {
	return checkInto(at, size, int32(suggestion)|flagDetails)
}

// checkInto checks an address and returns the address of the results. The cases of
// the enum suggestion are the values of flagFullSuggestion.
func checkInto(at, size uint32, flags int32) uint32 {
	results = [22]uint32{}
	if size > inCap {
		large = nil
		results[0] = 1 // the error too-long
		return address(unsafe.Pointer(&results))
	}
	n := check(argument(at, size), flags)
	if n < 0 {
		panic("the check failed")
	}
	results[1], results[2], results[3] = lift(place{}), uint32(n), outcome.facts
	results[4], results[5] = outcome.mx.at, outcome.mx.length
	results[6], results[7] = outcome.disposable.at, outcome.disposable.length
	if outcome.exchange.length > 0 {
		results[8], results[9], results[10] = 1, outcome.exchange.at, outcome.exchange.length
	}
	if outcome.host.length > 0 {
		results[11], results[12], results[13] = 1, lift(outcome.host), outcome.host.length
	}
	if outcome.facts&1 == 0 { // a refusal
		results[14] = 1
		results[15], results[16] = lift(outcome.code), outcome.code.length
		results[17] = outcome.offset
		results[18], results[19] = lift(outcome.section), outcome.section.length
		results[20], results[21] = lift(outcome.sentence), outcome.sentence.length
	}
	return address(unsafe.Pointer(&results))
}

// lift returns the address of a text in linear memory.
func lift(t place) uint32 { return address(unsafe.Pointer(&out)) + t.at }

//go:wasmexport addrspec:validation/checks@2.2.0#exchanges
func componentExchanges(at, size, addressRecord uint32) uint32 {
	results = [22]uint32{}
	if size > inCap {
		large = nil
		results[0] = 1 // the error too-long
		return address(unsafe.Pointer(&results))
	}
	host, rest, _ := bytes.Cut(argument(at, size), space)
	x := checker.Exchanges(host)
	for name := range bytes.FieldsSeq(rest) {
		x.Add(name)
	}
	record := core.AddressAbsent
	if addressRecord != 0 {
		record = core.AddressPresent
	}
	json := x.AppendJSON(out[:0], record)
	results[1], results[2], results[3] = bit(0, x.Disposable()), lift(place{}), uint32(len(json))
	return address(unsafe.Pointer(&results))
}

// space separates the names of componentExchanges.
var space = []byte(" ")

//go:wasmexport addrspec:validation/checks@2.2.0#load-policy
func componentLoadPolicy(slot, at, size uint32) uint32 {
	results = [22]uint32{}
	if slot >= policySlots {
		message := append(out[:0], "the slots are 0 to 15"...)
		results[0], results[2], results[3] = 1, lift(place{}), uint32(len(message))
		return address(unsafe.Pointer(&results))
	}
	before := slots[slot]
	code := installPolicy(int32(slot), argument(at, size))
	large = nil
	if code == 0 && slots[slot].HasExchanges() { // decide would skip them
		slots[slot] = before
		code = refuse(errPolicy, "the document: it has exchanges, which decide does not take; use the core module for them")
	}
	if code != 0 {
		results[0], results[1] = 1, outcome.offset
		results[2], results[3] = lift(outcome.sentence), outcome.sentence.length
	}
	return address(unsafe.Pointer(&results))
}

// actions are the cases of the enum action.
var actions = [...]uint32{policy.Allow: 0, policy.Review: 1, policy.Block: 2}

// foundDisposable is the last of the flags found. Those before it are a policy.Lookup.
const foundDisposable = 1 << 4

//go:wasmexport addrspec:validation/checks@2.2.0#decide
func componentDecide(slot, at, size, found uint32) uint32 {
	results = [22]uint32{}
	switch {
	case size > inCap:
		large = nil
		results[0] = 1 // the error too-long
		return address(unsafe.Pointer(&results))
	case slot >= policySlots || slots[slot] == nil:
		results[0], results[1] = 1, 1 // no-policy
		return address(unsafe.Pointer(&results))
	}
	facts := checker.Check(argument(at, size))
	facts.Disposable = facts.Disposable || found&foundDisposable != 0
	in := policy.Of(&facts, checker.Form(&facts))
	in.Lookup = policy.Lookup(found &^ foundDisposable)
	v := slots[slot].Evaluate(&in, checker)
	// The texts of the verdict come one after another in the output.
	json := policy.AppendJSON(out[:0], v)
	results[1], results[2], results[3] = lift(place{}), uint32(len(json)), actions[v.Action]
	end := uint32(len(json))
	for n, text := range [...]string{v.Reason(), v.Rule()} {
		if text != "" {
			copy(out[end:], text)
			results[4+3*n], results[5+3*n], results[6+3*n] = 1, lift(place{at: end}), uint32(len(text))
			end += uint32(len(text))
		}
	}
	return address(unsafe.Pointer(&results))
}

//go:wasmexport addrspec:validation/checks@2.2.0#info
func componentInfo() uint32 {
	results[0], results[1] = lift(place{}), uint32(len(checker.AppendVersions(out[:0])))
	return address(unsafe.Pointer(&results))
}

//go:wasmexport addrspec:validation/checks@2.2.0#replace-lists
func componentReplaceLists(at, size uint32) uint32 {
	code := gather(argument(at, size))
	large = nil
	if code == 0 {
		code = install()
	}
	results[0] = 0
	switch code {
	case errRefused:
		results[0], results[1], results[2] = 1, lift(outcome.sentence), outcome.sentence.length
	case errListsSize:
		message := append(out[:0], "the lists are larger than 4 MiB"...)
		results[0], results[1], results[2] = 1, lift(place{}), uint32(len(message))
	}
	return address(unsafe.Pointer(&results))
}
