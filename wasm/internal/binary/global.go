package binary

import (
	"encoding/binary"
	"slices"
)

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

// Constant returns the constant expression for a value of type t, whose bits are
// the low bits of bits.
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
