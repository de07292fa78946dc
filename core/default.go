package core

import (
	"sync"

	"github.com/addrspec/addrspec/lists"
)

// Check returns the facts about email, by the lists that the program contains. It may be
// called by any number of goroutines, and the Facts have memory of their own. It
// allocates once; for other lists, or without allocating, use a Checker.
func Check(email string) Facts {
	c := checkers.Get().(*Checker)
	defer checkers.Put(c)
	f := c.Check([]byte(email))
	return f.Clone()
}

// Explain returns the result for email as JSON, with the member details: why each fact
// is so. Like Check it may be called by any number of goroutines.
func Explain(email string) []byte {
	c := checkers.Get().(*Checker)
	defer checkers.Put(c)
	f := c.Check([]byte(email))
	return c.AppendDetails(f.JSON(), &f)
}

// checkers has the Checkers of Check and Explain that no goroutine is using.
var checkers = sync.Pool{New: func() any { return first().sibling() }}

// first returns a Checker that is never used itself. The others share what New computes
// from the lists.
var first = sync.OnceValue(func() *Checker { return New(lists.Default()) })

// sibling returns a Checker with the lists of c and memory of its own. What New computes
// does not change afterwards.
func (c *Checker) sibling() *Checker {
	return &Checker{lists: c.lists, known: c.known, typos: c.typos}
}
