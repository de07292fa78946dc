package slim

import (
	"errors"
	"io"
)

// A segment is a part of the module that is copied to the memory at the start.
type segment struct {
	offset uint32
	text   span
}

// Opcodes of the offset of a segment: i32.const, end.
const (
	i32Const = 0x41
	end      = 0x0b
)

// segments returns the segments of the section of data. Only the form with a constant
// offset in the first memory is known (core specification, section 5.5.14).
func (r *reader) segments(s span) (list []segment) {
	count, at := r.number(s.at)
	for range count {
		offset, behind := r.offset(at)
		text := r.vector(behind)
		if r.err != nil {
			return nil
		}
		list = append(list, segment{offset, text})
		at = text.at + text.size
	}
	if at != s.at+s.size {
		r.fail()
	}
	return list
}

// offset returns the offset of the segment at an offset of the module, and the place
// behind it.
func (r *reader) offset(at int64) (offset uint32, behind int64) {
	if mode, behind := r.number(at); mode != 0 || r.byte(behind) != i32Const {
		r.fail()
	}
	n, behind := r.signed(at + 2)
	if n < 0 || r.byte(behind) != end {
		r.fail()
	}
	return uint32(n), behind + 1
}

// signed returns the signed number of 32 bits at an offset, and the place behind it.
func (r *reader) signed(at int64) (n int32, behind int64) {
	bits := 0
	for more := true; more && r.err == nil; at++ {
		b := r.byte(at)
		n |= int32(b&0x7f) << bits
		bits += 7
		more = b&0x80 != 0
		if more && bits > 28 {
			r.fail()
		}
		if !more && bits < 32 && b&0x40 != 0 {
			n |= -1 << bits
		}
	}
	return n, at
}

var errMemory = errors.New("the module's data does not fit its memory")

// Fill copies what the memory contains at the start to the memory of an instance, of
// which view returns a part.
func (m *Module) Fill(view func(offset, size uint32) ([]byte, bool)) error {
	for _, s := range m.data {
		to, ok := view(s.offset, uint32(s.text.size))
		if !ok {
			return errMemory
		}
		if _, err := m.from.ReadAt(to, s.text.at); err != nil && err != io.EOF {
			return err
		}
	}
	return nil
}
