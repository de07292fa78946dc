package flow

import (
	"bytes"
	"strings"
)

// function is a function as the compiler makes it: declarations of local variables
// and a start, then segments, each behind the end of a block. A br_table enters them
// by the number in the parameter, local variable 0.
type function struct {
	start    []byte            // declarations and the instructions before the blocks
	locals   int               // where the declarations end in start
	count    uint64            // of local variables with the parameter
	unwinds  bool              // a block around all returns 1 if a call does
	names    map[uint32]string // of functions
	jumps    bool              // a loop around the segments leads to the br_table
	table    []int             // segment by number
	segments []segment
	blocks   []block // of all segments
}

// segment is the code between two entries.
type segment struct {
	first    int  // its first block
	external bool // the function may be entered here, behind a call
}

// block is a basic block: instructions without jumps, then one of the ways to go on.
type block struct {
	code    []byte
	unwinds []unwind
	end     ending
	taken   int // segment to jump to
}

// unwind is a branch in code to the exit that unwinds.
type unwind struct {
	at, size int  // of the depth of the branch
	open     int  // blocks of code itself around the branch
	always   bool // the call before it never returns
}

type ending int

const (
	falls    ending = iota // into the next block
	jumps                  // to taken
	branches               // to taken if the value on the stack is not 0, else falls
	stops                  // returns or traps
)

// read reads the code of a function, with its declarations. names are those of all
// functions, as far as they are known.
func read(code []byte, names map[uint32]string) (*function, error) {
	s := &scanner{code: code}
	f := &function{names: names, count: 1 + s.skipLocals()}
	f.locals = s.at
	for s.more() && s.code[s.at] != opBlock && s.code[s.at] != opLoop {
		op := s.byte()
		if op != opGlobalGet && op != opLocalSet { // updates the copy of SP
			return nil, errForm
		}
		s.skip(op)
	}
	f.start = code[:s.at]
	f.readTable(s)
	for i := range f.segments {
		// The runtime enters a function with defer before its call of deferreturn, which
		// follows an entry of its own.
		f.segments[i].first = len(f.blocks)
		f.segments[i].external = f.segments[i].external || bytes.HasPrefix(s.code[s.at:], callSequence)
		for open := len(f.segments) - 1 - i; s.err == nil && f.readBlock(s, open); {
		}
	}
	f.blocks = append(f.blocks, block{code: []byte{opUnreachable}, end: stops}) // after the last
	end := []byte{opUnreachable, opEnd, opI32Const, 1, opEnd}
	if !f.unwinds {
		end = end[:2]
	}
	if !f.jumps {
		end = end[2:] // there is no loop to end, so the last segment has read these
	}
	if !s.take(end...) || s.more() {
		s.fail()
	}
	return f, s.err
}

// readTable reads the blocks around the segments and the br_table.
func (f *function) readTable(s *scanner) {
	around := s.blocks()
	f.jumps = s.take(opLoop, noResult)
	around += s.blocks()
	if !s.take(opLocalGet, 0, opBrTable) {
		s.fail()
	}
	size := 0
	for n := int(s.number()) + 1; n > 0 && s.err == nil; n-- {
		f.table = append(f.table, int(s.number()))
		size = max(size, f.table[len(f.table)-1]+1)
	}
	f.unwinds = around == size+1
	if !s.take(opEnd) || around != size && !f.unwinds {
		s.fail()
		return
	}
	f.segments = make([]segment, size)
}

// blocks skips the starts of blocks that are next and returns how many.
func (s *scanner) blocks() (n int) {
	for s.take(opBlock, noResult) {
		n++
	}
	return n
}

// afterCall updates the copy of SP.
var afterCall = []byte{opGlobalGet, 0, opLocalSet, 1}

// callSequence begins a call: SP -= 8, then the return address is stored.
var callSequence = []byte{opLocalGet, 1, opI32Const, 8, 0x6b, opLocalTee, 1, opGlobalSet, 0, opLocalGet, 1, opI64Const}

