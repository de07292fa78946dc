package host_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/pack/binary"
)

// patch changes a module, to make the ones a host must refuse or survive.
func patch(t *testing.T, wasm []byte, change func(*binary.Module)) []byte {
	t.Helper()
	m, err := binary.Decode(wasm)
	require.NoError(t, err)
	change(m)
	return m.Encode()
}

// Instructions that the patches are made of.
const (
	unreachable = "\x00"
	ifThen      = "\x04\x40" // without result
	end         = "\x0b"
	yield       = "\x0f" // return
	call        = "\x10"
	localGet0   = "\x20\x00"
	localGet1   = "\x20\x01"
	i32Load8    = "\x2d\x00\x00"
	i32Equal    = "\x46"
)

// i32Const without its instruction is the index of a call too: a signed number
// that is not below zero reads the same unsigned.
func i32Const(n uint32) string {
	c := binary.Constant(binary.I32, uint64(n))
	return string(c[:len(c)-1])
}

func callTo(function uint32) string { return call + i32Const(function)[1:] }

// export is the export of that name.
func export(m *binary.Module, name string) *binary.Export {
	for n := range m.Exports {
		if m.Exports[n].Name == name {
			return &m.Exports[n]
		}
	}
	return &binary.Export{}
}

// replace makes name another function, of the same type, of instructions.
func replace(m *binary.Module, name, instructions string) {
	e := export(m, name)
	m.Functions = append(m.Functions, m.Functions[int(e.Index)-len(m.Imports)])
	m.Code = append(m.Code, []byte("\x00"+instructions+end))
	e.Index = uint32(len(m.Imports) + len(m.Functions) - 1)
}
