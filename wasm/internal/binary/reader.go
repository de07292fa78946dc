package binary

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

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
	var n uint64
	for shift := 0; shift < 35; shift += 7 {
		b := r.byte()
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			if n>>32 != 0 {
				break
			}
			return uint32(n)
		}
	}
	r.fail(errNumber)
	return 0
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