// readBlock reads a block of a segment that open segments follow. It returns false
// after the last block of the segment.
func (f *function) readBlock(s *scanner, open int) (more bool) {
	f.blocks = append(f.blocks, block{})
	b := &f.blocks[len(f.blocks)-1]
	place := place{start: s.at, open: open}
	for s.more() {
		b.code = s.code[place.start:s.at]
		switch {
		case place.depth > 0:
		case s.take(opEnd):
			return false
		case f.readJump(s, b, open):
			return b.end != jumps || !s.take(opEnd)
		}
		op := s.byte()
		f.readInstruction(s, b, op, &place)
		last := len(b.unwinds) - 1
		leaves := op == opReturn || op == opUnreachable || op == opBrIf && last >= 0 && b.unwinds[last].always
		if place.depth == 0 && leaves { // nothing that follows is reached
			b.end, b.code = stops, s.code[place.start:s.at]
			return !s.take(opEnd)
		}
	}
	return false
}

// place is where an instruction is.
type place struct {
	start int // of its basic block
	open  int // segments that follow
	depth int // blocks of the code itself around it
	never int // where the branch behind a call that never returns is
}

// readInstruction reads the immediates of op.
func (f *function) readInstruction(s *scanner, b *block, op byte, p *place) {
	switch op {
	case opBlock, opLoop, opIf:
		p.depth++
		if s.byte() != noResult {
			s.fail()
		}
	case opElse:
	case opEnd:
		p.depth--
	case opBr, opBrIf:
		at, exit := s.at, p.depth+p.open
		if f.jumps {
			exit++
		}
		switch target := int(s.number()); {
		case target < p.depth: // a block of the code itself
		case f.unwinds && target == exit:
			b.unwinds = append(b.unwinds, unwind{at - p.start, s.at - at, p.depth, at-1 == p.never})
		default:
			s.fail()
		}
	case opCall:
		if f.neverReturns(s.number()) && bytes.HasPrefix(s.code[s.at:], afterCall) {
			p.never = s.at + len(afterCall)
		}
	case opBrTable:
		s.fail()
	case opI64Const:
		f.readReturnAddress(s)
	case opLocalSet, opLocalTee:
		if n := s.number(); n == 0 && p.depth > 0 {
			s.fail() // a jump inside a block, of a form of its own
		}
	default:
		s.skip(op)
	}
}

// readJump reads a jump, conditional or not, if one is next: the number of an entry and a
// branch to the loop.
func (f *function) readJump(s *scanner, b *block, open int) bool {
	start, end := s.at, jumps
	if s.take(opIf, noResult) {
		open++
		end = branches
	}
	if f.jumps && s.take(opI32Const) {
		number := s.signed()
		known := number >= 0 && number < int64(len(f.table))
		if known && s.take(opLocalSet, 0, opBr) && s.number() == uint64(open) && (end == jumps || s.take(opEnd)) {
			b.taken, b.end = f.table[number], end
			return true
		}
	}
	s.at = start
	return false
}

// readReturnAddress reads a constant. If it is a return address, its low 16 bits are the
// number by which the function is entered again. Any other constant can only add an
// entry, which does no harm.
func (f *function) readReturnAddress(s *scanner) {
	n := s.signed()
	ahead := &scanner{code: s.code, at: s.at}
	if !ahead.take(opI64Store, 3, 0) {
		return
	}
	if ahead.take(opI32Const, 0, opCall) && f.neverReturns(ahead.number()) {
		return // a panic reads the address to print it, and nothing is entered there
	}
	if number := int(n & 0xffff); n>>16 != 0 && number < len(f.table) {
		f.segments[f.table[number]].external = true
	}
}

// never are functions of the runtime that never return to the code that the compiler
// made: they end the program, or they switch to the scheduler, which runs deferred
// functions or, with a larger stack, the function from its start. The compiler has no
// entry behind these calls, or one that nothing uses.
var never = map[string]bool{
	"runtime.morestack": true, "runtime.morestack_noctxt": true, // src/runtime/asm_wasm.s
	"runtime.sigpanic": true, "runtime.gopanic": true, "runtime.throw": true,
	"runtime.panicdivide": true, "runtime.panicshift": true, "runtime.panicwrap": true,
}

// neverReturns reports whether a function never returns 0. Behind the call of one, no
// value joins those of other ways. So an engine keeps what it knows across each check of
// a pointer for nil, and a loop needs no entries for the checks of its indices.
func (f *function) neverReturns(index uint64) bool {
	name := f.names[uint32(index)]
	return never[name] || strings.HasPrefix(name, "runtime.goPanic") // of indices and slices
}
