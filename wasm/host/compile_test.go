package host_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/internal/binary"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

// New must return an error that describes what is wrong with the file.
func TestNewErrors(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*binary.Module)
		want   string
	}{
		{"a missing export", func(m *binary.Module) {
			m.Exports = slices.DeleteFunc(m.Exports, func(e binary.Export) bool { return e.Name == "addrspec_info" })
		}, "export addrspec_info is missing"},
		{"an export with other parameters", func(m *binary.Module) {
			moduletest.Export(m, "addrspec_check").Index = moduletest.Export(m, "addrspec_info").Index
		}, "export addrspec_check has another signature"},
		{"no memory", func(m *binary.Module) { moduletest.Export(m, "memory").Name = "hidden" }, "export memory is missing"},
		{"another major version", func(m *binary.Module) {
			moduletest.Replace(m, "addrspec_abi_version", moduletest.I32Const(1<<16|2))
		}, "has interface version 1.2, this host supports 2"},
		{"an import that is not WASI", func(m *binary.Module) {
			m.Imports[0].Module, m.Imports[0].Name = "env", "abort"
		}, "imports env.abort"},
		{"a start that traps", func(m *binary.Module) {
			m.Types = append(m.Types, binary.FuncType{})
			m.Functions = append(m.Functions, uint32(len(m.Types)-1))
			m.Code = append(m.Code, []byte{0, 0x00, 0x0b})
			moduletest.Export(m, "_initialize").Index = uint32(len(m.Imports) + len(m.Functions) - 1)
		}, "start the module"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := host.New(context.Background(), moduletest.Patch(t, moduletest.Hollow(t), c.change),
				host.Options{Size: 1, CacheDir: moduletest.CacheDir()})
			require.ErrorContains(t, err, c.want)
		})
	}
	_, err := host.New(context.Background(), []byte("not a module"), host.Options{})
	require.ErrorContains(t, err, "not a module of addrspec")
}

func TestNewAcceptsLaterMinorVersion(t *testing.T) {
	later := moduletest.Patch(t, moduletest.Bytes(t), func(m *binary.Module) {
		moduletest.Replace(m, "addrspec_abi_version", moduletest.I32Const(2<<16|7))
	})
	engine := newEngine(t, later, host.Options{Size: 1})
	_, err := engine.Check(context.Background(), nil, "jane@example.org", 0)
	require.NoError(t, err)
}

func TestCheckErrors(t *testing.T) {
	engine := newEngine(t, moduletest.Bytes(t), host.Options{Size: 1})
	_, err := engine.Check(context.Background(), nil, string(make([]byte, 1<<20+1)), 0)
	require.ErrorIs(t, err, host.ErrTooLong)
	facts, err := engine.Check(context.Background(), nil, string(make([]byte, 1<<20)), 0)
	require.NoError(t, err, "the longest input, with six bytes of output for each of its bytes")
	require.False(t, facts.Valid)
	_, err = engine.Check(context.Background(), nil, "jane@example.org", 1<<7)
	require.ErrorIs(t, err, host.ErrFlags)
	require.Zero(t, engine.Stats().Trapped, "the module is intact")
}

func TestCheckAfterClose(t *testing.T) {
	engine := newEngine(t, moduletest.Bytes(t), host.Options{Size: 1})
	require.NoError(t, engine.Close(context.Background()))
	_, err := engine.Check(context.Background(), nil, "jane@example.org", 0)
	require.Error(t, err)
}
