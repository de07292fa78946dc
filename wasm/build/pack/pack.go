package pack

import (
	"context"
	"fmt"

	"github.com/addrspec/addrspec/wasm/internal/binary"
)

// Pack returns the reactor pre-initialised and without imports. It fails on an
// import it has no stub for.
func Pack(ctx context.Context, reactor []byte) ([]byte, error) {
	m, err := binary.Decode(reactor)
	if err != nil {
		return nil, fmt.Errorf("read the module: %w", err)
	}
	if err := stubImports(m); err != nil {
		return nil, err
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
