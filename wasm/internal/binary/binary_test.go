package binary_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/internal/binary"
)

// sample has every section that the package knows.
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
		Data:     []binary.Segment{{Address: 8, Octets: []byte("text")}, {Address: 0x9000_0000, Octets: []byte{1}}},
	}
}

func TestEncodeAndDecodeAreInverse(t *testing.T) {
	decoded, err := binary.Decode(sample().Encode())
	require.NoError(t, err)
	require.Equal(t, sample(), decoded)
}

// empty starts every module below.
const empty = "\x00asm\x01\x00\x00\x00"

func TestDecodeDropsCustomSections(t *testing.T) {
	decoded, err := binary.Decode([]byte(empty + "\x00\x05\x04name"))
	require.NoError(t, err)
	require.Equal(t, &binary.Module{}, decoded)
}

func TestDecodeSaysWhatItRefuses(t *testing.T) {
	for _, c := range []struct{ name, wasm, says string }{
		{"nothing", "", "not a WebAssembly module"},
		{"a component", "\x00asm\x0d\x00\x01\x00", "not a WebAssembly module of version 1"},
		{"a section cut short", empty + "\x01\x05\x00", "too early"},
		{"a section without size", empty + "\x01", "too early"},
		{"a size of six octets", empty + "\x01\x80\x80\x80\x80\x80\x00", "too many octets"},
		{"a size over 32 bits", empty + "\x01\xff\xff\xff\xff\x1f", "too many octets"},
		{"a table section without a count", empty + "\x04\x00", "too early"},
		{"sections out of order", empty + "\x03\x01\x00\x01\x01\x00", "section 1 stands behind section 3"},
		{"a section twice", empty + "\x01\x01\x00\x01\x01\x00", "section 1 stands behind section 1"},
		{"a data count, so data laid down later", empty + "\x0c\x01\x00", "section 12"},
		{"octets behind a list", empty + "\x01\x02\x00\x00", "left over"},
		{"a count without elements", empty + "\x03\x05\xff\xff\xff\xff\x0f", "too early"},
		{"a type that is none of a function", empty + "\x01\x02\x01\x5f", "not a function's"},
		{"an imported memory", empty + "\x02\x08\x01\x01a\x01b\x02\x00\x01", "import a.b is not a function"},
		{"a name that is not UTF-8", empty + "\x07\x05\x01\x01\xff\x00\x00", "not UTF-8"},
		{"two memories", empty + "\x05\x05\x02\x00\x01\x00\x01", "2 memories"},
		{"a shared memory", empty + "\x05\x04\x01\x03\x01\x01", "shared"},
		{"a global that is neither", empty + "\x06\x06\x01\x7f\x02\x41\x00\x0b", "neither constant nor variable"},
		{"a global set from another", empty + "\x06\x06\x01\x7f\x00\x23\x00\x0b", "not a number"},
		{"a global that is a sum", empty + "\x06\x09\x01\x7f\x00\x41\x00\x41\x00\x6a\x0b", "more than a number"},
		{"a number over 32 bits", empty + "\x06\x0a\x01\x7f\x00\x41\xff\xff\xff\xff\x3f\x0b", "too many octets"},
		{"passive data", empty + "\x0b\x04\x01\x01\x01a", "not laid down"},
		{"data at a variable place", empty + "\x0b\x07\x01\x00\x23\x00\x0b\x01a", "no constant place"},
		{"functions without bodies", empty + "\x03\x02\x01\x00", "1 functions have 0 bodies"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := binary.Decode([]byte(c.wasm))
			require.ErrorContains(t, err, c.says)
		})
	}
}

func TestConstantTakesTheFewestOctets(t *testing.T) {
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

// FuzzDecode asks that no input harms the decoder, and that what it accepts
// comes through encoding unchanged.
func FuzzDecode(f *testing.F) {
	f.Add(sample().Encode())                                      // every section
	f.Add([]byte(empty))                                          // none
	f.Add([]byte(empty + "\x00\x05\x04name"))                     // one that is dropped
	f.Add([]byte(empty + "\x03\x05\xff\xff\xff\xff\x0f"))         // a count that asks for 16 GiB
	f.Add([]byte(empty + "\x0b\x07\x01\x00\x41\x80\x7f\x0b\x00")) // an address in more octets than it needs
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
