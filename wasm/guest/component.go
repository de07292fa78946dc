//go:build wasip1 && component

package main

import "unsafe"

// The exports of the component (wasm/wit/addrspec.wit), in the canonical ABI
// of the component model: parameters are flat, results lie in memory, and the
// host asks cabi_realloc for room for what it hands over.

// results holds the result of a call, laid out by the canonical ABI in words;
// it is read before the next call.
var results [15]uint32

// handed is what the host handed over, where it is too large for in.
var handed []byte

// maxHanded bounds what the host may hand over: lists, and a bit more, so that
// too large ones get an answer and not a trap.
const maxHanded = maxLists + 1<<20

//go:wasmexport cabi_realloc
func cabiRealloc(old, oldSize, align, size uint32) uint32 {
	if size <= inCap {
		return address(unsafe.Pointer(&in))
	}
	if size > maxHanded {
		panic("more is handed over than fits")
	}
	before := received(old, oldSize)
	handed = append(make([]byte, 0, size), before...)[:size]
	return address(unsafe.Pointer(&handed[0]))
}

// received is what stands at a place that cabiRealloc gave out.
func received(at, size uint32) []byte {
	if at == address(unsafe.Pointer(&in)) {
		return in[:size]
	}
	return handed[:size]
}

//go:wasmexport addrspec:validation/checks@1.0.0#check
func componentCheck(at, size, suggestion uint32) uint32 {
	results = [15]uint32{}
	if size > inCap {
		handed = nil
		results[0] = 1 // the error too-long
		return address(unsafe.Pointer(&results))
	}
	n := check(received(at, size), suggestion == 1)
	if n < 0 {
		panic("the check failed")
	}
	results[1], results[2], results[3] = lift(text{0, uint32(n)}), uint32(n), outcome.mxAt
	if outcome.host.length > 0 {
		results[4], results[5], results[6] = 1, lift(outcome.host), outcome.host.length
	}
	if outcome.valid == 0 {
		liftRefusal()
	}
	return address(unsafe.Pointer(&results))
}

func liftRefusal() {
	results[7] = 1
	results[8], results[9] = lift(outcome.code), outcome.code.length
	results[10] = outcome.offset
	results[11], results[12] = lift(outcome.section), outcome.section.length
	results[13], results[14] = lift(outcome.sentence), outcome.sentence.length
}

// lift is where a text of the report lies in memory.
func lift(t text) uint32 { return address(unsafe.Pointer(&out)) + t.at }

//go:wasmexport addrspec:validation/checks@1.0.0#info
func componentInfo() uint32 {
	results[0], results[1] = lift(text{}), uint32(len(appendInfo(out[:0])))
	return address(unsafe.Pointer(&results))
}

//go:wasmexport addrspec:validation/checks@1.0.0#replace-lists
func componentReplaceLists(at, size uint32) uint32 {
	code := gather(received(at, size))
	handed = nil
	if code == 0 {
		code = install()
	}
	results[0] = 0
	switch code {
	case errRefused:
		results[0], results[1], results[2] = 1, lift(outcome.sentence), outcome.sentence.length
	case errListsSize:
		said := append(out[:0], "the lists are larger than 4 MiB"...)
		results[0], results[1], results[2] = 1, lift(text{}), uint32(len(said))
	}
	return address(unsafe.Pointer(&results))
}
