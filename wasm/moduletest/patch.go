package moduletest

import (
	"testing"

	"github.com/addrspec/addrspec/wasm/internal/binary"
)

// Patch returns wasm after change.
func Patch(t testing.TB, wasm []byte, change func(*binary.Module)) []byte {
	t.Helper()
	m, err := binary.Decode(wasm)
	if err != nil {
		t.Fatal(err)
	}
	change(m)
	return m.Encode()
}

// Export returns the export called name, or an empty one.
func Export(m *binary.Module, name string) *binary.Export {
	for n := range m.Exports {
		if m.Exports[n].Name == name {
			return &m.Exports[n]
		}
	}
	return &binary.Export{}
}

// Replace redirects the export name to a new function of the same type that runs
// instructions.
func Replace(m *binary.Module, name, instructions string) {
	e := Export(m, name)
	m.Functions = append(m.Functions, m.Functions[int(e.Index)-len(m.Imports)])
	m.Code = append(m.Code, []byte("\x00"+instructions+end))
	e.Index = uint32(len(m.Imports) + len(m.Functions) - 1)
}

// ReturnInput makes addrspec_check_many return the first four bytes of its first address.
func ReturnInput(m *binary.Module) {
	Replace(m, "addrspec_check_many", callTo(Export(m, "addrspec_in_ptr").Index)+"\x28\x00\x04") // i32.load behind the length
}

// Unreachable is the unreachable instruction, which traps.
const Unreachable = "\x00"

// Other instructions that patches use (core specification, section 5.4).
const (
	ifThen    = "\x04\x40" // without a result
	end       = "\x0b"
	returns   = "\x0f"
	call      = "\x10"
	localGet0 = "\x20\x00"
	localGet1 = "\x20\x01"
	i32Load8  = "\x2d\x00"
	i32Equal  = "\x46"
)

// I32Const returns the instruction i32.const n.
func I32Const(n uint32) string {
	c := binary.Constant(binary.I32, uint64(n))
	return string(c[:len(c)-1])
}

// callTo returns the instruction that calls function. An index is unsigned, but
// the signed LEB128 of I32Const decodes to the same number, as it is not negative.
func callTo(function uint32) string { return call + I32Const(function)[1:] }

// Hollow returns addrspec-plain.wasm whose start does nothing and whose other functions
// trap. It compiles in no time.
func Hollow(t testing.TB) []byte {
	return Patch(t, Plain(t), func(m *binary.Module) {
		for n := range m.Code {
			m.Code[n] = []byte("\x00" + Unreachable + end)
		}
		Replace(m, "_initialize", "")
	})
}

// Fragile returns addrspec.wasm with three defects: for an address that begins with "!",
// addrspec_check traps; with "?", it returns -3 as after a panic; with "#", it
// returns a length beyond the output buffer. addrspec_check_many does so for the first
// of its addresses.
func Fragile(t testing.TB) []byte { return Patch(t, Bytes(t), addDefects) }

// Older returns addrspec.wasm as a module of interface 1.2, which hosts reject.
func Older(t testing.TB) []byte {
	return Patch(t, Bytes(t), func(m *binary.Module) { Replace(m, "addrspec_abi_version", I32Const(1<<16|2)) })
}

// addDefects adds the defects that [Fragile] describes.
func addDefects(m *binary.Module) {
	breakExport(m, "addrspec_check", 0)
	breakExport(m, "addrspec_check_many", 4) // after the length of the first address
}

// breakExport adds the defects to an export, for an input with an address at offset at.
func breakExport(m *binary.Module, name string, at byte) {
	first := callTo(Export(m, "addrspec_in_ptr").Index) + i32Load8 + string(at)
	begins := func(c byte) string { return first + I32Const(uint32(c)) + i32Equal + ifThen }
	check := localGet0 + localGet1 + callTo(Export(m, name).Index)
	const panicked = 0xffff_fffd // -3
	Replace(m, name,
		begins('!')+Unreachable+end+
			begins('?')+I32Const(panicked)+returns+end+
			begins('#')+I32Const(1<<30)+returns+end+
			check)
}
