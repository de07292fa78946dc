package binary

import "encoding/binary"

// Encode returns the module in the binary format, with numbers in their shortest
// form.
func (m *Module) Encode() []byte {
	dst := append([]byte(nil), preamble...)
	dst = appendVector(dst, types, m.Types, func(dst []byte, t FuncType) []byte {
		return appendValueTypes(appendValueTypes(append(dst, functionType), t.Params), t.Results)
	})
	dst = appendVector(dst, imports, m.Imports, func(dst []byte, i Import) []byte {
		dst = appendBytes(appendBytes(dst, i.Module), i.Name)
		return appendU32(append(dst, importFunction), i.Type)
	})
	dst = appendVector(dst, functions, m.Functions, appendU32)
	dst = appendSection(dst, tables, m.Tables)
	dst = appendVector(dst, memories, []Limits{m.Memory}, func(dst []byte, l Limits) []byte {
		if !l.HasMax {
			return appendU32(append(dst, 0), l.Min)
		}
		return appendU32(appendU32(append(dst, 1), l.Min), l.Max)
	})
	dst = appendVector(dst, globals, m.Globals, func(dst []byte, g Global) []byte {
		mutable := byte(0)
		if g.Mutable {
			mutable = 1
		}
		return append(append(dst, byte(g.Type), mutable), g.Init...)
	})
	dst = appendVector(dst, exports, m.Exports, func(dst []byte, e Export) []byte {
		return appendU32(append(appendBytes(dst, e.Name), byte(e.Kind)), e.Index)
	})
	if m.Start != nil {
		dst = appendSection(dst, start, appendU32(nil, *m.Start))
	}
	dst = appendSection(dst, elements, m.Elements)
	dst = appendVector(dst, code, m.Code, appendBytes[[]byte])
	return appendVector(dst, data, m.Data, func(dst []byte, s Segment) []byte {
		dst = appendSigned(append(dst, 0, opI32Const), int64(int32(s.Address)))
		return appendBytes(append(dst, opEnd), s.Bytes)
	})
}

// appendSection appends a section, or nothing if contents is empty.
func appendSection(dst []byte, id byte, contents []byte) []byte {
	if len(contents) == 0 {
		return dst
	}
	return appendBytes(append(dst, id), contents)
}

// appendVector appends a section that is a vector, or nothing if list is empty.
func appendVector[T any](dst []byte, id byte, list []T, element func([]byte, T) []byte) []byte {
	if len(list) == 0 {
		return dst
	}
	contents := appendU32(nil, uint32(len(list)))
	for _, e := range list {
		contents = element(contents, e)
	}
	return appendSection(dst, id, contents)
}

func appendU32(dst []byte, n uint32) []byte { return binary.AppendUvarint(dst, uint64(n)) }

// appendSigned appends n in signed LEB128.
func appendSigned(dst []byte, n int64) []byte {
	for n < -64 || n > 63 {
		dst = append(dst, byte(n)|0x80)
		n >>= 7
	}
	return append(dst, byte(n)&0x7f)
}

func appendBytes[T []byte | string](dst []byte, s T) []byte {
	return append(appendU32(dst, uint32(len(s))), s...)
}

func appendValueTypes(dst []byte, list []ValueType) []byte {
	dst = appendU32(dst, uint32(len(list)))
	for _, t := range list {
		dst = append(dst, byte(t))
	}
	return dst
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
