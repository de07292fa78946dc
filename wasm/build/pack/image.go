package pack

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/addrspec/addrspec/wasm/internal/binary"
)

// apply makes the image the module's first state and drops what led to it.
func (i *image) apply(m *binary.Module) error {
	for n := range m.Globals {
		if g := &m.Globals[n]; g.Mutable {
			g.Init = binary.Constant(g.Type, i.globals[n])
		}
	}
	m.Memory.Min = uint32(len(i.memory) / binary.PageSize)
	m.Data = segments(i.memory)
	m.Start = nil
	m.Exports = slices.DeleteFunc(m.Exports, func(e binary.Export) bool { return e.Name == initializer })
	if len(m.Data) > maxSegments {
		return fmt.Errorf("the memory makes %d segments, over the %d that engines take", len(m.Data), maxSegments)
	}
	return nil
}

// minGap is the shortest run of zeros that ends a segment. A segment costs
// about nine octets, which compress less well than zeros do.
const minGap = 64

// maxSegments is how many segments V8 takes (kV8MaxWasmDataSegments).
const maxSegments = 100_000

// segments cuts memory at its long runs of zeros, which need no place in a
// file: memory is zero where nothing is laid down.
func segments(memory []byte) (list []binary.Segment) {
	gap := make([]byte, minGap)
	for at := skipZeros(memory, 0); at < len(memory); {
		length := bytes.Index(memory[at:], gap)
		if length < 0 {
			length = len(bytes.TrimRight(memory[at:], "\x00"))
		}
		list = append(list, binary.Segment{Address: uint32(at), Octets: memory[at : at+length]})
		at = skipZeros(memory, at+length)
	}
	return list
}

// skipZeros returns the place of the next octet that is not zero.
func skipZeros(memory []byte, at int) int {
	for at < len(memory) && memory[at] == 0 {
		at++
	}
	return at
}
