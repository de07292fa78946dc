package binary

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// Decode returns the module in wasm. The result points into wasm. Decode returns
// an error for a malformed module and for one that packing cannot process.
func Decode(wasm []byte) (*Module, error) {
	if !bytes.HasPrefix(wasm, preamble) {
		return nil, errors.New("not a WebAssembly module of version 1")
	}
	m := new(Module)
	r := &reader{rest: wasm[len(preamble):]}
	for last := byte(0); len(r.rest) > 0; {
		id := r.byte()
		contents := r.bytes(r.u32())
		if id == custom {
			m.custom(contents)
			continue
		}
		if id <= last {
			return nil, fmt.Errorf("section %d follows section %d", id, last)
		}
		last = id
		if err := m.section(id, contents); err != nil && r.err == nil {
			return nil, fmt.Errorf("section %d: %w", id, err)
		}
	}
	if r.err == nil && len(m.Code) != len(m.Functions) {
		r.failf("%d functions have %d bodies", len(m.Functions), len(m.Code))
	}
	return m, r.err
}

// section decodes the contents of one section into m.
func (m *Module) section(id byte, contents []byte) error {
	r := &reader{rest: contents}
	switch id {
	case types:
		m.Types = vector(r, (*reader).funcType)
	case imports:
		m.Imports = vector(r, (*reader).imported)
	case functions:
		m.Functions = vector(r, (*reader).u32)
	case tables:
		m.Tables = r.whole()
	case memories:
		m.Memory = r.memory()
	case globals:
		m.Globals = vector(r, (*reader).global)
	case exports:
		m.Exports = vector(r, (*reader).export)
	case start:
		m.Start = new(r.u32())
	case elements:
		m.Elements = r.whole()
	case code:
		m.Code = vector(r, (*reader).body)
	case data:
		m.Data = vector(r, (*reader).segment)
	default:
		r.failf("unknown section")
	}
	if len(r.rest) > 0 {
		r.failf("%d bytes are left over", len(r.rest))
	}
	return r.err
}

// whole returns a section undecoded. Each section kept this way is a vector, so
// it has at least a count.
func (r *reader) whole() []byte {
	if len(r.rest) == 0 {
		r.fail(errShort)
	}
	return r.bytes(uint32(len(r.rest)))
}

func (r *reader) funcType() FuncType {
	if kind := r.byte(); kind != functionType {
		r.failf("a type is not a function type")
	}
	return FuncType{vector(r, (*reader).valueType), vector(r, (*reader).valueType)}
}

func (r *reader) valueType() ValueType { return ValueType(r.byte()) }

func (r *reader) imported() Import {
	i := Import{Module: r.name(), Name: r.name()}
	if kind := r.byte(); kind != importFunction {
		r.failf("import %s.%s is not a function", i.Module, i.Name)
	}
	i.Type = r.u32()
	return i
}

// memory reads the memory section, which must have one memory.
func (r *reader) memory() (l Limits) {
	if n := r.u32(); n != 1 {
		r.failf("there are %d memories", n)
	}
	switch flags := r.byte(); flags {
	case 0:
		l.Min = r.u32()
	case 1:
		l.Min, l.Max, l.HasMax = r.u32(), r.u32(), true
	default:
		r.failf("the memory is shared or has 64-bit addresses")
	}
	return l
}

func (r *reader) export() Export {
	return Export{Name: r.name(), Kind: ExportKind(r.byte()), Index: r.u32()}
}

func (r *reader) body() []byte { return r.bytes(r.u32()) }

func (r *reader) segment() Segment {
	if mode := r.u32(); mode != 0 {
		r.failf("a data segment is passive or names a memory")
	}
	if r.byte() != opI32Const {
		r.failf("a data segment has no constant address")
	}
	address := uint32(r.s64(32))
	if r.byte() != opEnd {
		r.failf("a data segment has no constant address")
	}
	return Segment{address, r.bytes(r.u32())}
}

