package binary

// Module is a WebAssembly module (section 2.5). Function indices count the
// imports first, then Functions.
type Module struct {
	Types     []FuncType
	Imports   []Import
	Functions []uint32 // the type of each function defined here
	Tables    []byte   // the section as it is; empty for none
	Memory    Limits
	Globals   []Global
	Exports   []Export
	Start     *uint32
	Elements  []byte   // the section as it is; empty for none
	Code      [][]byte // locals and instructions of each function defined here
	Data      []Segment
}

// ValueType is i32, i64 or another type of values (section 5.3).
type ValueType byte

// The value types that occur in the signatures of functions and globals here.
const (
	I32 ValueType = 0x7f
	I64 ValueType = 0x7e
	F32 ValueType = 0x7d
	F64 ValueType = 0x7c
)

// FuncType is the signature of a function.
type FuncType struct{ Params, Results []ValueType }

// Import is a function that the host is to give.
type Import struct {
	Module, Name string
	Type         uint32
}

// Limits are the size of a memory in pages of 64 KiB.
type Limits struct {
	Min    uint32
	Max    uint32 // counts only where HasMax is set
	HasMax bool
}

// PageSize is the size of a page of memory in octets.
const PageSize = 1 << 16

// Global is a global variable with its first value, a constant expression.
type Global struct {
	Type    ValueType
	Mutable bool
	Init    []byte
}

// ExportKind tells what an export is.
type ExportKind byte

const (
	ExportFunction ExportKind = 0
	ExportTable    ExportKind = 1
	ExportMemory   ExportKind = 2
	ExportGlobal   ExportKind = 3
)

// Export is a name for something of the module.
type Export struct {
	Name  string
	Kind  ExportKind
	Index uint32
}

// Segment is what stands in memory from an address on when the module starts.
type Segment struct {
	Address uint32
	Octets  []byte
}

// Section numbers (section 5.5.2), in the order in which they must stand, but
// for dataCount, which stands before code.
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

// The octets of the format that stand before a kind of thing.
const (
	functionType   = 0x60
	importFunction = 0x00
	opI32Const     = 0x41
	opI64Const     = 0x42
	opF32Const     = 0x43
	opF64Const     = 0x44
	opEnd          = 0x0b
)
