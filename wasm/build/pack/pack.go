// Package pack converts the WASI reactor that the Go tool chain builds into a
// pre-initialised module without imports.
//
// A Go reactor imports ten WASI functions. It calls them while it starts and
// never afterwards, so packing
//
//  1. replaces each import by a function of the module with the same index, so
//     that no call changes (stubs.go);
//  2. gives the functions structured branches (package flow), so that a check takes
//     two thirds of the time;
//  3. runs `_initialize` in wazero;
//  4. makes the resulting memory and globals the initial ones of the module,
//     and removes `_initialize`.
//
// The packed module needs no start call and runs in any engine without
// imports. The same input gives the same bytes, since the clock and the random
// numbers of the stubs are fixed. Wizer also does steps 3 and 4, but it keeps
// the imports and would add a second tool chain to the build.
//
// The drawbacks: the seed of Go's maps is fixed, so the module must not have a
// map with keys from untrusted input; there is no clock; and the messages of a
// crashing runtime are discarded, so debug with the plain module.
package pack

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/tetratelabs/wazero"

	"github.com/addrspec/addrspec/wasm/build/flow"
	"github.com/addrspec/addrspec/wasm/internal/binary"
)

// initializer is the export that starts a reactor.
const initializer = "_initialize"

// Pack returns the reactor pre-initialised and without imports. It returns an
// error if the reactor imports a function without a stub, or traps at its start.
func Pack(ctx context.Context, reactor []byte) (packed []byte, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("pack the module: %w", err)
		}
	}()
	m, err := binary.Decode(reactor)
	if err != nil {
		return nil, fmt.Errorf("decode it: %w", err)
	}
	if err := stubImports(m); err != nil {
		return nil, err
	}
	for i := range m.Code {
		m.Code[i] = flow.Clear(flow.Function(m.Code[i], m.Names))
	}
	if err := initialize(ctx, m); err != nil {
		return nil, err
	}
	return m.Encode(), nil
}

// initialize runs the initializer of m, makes the resulting memory and globals the initial
// ones, and removes the initializer. It uses the interpreter, since compiling takes longer
// than the start.
func initialize(ctx context.Context, m *binary.Module) error {
	globalName := func(n int) string { return "addrspec/pack global " + strconv.Itoa(n) }
	open := *m
	open.Exports = slices.Clone(m.Exports)
	for n := range m.Globals {
		open.Exports = append(open.Exports, binary.Export{
			Name: globalName(n), Kind: binary.ExportGlobal, Index: uint32(n),
		})
	}
	runtime := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer runtime.Close(ctx)
	config := wazero.NewModuleConfig().WithStartFunctions(initializer)
	instance, err := runtime.InstantiateWithConfig(ctx, open.Encode(), config)
	if err != nil {
		return fmt.Errorf("run %s: %w", initializer, err)
	}
	for n := range m.Globals {
		if g := &m.Globals[n]; g.Mutable {
			g.Init = binary.Constant(g.Type, instance.ExportedGlobal(globalName(n)).Get())
		}
	}
	memory, _ := instance.Memory().Read(0, instance.Memory().Size())
	m.Memory.Min = uint32(len(memory) / binary.PageSize)
	m.Data = segments(slices.Clone(memory))
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
