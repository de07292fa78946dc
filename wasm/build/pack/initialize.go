package pack

import (
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

// image is what a module holds after it started.
type image struct {
	memory  []byte
	globals []uint64
}

// initialize runs the module's start and reads what it left behind. The
// interpreter does, since compiling takes longer than the start.
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

// openGlobals returns m with every global exported under its number.
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

func read(instance api.Module, globals int) *image {
	memory := instance.Memory()
	octets, _ := memory.Read(0, memory.Size())
	i := &image{memory: slices.Clone(octets)}
	for n := range globals {
		i.globals = append(i.globals, instance.ExportedGlobal(globalName(n)).Get())
	}
	return i
}
