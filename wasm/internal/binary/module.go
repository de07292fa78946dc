// Package binary reads and writes the binary format of WebAssembly modules
// ("WebAssembly Core Specification" 2.0, section 5) as far as packing needs it.
//
// It decodes the sections that packing changes and keeps the others as bytes.
// It does not parse code and does not validate; an engine does both. Decode
// rejects what packing cannot process, such as imports other than functions.
package binary

// Module is a WebAssembly module (section 2.5). Function indices count the
// imports first, then Functions.
type Module struct {
	Types     []FuncType
	Imports   []Import
	Functions []uint32 // type index of each function defined here
	Tables    []byte   // undecoded section; empty if absent
	Memory    Limits
	Globals   []Global
	Exports   []Export
	Start     *uint32
	Elements  []byte   // undecoded section; empty if absent
	Code      [][]byte // locals and instructions of each function defined here
	Data      []Segment

	// Names are the names of functions by index, from the name section. Encode leaves
	// them out.
	Names map[uint32]string
}

// ValueType is the encoding of a value type, such as i32 (section 5.3).
type ValueType byte

// Number types (section 5.3.1). The Go compiler uses no other value types.
const (
	I32 ValueType = 0x7f
	I64 ValueType = 0x7e
	F32 ValueType = 0x7d
	F64 ValueType = 0x7c
)

// FuncType is the signature of a function.
type FuncType struct{ Params, Results []ValueType }

// Import is a function that the host must supply.
type Import struct {
	Module, Name string
	Type         uint32
}

// Limits are the initial and the maximal size of a memory, in pages of 64 KiB.
type Limits struct {
	Min    uint32
	Max    uint32 // valid if HasMax
	HasMax bool
}

// PageSize is the size of a memory page in bytes.
const PageSize = 1 << 16

// Global is a global variable. Init is the constant expression of its initial
// value.
type Global struct {
	Type    ValueType
	Mutable bool
	Init    []byte
}

// ExportKind is the kind of an export.
type ExportKind byte

// The kinds that packing and its tests name.
const (
	ExportMemory ExportKind = 2
	ExportGlobal ExportKind = 3
)

// Export is an exported name for a function, table, memory or global.
type Export struct {
	Name  string
	Kind  ExportKind
	Index uint32
}

// Segment is an active data segment: instantiation copies Bytes to Address.
type Segment struct {
	Address uint32
	Bytes   []byte
}

// Section numbers (section 5.5.2), in the order that a module must have them.
// dataCount, which precedes code, is refused.
const (
	custom    = 0
	types     = 1
	imports   = 2
	functions = 3
	tables    = 4
	memories  = 5
	globals   = 6
	exports   = 7
	start     = 8
	elements  = 9
	code      = 10
	data      = 11
)

var preamble = []byte("\x00asm\x01\x00\x00\x00")

// Bytes that introduce a type, an import or an instruction.
const (
	functionType   = 0x60
	importFunction = 0x00
	opI32Const     = 0x41
	opI64Const     = 0x42
	opF32Const     = 0x43
	opF64Const     = 0x44
	opEnd          = 0x0b
)
