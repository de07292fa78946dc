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
