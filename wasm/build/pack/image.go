package pack

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/addrspec/addrspec/wasm/internal/binary"
)

// initializer is the export that starts a reactor.
const initializer = "_initialize"

// image is the memory and the globals of a module after its start.
type image struct {
	memory  []byte
	globals []uint64
}

// initialize runs the initializer of m and returns the resulting image. It uses
// the interpreter, since compiling takes longer than the start.
func initialize(ctx context.Context, m *binary.Module) (*image, error) {
	runtime := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer runtime.Close(ctx)
	config := wazero.NewModuleConfig().WithStartFunctions(initializer)
	instance, err := runtime.InstantiateWithConfig(ctx, openGlobals(m).Encode(), config)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", initializer, err)
	}
	return read(instance, len(m.Globals)), nil
}

// openGlobals returns a copy of m that exports every global, named by its index.
func openGlobals(m *binary.Module) *binary.Module {
	open := *m
	open.Exports = slices.Clone(m.Exports)
	for n := range m.Globals {
		open.Exports = append(open.Exports, binary.Export{
			Name: globalName(n), Kind: binary.ExportGlobal, Index: uint32(n),
		})
	}
	return &open
}

func globalName(n int) string { return "addrspec/pack global " + strconv.Itoa(n) }

// read copies the memory and the globals of instance.
func read(instance api.Module, globals int) *image {
	memory := instance.Memory()
	contents, _ := memory.Read(0, memory.Size())
	i := &image{memory: slices.Clone(contents)}
	for n := range globals {
		i.globals = append(i.globals, instance.ExportedGlobal(globalName(n)).Get())
	}
	return i
}

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