// global reads a global and its initial value.
func (r *reader) global() Global {
	g := Global{Type: ValueType(r.byte())}
	switch mutable := r.byte(); mutable {
	case 0:
	case 1:
		g.Mutable = true
	default:
		r.failf("a global is neither mutable nor immutable")
	}
	g.Init = r.constant()
	return g
}

// constant reads a constant expression of one const instruction. It refuses
// other constant expressions, such as a sum.
func (r *reader) constant() []byte {
	before := r.rest
	switch op := r.byte(); op {
	case opI32Const:
		r.s64(32)
	case opI64Const:
		r.s64(64)
	case opF32Const:
		r.bytes(4)
	case opF64Const:
		r.bytes(8)
	default:
		r.failf("the initial value of a global is not a number (instruction %#x)", op)
	}
	if r.byte() != opEnd {
		r.failf("the initial value of a global is more than a number")
	}
	return slices.Clip(before[:len(before)-len(r.rest)])
}

// Ids of the name section (appendix, section 7.4).
const (
	nameSection   = "name"
	functionNames = 1
)

// custom reads the names of functions from a custom section. As an engine does, it
// ignores all other such sections and a malformed one.
func (m *Module) custom(contents []byte) {
	r := &reader{rest: contents}
	if r.name() != nameSection {
		return
	}
	for len(r.rest) > 0 {
		id, part := r.byte(), &reader{rest: r.bytes(r.u32())}
		if id == functionNames && r.err == nil {
			m.Names = part.names()
		}
	}
}

// names reads a map of names by index, nil if it is malformed.
func (r *reader) names() map[uint32]string {
	names := map[uint32]string{}
	for n := r.u32(); n > 0 && r.err == nil; n-- {
		index := r.u32()
		names[index] = r.name()
	}
	if r.err != nil {
		return nil
	}
	return names
}

// reader reads a module from front to back. After the first error, which it
// keeps in err, every read returns zero, so callers need to check err only once.
type reader struct {
	rest []byte
	err  error
}

var (
	errShort  = errors.New("unexpected end")
	errNumber = errors.New("a number is too long")
)

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.rest = nil
}

func (r *reader) failf(format string, args ...any) { r.fail(fmt.Errorf(format, args...)) }

func (r *reader) byte() byte {
	if len(r.rest) == 0 {
		r.fail(errShort)
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

// bytes returns the next n bytes without copying them.
func (r *reader) bytes(n uint32) []byte {
	if uint64(n) > uint64(len(r.rest)) {
		r.fail(errShort)
		return nil
	}
	s := r.rest[:n:n]
	r.rest = r.rest[n:]
	return s
}

// u32 reads an unsigned LEB128 number (section 5.2.2).
func (r *reader) u32() uint32 {
	n, size := binary.Uvarint(r.rest)
	switch {
	case size == 0:
		r.fail(errShort)
		return 0
	case size < 0 || size > 5 || n > math.MaxUint32:
		r.fail(errNumber)
		return 0
	}
	r.rest = r.rest[size:]
	return uint32(n)
}

// s64 reads a signed LEB128 number of at most bits bits (section 5.2.2).
func (r *reader) s64(bits int) int64 {
	var n int64
	for shift := 0; shift < bits; shift += 7 {
		b := r.byte()
		n |= int64(b&0x7f) << shift
		if b >= 0x80 {
			continue
		}
		if unused := 64 - shift - 7; unused > 0 {
			n = n << unused >> unused // extend the sign
		}
		if unused := 64 - bits; n<<unused>>unused != n {
			break
		}
		return n
	}
	r.fail(errNumber)
	return 0
}

func (r *reader) name() string {
	s := r.bytes(r.u32())
	if !utf8.Valid(s) {
		r.failf("a name is not UTF-8")
	}
	return string(s)
}

// vector reads a count and that many elements.
func vector[T any](r *reader, element func(*reader) T) []T {
	var list []T
	for n := r.u32(); n > 0 && r.err == nil; n-- {
		list = append(list, element(r))
	}
	return list
}
