package flow

import (
	"encoding/binary"
	"errors"
)

// Instructions that this package reads or writes (core specification, section 5.4).
const (
	opUnreachable  = 0x00
	opBlock        = 0x02
	opLoop         = 0x03
	opIf           = 0x04
	opElse         = 0x05
	opEnd          = 0x0b
	opBr           = 0x0c
	opBrIf         = 0x0d
	opBrTable      = 0x0e
	opReturn       = 0x0f
	opCall         = 0x10
	opCallIndirect = 0x11
	opLocalGet     = 0x20
	opLocalSet     = 0x21
	opLocalTee     = 0x22
	opGlobalGet    = 0x23
	opGlobalSet    = 0x24
	opFirstLoad    = 0x28
	opI64Store     = 0x37
	opLastStore    = 0x3e
	opMemorySize   = 0x3f
	opMemoryGrow   = 0x40
	opI32Const     = 0x41
	opI64Const     = 0x42
	opF32Const     = 0x43
	opF64Const     = 0x44
	opI32Eqz       = 0x45
	opI32WrapI64   = 0xa7
	opBulk         = 0xfc
	memoryCopy     = 10 // after opBulk
	memoryFill     = 11

	noResult = 0x40 // block type
)

// errForm is returned for a function that does not have the form of the compiler.
var errForm = errors.New("not a function of the Go compiler's form")

// scanner reads the instructions of a function. After an error, which it keeps, it is
// at the end.
type scanner struct {
	code []byte
	at   int
	err  error
}

func (s *scanner) fail() {
	s.err, s.at = errForm, len(s.code)
}

func (s *scanner) more() bool { return s.at < len(s.code) }

func (s *scanner) byte() byte {
	if !s.more() {
		s.fail()
		return 0
	}
	s.at++
	return s.code[s.at-1]
}

// take skips prefix if it is next.
func (s *scanner) take(prefix ...byte) bool {
	if len(s.code)-s.at < len(prefix) || string(s.code[s.at:][:len(prefix)]) != string(prefix) {
		return false
	}
	s.at += len(prefix)
	return true
}

// number reads a LEB128 number, unsigned.
func (s *scanner) number() uint64 {
	n, size := binary.Uvarint(s.code[s.at:])
	if size <= 0 {
		s.fail()
		return 0
	}
	s.at += size
	return n
}

// signed reads a LEB128 number, signed.
func (s *scanner) signed() (n int64) {
	for shift := 0; shift < 70; shift += 7 {
		b := s.byte()
		n |= int64(b&0x7f) << shift
		if b < 0x80 {
			if unused := 64 - shift - 7; unused > 0 {
				n = n << unused >> unused // extend the sign
			}
			return n
		}
	}
	s.fail()
	return 0
}

// skipLocals skips declarations of local variables and returns how many they are.
func (s *scanner) skipLocals() (count uint64) {
	for n := s.number(); n > 0 && s.err == nil; n-- {
		count += s.number()
		s.byte()
	}
	return count
}

// skip skips the immediates of an instruction that was just read, but those of block,
// loop, if and branches.
func (s *scanner) skip(op byte) {
	switch {
	case op == opCallIndirect || op >= opFirstLoad && op <= opLastStore:
		s.number()
		s.number()
	case op == opCall || op >= opLocalGet && op <= opGlobalSet || op == opMemorySize || op == opMemoryGrow:
		s.number()
	case op == opI32Const || op == opI64Const:
		s.signed()
	case op == opF32Const:
		s.at = min(s.at+4, len(s.code))
	case op == opF64Const:
		s.at = min(s.at+8, len(s.code))
	case op == opBulk: // a saturating conversion, memory.copy or memory.fill
		switch n := s.number(); {
		case n == memoryCopy:
			s.at = min(s.at+2, len(s.code))
		case n == memoryFill:
			s.byte()
		case n >= 8:
			s.fail()
		}
	case op > 0xc4 || op > opGlobalSet && op < opFirstLoad || op > opCallIndirect && op < 0x1a || op > 0x1b && op < opLocalGet:
		s.fail() // nothing that the compiler uses
	}
}

// skipBranch skips the immediates of op if it is a block or a branch.
func (s *scanner) skipBranch(op byte) bool {
	switch op {
	case opBlock, opLoop, opIf:
		s.byte()
	case opElse, opEnd:
	case opBr, opBrIf:
		s.number()
	case opBrTable:
		for n := s.number() + 1; n > 0 && s.err == nil; n-- {
			s.number()
		}
	default:
		return false
	}
	return true
}
