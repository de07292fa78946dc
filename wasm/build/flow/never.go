package flow

import "strings"

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
