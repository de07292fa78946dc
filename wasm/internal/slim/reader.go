package slim

import (
	"encoding/binary"
	"errors"
	"io"
)

// reader reads parts of a module. After the first error, which it keeps in err, it
// reads nothing.
type reader struct {
	from *io.SectionReader
	end  int64
	err  error
}

// errForm is the error for what is not a module of the form that this project builds.
var errForm = errors.New("not a module")

// span is a part of the module.
type span struct{ at, size int64 }

// part is a section: its number, and what follows its length.
type part struct {
	id              byte
	whole, contents span
}

// sections returns the sections in order.
func (r *reader) sections() (list []part) {
	for at := int64(preamble); at < r.end && r.err == nil; {
		contents := r.vector(at + 1)
		end := contents.at + contents.size
		list = append(list, part{r.byte(at), span{at, end - at}, contents})
		at = end
	}
	return list
}

// vector returns what follows the length at an offset.
func (r *reader) vector(at int64) span {
	length, at := r.number(at)
	if r.err != nil || length > uint64(r.end-at) {
		r.fail()
		return span{}
	}
	return span{at, int64(length)}
}

// number returns the number at an offset, and the offset behind it.
func (r *reader) number(at int64) (n uint64, behind int64) {
	var b [binary.MaxVarintLen32]byte
	if r.err != nil || at > r.end {
		r.fail()
		return 0, at
	}
	read, _ := r.from.ReadAt(b[:], at) // fewer at the end
	n, size := binary.Uvarint(b[:read])
	if size <= 0 {
		r.fail()
		return 0, at
	}
	return n, at + int64(size)
}

func (r *reader) byte(at int64) byte {
	var b [1]byte
	if _, err := r.from.ReadAt(b[:], at); err != nil {
		r.fail()
	}
	return b[0]
}

// append appends a part of the module to dst.
func (r *reader) append(dst []byte, s span) []byte {
	if r.err != nil || s.at+s.size > r.end {
		r.fail()
		return dst
	}
	at := len(dst)
	dst = append(dst, make([]byte, s.size)...)
	if _, err := r.from.ReadAt(dst[at:], s.at); err != nil && err != io.EOF {
		r.fail()
	}
	return dst
}

func (r *reader) fail() {
	if r.err == nil {
		r.err = errForm
	}
}
