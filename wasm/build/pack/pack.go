package pack

import (
	"context"
	"fmt"

	"github.com/addrspec/addrspec/wasm/build/flow"
	"github.com/addrspec/addrspec/wasm/internal/binary"
	"github.com/addrspec/addrspec/wasm/internal/slim"
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
	packed := m.Encode()
	calls, err := called(ctx, packed, len(m.Code))
	if err != nil {
		return nil, fmt.Errorf("sample its checks: %w", err)
	}
	return slim.Mark(packed, calls), nil
}
