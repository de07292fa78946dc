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
//  3. runs `_initialize` in wazero (image.go);
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
	"context"
	"fmt"

	"github.com/addrspec/addrspec/wasm/build/flow"
	"github.com/addrspec/addrspec/wasm/internal/binary"
)

// Pack returns the reactor pre-initialised and without imports. It returns an
// error if the reactor imports a function without a stub, or traps at its start.
func Pack(ctx context.Context, reactor []byte) ([]byte, error) {
	packed, err := pack(ctx, reactor)
	if err != nil {
		return nil, fmt.Errorf("pack the module: %w", err)
	}
	return packed, nil
}

func pack(ctx context.Context, reactor []byte) ([]byte, error) {
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
	image, err := initialize(ctx, m)
	if err != nil {
		return nil, err
	}
	if err := image.apply(m); err != nil {
		return nil, err
	}
	return m.Encode(), nil
}
