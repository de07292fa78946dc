package pack

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"strings"
)

// The Go tool chain puts a table of all functions into a program (pclntab, see
// runtime/symtab.go). The collector needs some of it; names of functions and
// files, and line numbers, serve tracebacks alone, which a module without
// standard error cannot print. They take a twelfth of the module, compressed.

// layoutOf is the release whose layout of the table this file knows. With
// another one the table stays whole and the module is larger.
const layoutOf = "go1.26"

// functionTable is the table in memory.
type functionTable struct {
	count        int
	names, files []byte
	values       []byte // what holds at which program counter: stack sizes, liveness, lines
	functions    []byte // where each function's entry stands, then the entries
}

// dropLines blanks what only tracebacks read and reports whether it did. It
// changes nothing where anything is not as expected.
func dropLines(memory []byte) bool {
	if !strings.HasPrefix(runtime.Version(), layoutOf) {
		return false
	}
	table, ok := findFunctions(memory)
	if !ok {
		return false
	}
	needed, ok := table.needed()
	if !ok {
		return false
	}
	clear(table.names)
	clear(table.files)
	for n := range table.values {
		if !needed[n] {
			table.values[n] = 0
		}
	}
	return true
}

// findFunctions finds the table by its header: magic number, two zeros, the
// size of an instruction and of a pointer, then words of 64 bits.
func findFunctions(memory []byte) (t functionTable, ok bool) {
	magic := []byte("\xf1\xff\xff\xff\x00\x00\x01\x08")
	if bytes.Count(memory, magic) != 1 {
		return t, false
	}
	header := memory[bytes.Index(memory, magic):]
	if len(header) < len(magic)+8*8 {
		return t, false
	}
	word := func(n int) uint64 { return binary.LittleEndian.Uint64(header[len(magic)+8*n:]) }
	names, units, files, values, functions := word(3), word(4), word(5), word(6), word(7)
	if names > units || units > files || files > values || values > functions || functions > uint64(len(header)) ||
		word(0) == 0 || word(0) > uint64(len(header)) {
		return t, false
	}
	return functionTable{
		count: int(word(0)), names: header[names:units], files: header[files:values],
		values: header[values:functions], functions: header[functions:],
	}, true
}

// needed marks the values that are read without a traceback: of each function
// its stack sizes, and what the compiler noted for the collector.
func (t functionTable) needed() (marks []bool, ok bool) {
	marks = make([]bool, len(t.values))
	for n := range t.count {
		if 8*n+8 > len(t.functions) {
			return nil, false
		}
		at := int(binary.LittleEndian.Uint32(t.functions[8*n+4:]))
		if at > len(t.functions) || !t.mark(marks, t.functions[at:]) {
			return nil, false
		}
	}
	return marks, true
}

// Places in a function's entry (runtime._func).
const (
	stackSizes = 16
	noteCount  = 28
	notes      = 44
)

// mark marks the values that one function's entry names.
func (t functionTable) mark(marks []bool, entry []byte) bool {
	if len(entry) < notes {
		return false
	}
	word := func(at int) int { return int(binary.LittleEndian.Uint32(entry[at:])) }
	count := word(noteCount)
	if count > (len(entry)-notes)/4 || !t.markValues(marks, word(stackSizes)) {
		return false
	}
	for n := range count {
		if !t.markValues(marks, word(notes+4*n)) {
			return false
		}
	}
	return true
}

// markValues marks one list of values: pairs of numbers, up to a pair that
// begins with zero and is not the first. A list at 0 is none.
func (t functionTable) markValues(marks []bool, from int) bool {
	for at, first := from, true; from != 0; first = false {
		value, next := t.number(at)
		done := value == 0 && !first
		if !done && next > 0 {
			_, next = t.number(next)
		}
		if next <= 0 {
			return false
		}
		for ; at < next; at++ {
			marks[at] = true
		}
		if done {
			break
		}
	}
	return true
}

// number reads a number at a place and returns the place behind it, or -1.
func (t functionTable) number(at int) (value uint64, next int) {
	if at >= len(t.values) {
		return 0, -1
	}
	value, size := binary.Uvarint(t.values[at:])
	if size <= 0 {
		return 0, -1
	}
	return value, at + size
}
