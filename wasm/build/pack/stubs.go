package pack

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/addrspec/addrspec/wasm/internal/binary"
)

// wasi is the module of the functions that have stubs (WASI preview 1).
const wasi = "wasi_snapshot_preview1"

// stub is a function that stands in for an import of WASI.
type stub struct {
	params []binary.ValueType
	result []binary.ValueType
	code   []byte
}

const (
	i32 = binary.I32
	i64 = binary.I64
)

// errno is what all but one of the functions answer.
var errno = types(i32)

// Instructions (core specification, section 5.4) of the stubs.
const (
	unreachable = 0x00
	end         = 0x0b
	localGet    = 0x20
	globalGet   = 0x23
	globalSet   = 0x24
	i32Load     = 0x28
	i32Store    = 0x36
	i64Store    = 0x37
	i32Const    = 0x41
	i64Const    = 0x42
	i64Add      = 0x7c
	bulk        = 0xfc // memory.fill is bulk 11
)

// success ends a stub with the error number 0.
func success(instructions ...byte) []byte { return append(instructions, i32Const, 0, end) }

// store writes a zero of 32 bits where parameter n points.
func store(n byte) []byte { return []byte{localGet, n, i32Const, 0, i32Store, 2, 0} }

// stubs by name. clock is the index of the global that holds the time.
func stubs(clock byte) map[string]stub {
	return map[string]stub{
		"args_get":          {types(i32, i32), errno, success()},
		"args_sizes_get":    {types(i32, i32), errno, success(slices.Concat(store(0), store(1))...)},
		"environ_get":       {types(i32, i32), errno, success()},
		"environ_sizes_get": {types(i32, i32), errno, success(slices.Concat(store(0), store(1))...)},
		"clock_time_get":    {types(i32, i64, i32), errno, readClock(clock)},
		"random_get":        {types(i32, i32), errno, fill},
		"fd_write":          {types(i32, i32, i32, i32), errno, discard},
		"poll_oneoff":       {types(i32, i32, i32, i32), errno, success(store(3)...)},
		"sched_yield":       {types(), errno, success()},
		"proc_exit":         {types(i32), types(), []byte{unreachable, end}},
	}
}

func types(list ...binary.ValueType) []binary.ValueType { return list }

// readClock moves the clock on by 1,024 ns at each reading, so that nothing
// that waits for time to pass waits forever, and stores it where parameter 2
// points.
func readClock(clock byte) []byte {
	return success(
		globalGet, clock, i64Const, 0x80, 0x08, i64Add, globalSet, clock,
		localGet, 2, globalGet, clock, i64Store, 3, 0)
}

// firstTime is one second after the epoch: Go takes a clock at zero for a
// broken one.
const firstTime = 1e9

// fill makes "random" octets of one value. They seed the runtime's generator
// alone, whose output does not care.
var fill = success(localGet, 0, i32Const, 0x2a, localGet, 1, bulk, 11, 0)

// discard says that all of the first piece was written; the runtime writes in
// one piece.
var discard = success(localGet, 3, localGet, 1, i32Load, 2, 4, i32Store, 2, 0)

// stubImports puts a stub in the place of each import.
func stubImports(m *binary.Module) error {
	if len(m.Globals) >= 0x7f {
		return fmt.Errorf("%d globals are more than this tool is made for", len(m.Globals))
	}
	known := stubs(byte(len(m.Globals)))
	m.Globals = append(m.Globals, binary.Global{Type: i64, Mutable: true, Init: binary.Constant(i64, firstTime)})
	var functions []uint32
	var code [][]byte
	for _, i := range m.Imports {
		s, ok := known[i.Name]
		if i.Module != wasi || !ok {
			return fmt.Errorf("the module imports %s.%s, for which there is no stub: "+
				"find what of the program needs it (often package os, time or embed) and leave that out", i.Module, i.Name)
		}
		if err := s.fits(m, i.Type); err != nil {
			return fmt.Errorf("import %s.%s: %w", i.Module, i.Name, err)
		}
		functions = append(functions, i.Type)
		code = append(code, append([]byte{0}, s.code...)) // no locals
	}
	m.Imports, m.Functions, m.Code = nil, append(functions, m.Functions...), append(code, m.Code...)
	return nil
}

// fits tells whether the import's type is what the stub is written for.
func (s stub) fits(m *binary.Module, typeIndex uint32) error {
	want := binary.FuncType{Params: s.params, Results: s.result}
	if typeIndex >= uint32(len(m.Types)) || !reflect.DeepEqual(m.Types[typeIndex], want) {
		return fmt.Errorf("it has another signature than WASI preview 1 gives it")
	}
	return nil
}
