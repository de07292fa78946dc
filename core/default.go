package core

import (
	"sync"

	"github.com/addrspec/addrspec/lists"
)

// Check returns the facts about email, by the lists that the program contains. It may be
// called by any number of goroutines. The Facts have memory of their own, which is
// allocated; a Checker allocates nothing, and may have other lists.
func Check(email string) Facts {
	c := acquire()
	defer checkers.Put(c)
	f := c.Check([]byte(email))
	return f.Clone()
}

// Explain returns the result for email as JSON, with the member details: why each fact
// is so. Like Check it may be called by any number of goroutines.
func Explain(email string) []byte {
	c := acquire()
	defer checkers.Put(c)
	f := c.Check([]byte(email))
	return c.AppendDetails(f.JSON(), &f)
}

// checkers has the Checkers of Check and Explain that no goroutine is using, and first one
// that is never used itself: the others share what New computes from the lists. Nothing
// is computed at the start of a program, so the module, which needs neither, has neither.
var (
	checkers sync.Pool
	first    *Checker
	makeOnce sync.Once
)

// acquire returns a Checker that no other goroutine uses until it is put back.
func acquire() *Checker {
	if c, ok := checkers.Get().(*Checker); ok {
		return c
	}
	makeOnce.Do(func() { first = New(lists.Default()) })
	return first.sibling()
}

// sibling returns a Checker with the lists of c and memory of its own. What New computes
// does not change afterwards.
func (c *Checker) sibling() *Checker {
	return &Checker{lists: c.lists, known: c.known, typos: c.typos}
}
