package binary

import (
	"bytes"
	"errors"
	"fmt"
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
