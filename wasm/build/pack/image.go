package pack

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/addrspec/addrspec/wasm/internal/binary"
)

// apply makes the image the initial state of m and removes its initializer. It
// returns an error if the image needs more segments than engines accept.
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
		return fmt.Errorf("the memory needs %d segments, engines accept %d", len(m.Data), maxSegments)
	}
	return nil
}

// minGap is the shortest run of zeros that ends a segment. A segment header has
// about nine bytes, which compress less well than zeros.
const minGap = 64

// maxSegments is the limit of V8 (kV8MaxWasmDataSegments).
const maxSegments = 100_000

// segments splits memory at its long runs of zeros. They need no segment, since
// memory is zero by default.
func segments(memory []byte) (list []binary.Segment) {
	gap := make([]byte, minGap)
	for at := skipZeros(memory, 0); at < len(memory); {
		length := bytes.Index(memory[at:], gap)
		if length < 0 {
			length = len(bytes.TrimRight(memory[at:], "\x00"))
		}
		list = append(list, binary.Segment{Address: uint32(at), Bytes: memory[at : at+length]})
		at = skipZeros(memory, at+length)
	}
	return list
}

// skipZeros returns the index of the next nonzero byte, or len(memory).
func skipZeros(memory []byte, at int) int {
	for at < len(memory) && memory[at] == 0 {
		at++
	}
	return at
}
