package binary

import (
	"bytes"
	"errors"
	"fmt"
)

// Decode reads a module. The result points into wasm.
func Decode(wasm []byte) (*Module, error) {
	if !bytes.HasPrefix(wasm, preamble) {
		return nil, errors.New("not a WebAssembly module of version 1")
	}
	m := new(Module)
	r := &reader{rest: wasm[len(preamble):]}
	for last := byte(0); len(r.rest) > 0; {
		id := r.octet()
		contents := r.octets(r.u32())
		if id == custom {
			continue
		}
		if id <= last {
			return nil, fmt.Errorf("section %d stands behind section %d", id, last)
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

// section reads the contents of one section into m.
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
		r.failf("it is not of a kind this tool knows")
	}
	if len(r.rest) > 0 {
		r.failf("%d octets are left over", len(r.rest))
	}
	return r.err
}

// whole takes a section as it is. It is a list, so it holds at least a count.
func (r *reader) whole() []byte {
	if len(r.rest) == 0 {
		r.fail(errShort)
	}
	return r.octets(uint32(len(r.rest)))
}

func (r *reader) funcType() FuncType {
	if kind := r.octet(); kind != functionType {
		r.failf("a type is not a function's")
	}
	return FuncType{vector(r, (*reader).valueType), vector(r, (*reader).valueType)}
}

func (r *reader) valueType() ValueType { return ValueType(r.octet()) }

func (r *reader) imported() Import {
	i := Import{Module: r.name(), Name: r.name()}
	if kind := r.octet(); kind != importFunction {
		r.failf("import %s.%s is not a function", i.Module, i.Name)
	}
	i.Type = r.u32()
	return i
}

// memory reads the one memory that a module has.
func (r *reader) memory() (l Limits) {
	if n := r.u32(); n != 1 {
		r.failf("there are %d memories", n)
	}
	switch flags := r.octet(); flags {
	case 0:
		l.Min = r.u32()
	case 1:
		l.Min, l.Max, l.HasMax = r.u32(), r.u32(), true
	default:
		r.failf("the memory is shared or of 64 bits")
	}
	return l
}

func (r *reader) export() Export {
	return Export{Name: r.name(), Kind: ExportKind(r.octet()), Index: r.u32()}
}

func (r *reader) body() []byte { return r.octets(r.u32()) }

func (r *reader) segment() Segment {
	if mode := r.u32(); mode != 0 {
		r.failf("a data segment is not laid down at the start")
	}
	if r.octet() != opI32Const {
		r.failf("a data segment stands at no constant place")
	}
	address := uint32(r.s64(32))
	if r.octet() != opEnd {
		r.failf("a data segment stands at no constant place")
	}
	return Segment{address, r.octets(r.u32())}
}
