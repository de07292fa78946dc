package binary_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/internal/binary"
)

// sample returns a module with every section that the package decodes.
func sample() *binary.Module {
	entry := uint32(1)
	return &binary.Module{
		Types: []binary.FuncType{
			{Params: []binary.ValueType{binary.I32, binary.I64}, Results: []binary.ValueType{binary.F64}},
			{},
		},
		Imports:   []binary.Import{{Module: "host", Name: "f", Type: 0}},
		Functions: []uint32{1},
		Tables:    []byte{1, 0x70, 0, 1},
		Memory:    binary.Limits{Min: 1, Max: 300, HasMax: true},
		Globals: []binary.Global{
			{Type: binary.I32, Mutable: true, Init: binary.Constant(binary.I32, 0xffff_ffff)},
			{Type: binary.I64, Init: binary.Constant(binary.I64, 1<<63)},
			{Type: binary.F32, Init: binary.Constant(binary.F32, 0x3f80_0000)},
			{Type: binary.F64, Init: binary.Constant(binary.F64, 0x3ff0_0000_0000_0000)},
		},
		Exports:  []binary.Export{{Name: "memory", Kind: binary.ExportMemory}, {Name: "naïve", Index: 1}},
		Start:    &entry,
		Elements: []byte{1, 0, 0x41, 0, 0x0b, 1, 1},
		Code:     [][]byte{{0, 0x0b}},
		Data:     []binary.Segment{{Address: 8, Bytes: []byte("text")}, {Address: 0x9000_0000, Bytes: []byte{1}}},
	}
}

func TestEncodeDecodeRoundTrip(t *testing.T) {
	decoded, err := binary.Decode(sample().Encode())
	require.NoError(t, err)
	require.Equal(t, sample(), decoded)
}

// empty is a module without sections; tests append theirs to it.
const empty = "\x00asm\x01\x00\x00\x00"

func TestDecodeDropsCustomSections(t *testing.T) {
	decoded, err := binary.Decode([]byte(empty + "\x00\x05\x04name"))
	require.NoError(t, err)
	require.Equal(t, &binary.Module{}, decoded)
}

func TestNamesOfFunctions(t *testing.T) {
	for name, c := range map[string]struct {
		section string
		want    map[uint32]string
	}{
		"two functions":             {"\x04name\x00\x02\x01m\x01\x07\x02\x00\x01a\x03\x01b\x02\x01\x00", map[uint32]string{0: "a", 3: "b"}},
		"another section":           {"\x05names\x01\x04\x01\x00\x01a", nil},
		"a part cut short":          {"\x04name\x01\x09\x01\x00\x01a", nil},
		"a count without names":     {"\x04name\x01\x05\xff\xff\xff\xff\x0f", nil},
		"a name that is not UTF-8":  {"\x04name\x01\x04\x01\x00\x01\xff", nil},
		"a section that ends early": {"\x09name", nil},
	} {
		decoded, err := binary.Decode([]byte(empty + "\x00" + string(rune(len(c.section))) + c.section))
		require.NoError(t, err, name)
		require.Equal(t, c.want, decoded.Names, name)
	}
}

func TestDecodeErrors(t *testing.T) {
	for _, c := range []struct{ name, wasm, want string }{
		{"nothing", "", "not a WebAssembly module"},
		{"a component", "\x00asm\x0d\x00\x01\x00", "not a WebAssembly module of version 1"},
		{"a section cut short", empty + "\x01\x05\x00", "unexpected end"},
		{"a section without size", empty + "\x01", "unexpected end"},
		{"a size of six bytes", empty + "\x01\x80\x80\x80\x80\x80\x00", "too long"},
		{"a size over 32 bits", empty + "\x01\xff\xff\xff\xff\x1f", "too long"},
		{"a table section without a count", empty + "\x04\x00", "unexpected end"},
		{"sections out of order", empty + "\x03\x01\x00\x01\x01\x00", "section 1 follows section 3"},
		{"a section twice", empty + "\x01\x01\x00\x01\x01\x00", "section 1 follows section 1"},
		{"a data count, which only passive segments need", empty + "\x0c\x01\x00", "section 12: unknown section"},
		{"bytes after a vector", empty + "\x01\x02\x00\x00", "left over"},
		{"a count without elements", empty + "\x03\x05\xff\xff\xff\xff\x0f", "unexpected end"},
		{"a type other than a function type", empty + "\x01\x02\x01\x5f", "not a function type"},
		{"an imported memory", empty + "\x02\x08\x01\x01a\x01b\x02\x00\x01", "import a.b is not a function"},
		{"a name that is not UTF-8", empty + "\x07\x05\x01\x01\xff\x00\x00", "not UTF-8"},
		{"two memories", empty + "\x05\x05\x02\x00\x01\x00\x01", "2 memories"},
		{"a shared memory", empty + "\x05\x04\x01\x03\x01\x01", "shared"},
		{"a global with an invalid mutability", empty + "\x06\x06\x01\x7f\x02\x41\x00\x0b", "neither mutable nor immutable"},
		{"a global initialised from another", empty + "\x06\x06\x01\x7f\x00\x23\x00\x0b", "not a number"},
		{"a global that is a sum", empty + "\x06\x09\x01\x7f\x00\x41\x00\x41\x00\x6a\x0b", "more than a number"},
		{"a number over 32 bits", empty + "\x06\x0a\x01\x7f\x00\x41\xff\xff\xff\xff\x3f\x0b", "too long"},
		{"passive data", empty + "\x0b\x04\x01\x01\x01a", "passive"},
		{"data at a variable address", empty + "\x0b\x07\x01\x00\x23\x00\x0b\x01a", "no constant address"},
		{"functions without bodies", empty + "\x03\x02\x01\x00", "1 functions have 0 bodies"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := binary.Decode([]byte(c.wasm))
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestConstantIsShortest(t *testing.T) {
	for _, c := range []struct {
		bits uint64
		want string
	}{
		{0, "\x41\x00\x0b"}, {63, "\x41\x3f\x0b"}, {64, "\x41\xc0\x00\x0b"},
		{0xffff_ffff, "\x41\x7f\x0b"}, {1 << 31, "\x41\x80\x80\x80\x80\x78\x0b"},
	} {
		require.Equal(t, c.want, string(binary.Constant(binary.I32, c.bits)))
	}
}

// FuzzDecode checks that no input makes Decode panic, and that an accepted
// module is unchanged after Encode and Decode.
func FuzzDecode(f *testing.F) {
	f.Add(sample().Encode())                                      // every section
	f.Add([]byte(empty))                                          // none
	f.Add([]byte(empty + "\x00\x05\x04name"))                     // a dropped section
	f.Add([]byte(empty + "\x03\x05\xff\xff\xff\xff\x0f"))         // a count of 4 billion
	f.Add([]byte(empty + "\x0b\x07\x01\x00\x41\x80\x7f\x0b\x00")) // an address with more bytes than needed
	f.Fuzz(func(t *testing.T, wasm []byte) {
		m, err := binary.Decode(wasm)
		if err != nil {
			return
		}
		again, err := binary.Decode(m.Encode())
		require.NoError(t, err)
		require.Equal(t, m, again)
	})
}
