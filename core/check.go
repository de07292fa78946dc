// Package core states the twelve offline facts about an email address.
//
// It is pure: no I/O, no clock, no globals that change, no allocation on the
// usual path. It knows the packed lists and nothing of hosts, HTTP or files;
// the same code runs natively and compiled to WebAssembly.
package core

import (
	"github.com/addrspec/addrspec/core/gibberish"
	"github.com/addrspec/addrspec/core/internal/ascii"
	"github.com/addrspec/addrspec/core/typo"
	"github.com/addrspec/addrspec/lists"
)

// Checker checks addresses against one set of lists. It owns the scratch
// space that the Facts it returns point into, so one goroutine uses it at a
// time and Facts hold until the next Check.
type Checker struct {
	lists   *lists.Lists
	typos   *typo.Index
	address address
	words   words
	scorer  gibberish.Scorer
}

// New returns a Checker on l.
func New(l *lists.Lists) *Checker {
	return &Checker{lists: l, typos: typo.New(l.TypoTargets(), l.TopLevels())}
}

// Check states the facts about email, which need not be well-formed in any
// way. The Facts point into email and into c.
func (c *Checker) Check(email []byte) (f Facts) {
	f.Email, f.ASCII = email, ascii.Is(email)
	f.Refusal = c.address.parse(email)
	if f.Refusal.Reason == Accepted {
		c.state(&f)
	}
	return f
}

// state fills in the facts of a valid address.
func (c *Checker) state(f *Facts) {
	a := &c.address
	name, tagged := cutTag(a.plainLocal)
	f.Valid, f.Normalized, f.LocalPart, f.Domain = true, a.normalized, a.local, a.domain
	f.Host, f.Alias = a.host, tagged
	f.Role = c.words.roleOf(c.lists, name)
	if f.Role == NoRole {
		f.Gibberish = Score(c.scorer.Score(name))
	}
	if len(a.host) == 0 { // an address literal belongs to no provider
		return
	}
	class := c.lists.Provider(a.host)
	f.Disposable, f.Public, f.Relay = class&lists.Disposable != 0, class&lists.Public != 0, class&lists.Relay != 0
	if class == 0 {
		f.Typo = c.typos.Suggest(a.host)
	}
}

// cutTag cuts the plus tag off a local part: what stands before the first
// plus sign, and whether there was a tag with text before it.
func cutTag(local []byte) (name []byte, tagged bool) {
	for i, b := range local {
		if b == '+' && i > 0 {
			return local[:i], true
		}
	}
	return local, false
}
