// Package core determines the facts about an email address that need no
// network: every field of the result but mx. FORMAT.md describes the syntax it
// accepts.
//
//	facts := core.Check("jane.doe@example.org")
//	fmt.Println(facts.Valid, string(facts.Normalized), facts.Role)
//
// Check is for programs that check an address now and then, from any goroutine. A
// Checker is for the rest: it uses lists of your choice, and its Check allocates
// nothing. The package does no I/O and reads no clock. It imports the packed lists,
// but nothing for HTTP, files or WebAssembly: the same code runs natively and inside
// the module. The hosts look up MX records.
//
// Start reading at Checker.Check, then address.parse for the syntax.
package core

import (
	"github.com/addrspec/addrspec/core/gibberish"
	"github.com/addrspec/addrspec/core/internal/ascii"
	"github.com/addrspec/addrspec/core/typo"
	"github.com/addrspec/addrspec/lists"
)

// Checker checks addresses against one set of lists. It contains the memory
// that the returned Facts point into, so Facts are valid until the next Check
// and only one goroutine may use a Checker at a time.
type Checker struct {
	lists   *lists.Lists
	typos   *typo.Index
	address address
	words   words
	known   *wordList
	scorer  gibberish.Scorer
}

// New returns a Checker that uses l.
func New(l *lists.Lists) *Checker {
	return &Checker{lists: l, known: newWordList(l), typos: typo.New(l.TypoTargets(), l.TopLevels())}
}

// Check returns the facts about email, which may be any bytes. The Facts point
// into email and into c.
func (c *Checker) Check(email []byte) (f Facts) {
	f.Email = email
	f.Refusal = c.address.parse(email)
	f.ASCII = c.address.usual || ascii.Is(email)
	if f.Refusal.Reason == Accepted {
		c.fill(&f)
	}
	return f
}

// fill sets the facts about the valid address in c.address. A host that takes no
// mail decides about the role, whatever the local part says.
func (c *Checker) fill(f *Facts) {
	a := &c.address
	local, tagged := cutTag(a.plainLocal)
	f.Valid, f.Normalized, f.LocalPart, f.Domain = true, a.normalized, a.local, a.domain
	f.Host, f.Alias = a.host, tagged
	c.fillFromHost(f)
	if f.Role == NoRole {
		f.Role = c.words.roleOf(c.known, local)
	}
	if f.Role == NoRole {
		f.Gibberish = Score(c.scorer.Score(local))
	}
}

// fillFromHost sets the facts that depend on the host alone. An address literal
// has none, so no provider.
func (c *Checker) fillFromHost(f *Facts) {
	if len(f.Host) == 0 {
		return
	}
	class := c.lists.Provider(f.Host)
	f.Disposable, f.Public, f.Relay = class&lists.Disposable != 0, class&lists.Public != 0, class&lists.Relay != 0
	if takesNoMail(class, f.Host) {
		f.Role = NoReply
	}
	if class == 0 {
		f.Typo = c.typos.Suggest(f.Host)
	}
}

// cutTag returns the text of a local part before its plus tag, and whether it
// has a tag. A plus sign at the start begins no tag.
func cutTag(local []byte) (untagged []byte, tagged bool) {
	for i, b := range local {
		if b == '+' && i > 0 {
			return local[:i], true
		}
	}
	return local, false
}
