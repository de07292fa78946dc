package flow

// ZeroPage is the size of the memory at address 0 that a Go program never writes: the
// compiler checks each pointer for nil, and the linker puts nothing there.
const ZeroPage = 4096

// Clear returns the code of a function, with its declarations of local variables, that
// clears memory of a constant size, up to ZeroPage, by copying zeros from address 0.
// memory.fill of 16 to 232 bytes takes 40 to 95 ns in wazero 1.12, memory.copy 4 to 6.
// Both have the same operands: the byte to fill with is the address to copy from.
func Clear(code []byte) (cleared []byte) {
	s := &scanner{code: code}
	s.skipLocals()
	done := 0
	for s.more() {
		if at, ok := s.takeClear(); ok {
			cleared = append(append(cleared, code[done:at]...), opBulk, memoryCopy, 0, 0)
			done = s.at
			continue
		}
		if op := s.byte(); !s.skipBranch(op) {
			s.skip(op)
		}
	}
	if s.err != nil {
		return code
	}
	return append(cleared, code[done:]...)
}

// takeClear skips a memory.fill with zeros and its constant operands if they are next,
// and returns where the memory.fill begins.
func (s *scanner) takeClear() (fill int, ok bool) {
	start := s.at
	if s.take(opI32Const, 0, opI32Const) {
		size := s.signed()
		fill = s.at
		if size >= 0 && size <= ZeroPage && s.take(opBulk, memoryFill, 0) {
			return fill, true
		}
	}
	s.at = start
	return 0, false
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
