package pack

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/addrspec/addrspec/wasm/internal/binary"
)

// wasi is the import module of WASI preview 1.
const wasi = "wasi_snapshot_preview1"

// stub is a function that replaces a WASI import.
type stub struct {
	params []binary.ValueType
	result []binary.ValueType
	code   []byte
}

const (
	i32 = binary.I32
	i64 = binary.I64
)

// errno is the result type of all the functions but proc_exit.
var errno = types(i32)

// Instructions that the stubs use (core specification, section 5.4).
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

// success returns the code of a stub that runs instructions and returns errno 0.
func success(instructions ...byte) []byte { return append(instructions, i32Const, 0, end) }

// store returns instructions that write a 32-bit zero to the address in parameter
// n.
func store(n byte) []byte { return []byte{localGet, n, i32Const, 0, i32Store, 2, 0} }

// stubs returns the stubs by name. clock is the index of the global that
// contains the time.
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

// readClock advances the clock by 1,024 ns at each call, so that a loop which
// waits for time to pass ends, and stores it at the address in parameter 2.
func readClock(clock byte) []byte {
	return success(
		globalGet, clock, i64Const, 0x80, 0x08, i64Add, globalSet, clock,
		localGet, 2, globalGet, clock, i64Store, 3, 0)
}

// firstTime is one second after the epoch, in nanoseconds: Go takes a zero clock
// for a broken one.
const firstTime = 1e9

// fill sets all "random" bytes to one value. They only seed the generator of the
// runtime, and no result depends on it.
var fill = success(localGet, 0, i32Const, 0x2a, localGet, 1, bulk, 11, 0)

// discard reports that the first buffer was written completely; the runtime
// passes only one.
var discard = success(localGet, 3, localGet, 1, i32Load, 2, 4, i32Store, 2, 0)

// stubImports replaces each import of m by its stub. It returns an error for an
// import that has none.
func stubImports(m *binary.Module) error {
	if len(m.Globals) >= 0x7f {
		return fmt.Errorf("%d globals; at most 126 are supported", len(m.Globals))
	}
	known := stubs(byte(len(m.Globals)))
	m.Globals = append(m.Globals, binary.Global{Type: i64, Mutable: true, Init: binary.Constant(i64, firstTime)})
	var functions []uint32
	var code [][]byte
	for _, i := range m.Imports {
		s, ok := known[i.Name]
		if i.Module != wasi || !ok {
			return fmt.Errorf("the module imports %s.%s, which has no stub: "+
				"find the package that needs it (often os, time or embed) and remove it", i.Module, i.Name)
		}
		want := binary.FuncType{Params: s.params, Results: s.result}
		if i.Type >= uint32(len(m.Types)) || !reflect.DeepEqual(m.Types[i.Type], want) {
			return fmt.Errorf("import %s.%s: its signature is not that of WASI preview 1", i.Module, i.Name)
		}
		functions = append(functions, i.Type)
		code = append(code, append([]byte{0}, s.code...)) // no locals
	}
	m.Imports, m.Functions, m.Code = nil, append(functions, m.Functions...), append(code, m.Code...)
	return nil
}
