package binary

import (
	"encoding/binary"
	"slices"
)

// global reads a global variable with its first value.
func (r *reader) global() Global {
	g := Global{Type: ValueType(r.octet())}
	switch mutable := r.octet(); mutable {
	case 0:
	case 1:
		g.Mutable = true
	default:
		r.failf("a global is neither constant nor variable")
	}
	g.Init = r.constant()
	return g
}

// constant reads a constant expression that names its value outright.
func (r *reader) constant() []byte {
	before := r.rest
	switch op := r.octet(); op {
	case opI32Const:
		r.s64(32)
	case opI64Const:
		r.s64(64)
	case opF32Const:
		r.octets(4)
	case opF64Const:
		r.octets(8)
	default:
		r.failf("a global's first value is not a number (instruction %#x)", op)
	}
	if r.octet() != opEnd {
		r.failf("a global's first value is more than a number")
	}
	return slices.Clip(before[:len(before)-len(r.rest)])
}

// Constant is the constant expression for a value of type t, given in the
// lowest bits.
func Constant(t ValueType, bits uint64) []byte {
	var expr []byte
	switch t {
	case I32:
		expr = appendSigned([]byte{opI32Const}, int64(int32(bits)))
	case I64:
		expr = appendSigned([]byte{opI64Const}, int64(bits))
	case F32:
		expr = binary.LittleEndian.AppendUint32([]byte{opF32Const}, uint32(bits))
	case F64:
		expr = binary.LittleEndian.AppendUint64([]byte{opF64Const}, bits)
	}
	return append(expr, opEnd)
}
