package moduletest

import (
	"testing"

	"github.com/addrspec/addrspec/wasm/internal/binary"
)

// Patch changes a module, to make the ones a host must refuse or survive.
func Patch(t testing.TB, wasm []byte, change func(*binary.Module)) []byte {
	t.Helper()
	m, err := binary.Decode(wasm)
	if err != nil {
		t.Fatal(err)
	}
	change(m)
	return m.Encode()
}

// Export is the export of that name.
func Export(m *binary.Module, name string) *binary.Export {
	for n := range m.Exports {
		if m.Exports[n].Name == name {
			return &m.Exports[n]
		}
	}
	return &binary.Export{}
}

// Replace makes name another function, of the same type, of instructions.
func Replace(m *binary.Module, name, instructions string) {
	e := Export(m, name)
	m.Functions = append(m.Functions, m.Functions[int(e.Index)-len(m.Imports)])
	m.Code = append(m.Code, []byte("\x00"+instructions+end))
	e.Index = uint32(len(m.Imports) + len(m.Functions) - 1)
}

// Unreachable is the instruction that traps.
const Unreachable = "\x00"

// More instructions (core specification, section 5.4) that patches are made of.
const (
	ifThen    = "\x04\x40" // without result
	end       = "\x0b"
	yield     = "\x0f" // return
	call      = "\x10"
	localGet0 = "\x20\x00"
	localGet1 = "\x20\x01"
	i32Load8  = "\x2d\x00\x00"
	i32Equal  = "\x46"
)

// I32Const is the instruction that gives n.
func I32Const(n uint32) string {
	c := binary.Constant(binary.I32, uint64(n))
	return string(c[:len(c)-1])
}

// callTo calls a function. Its index is unsigned; the signed number of
// I32Const reads the same, as it is not below zero.
func callTo(function uint32) string { return call + I32Const(function)[1:] }

// Fragile is the module with the defects of [Break].
func Fragile(t testing.TB) []byte { return Patch(t, Bytes(t), addDefects) }

// Break gives a module three defects: an address that begins with "!" makes it
// trap, with "?" answer that it panicked, and with "#" answer more octets than
// there are.
func Break(wasm []byte) ([]byte, error) {
	m, err := binary.Decode(wasm)
	if err != nil {
		return nil, err
	}
	addDefects(m)
	return m.Encode(), nil
}

func addDefects(m *binary.Module) {
	in := callTo(Export(m, "addrspec_in_ptr").Index) + i32Load8
	begins := func(c byte) string { return in + I32Const(uint32(c)) + i32Equal + ifThen }
	check := localGet0 + localGet1 + callTo(Export(m, "addrspec_check").Index)
	const panicked = 0xffff_fffd // -3
	Replace(m, "addrspec_check",
		begins('!')+Unreachable+end+
			begins('?')+I32Const(panicked)+yield+end+
			begins('#')+I32Const(1<<30)+yield+end+
			check)
}
