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
	"sync"

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

	repaired [repairMax]byte

	// Of the last valid address with a domain:
	unproven    bool  // its domain is lists.Unproven
	mailboxRule uint8 // for its local part, as lists.Lookup returns it
	untagged    int   // bytes of its local part without the tag
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
	c.untagged = len(local)
	f.Valid, f.Normalized, f.LocalPart, f.Domain = true, a.normalized, a.local, a.domain
	f.Host, f.Alias = a.host, tagged
	c.fillFromHost(f)
	if f.Role == NoRole {
		f.Role = c.roleOf(f, local)
	}
	if f.Role == NoRole {
		f.Gibberish = Score(c.scorer.Score(local))
		f.Generated = !f.Classed && f.Typo == nil && len(f.Host) > 0 && gibberish.Generated(local)
		if f.Generated {
			f.Gibberish = max(f.Gibberish, GeneratedScore)
		}
	}
}

// fillFromHost sets the facts that depend on the host alone. An address literal
// has none, so no provider.
func (c *Checker) fillFromHost(f *Facts) {
	if len(f.Host) == 0 {
		return
	}
	class, rule := c.lists.Lookup(f.Host)
	c.mailboxRule = rule
	c.unproven = class == lists.Unproven
	if c.unproven {
		class = 0
	}
	f.Disposable, f.Public, f.Relay = class&lists.Disposable != 0, class&lists.Public != 0, class&lists.Relay != 0
	f.Classed = class != 0
	if takesNoMail(class, f.Host) {
		f.Role, f.Classed = NoReply, true
	}
	if class == 0 {
		f.Typo = c.typos.Suggest(f.Host)
	}
}

// roleOf returns the role of local, the local part of f without its tag. A weak word
// alone, such as a given name, is a role at a host that is not on the Internet: that of
// an account of a machine, or of an example.
func (c *Checker) roleOf(f *Facts, local []byte) Role {
	if !f.ASCII {
		local = c.words.fold(local)
	}
	// Anybody can open a mailbox at the domain, or at the one that it is a misspelling of.
	shared := f.Public || f.Relay || f.Disposable || f.Typo != nil
	role := c.words.roleOf(c.known, local, shared)
	if role != NoRole && c.words.isBareName() && c.formOfHost(f.Host) == 0 {
		return NoRole
	}
	return role
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

// Facts are the results of the offline checks of one address: the fields of the
// result but mx, which needs DNS. Slices point into the input and into the
// Checker and are valid until its next Check.
type Facts struct {
	Email      []byte // the input
	Valid      bool
	Normalized []byte // nil unless valid
	LocalPart  []byte // nil unless valid
	Alias      bool
	ASCII      bool
	Role       Role
	Gibberish  Score
	Generated  bool   // the local part has the form of a throw-away service; only at a domain without a class
	Domain     []byte // nil unless valid
	Disposable bool
	Public     bool
	Relay      bool
	Typo       []byte // the suggested domain; nil if there is none

	// Classed reports whether the lists have an entry for the domain, of any class. Only a
	// domain without one may become disposable by its exchanges; see AppendExchange.
	Classed bool
	// Host is the domain in A-labels, the name to look up in DNS. It is empty
	// for an address literal.
	Host []byte
	// Refusal is set unless the address is valid.
	Refusal Refusal
}

// Score is the probability, in percent, that a local part is gibberish.
type Score uint8

// Gibberish is the lowest score of a local part that counts as gibberish.
const Gibberish Score = 50

// GeneratedScore is the lowest score of a local part that a throw-away service generated.
const GeneratedScore Score = 90

// Clone returns a copy of f that remains valid after the next Check of its Checker.
func (f *Facts) Clone() Facts {
	own := *f
	size := len(f.Email) + len(f.Normalized) + len(f.LocalPart) + len(f.Domain) + len(f.Typo) + len(f.Host)
	buffer := make([]byte, 0, size)
	for _, text := range []*[]byte{&own.Email, &own.Normalized, &own.LocalPart, &own.Domain, &own.Typo, &own.Host} {
		if *text == nil {
			continue
		}
		start := len(buffer)
		buffer = append(buffer, *text...)
		*text = buffer[start:len(buffer):len(buffer)]
	}
	return own
}

// JSON returns the result for f: the 16 fields of the contract, the same bytes as from
// the module and the service without DNS, so mx is null, or false if there is
// no domain to look up.
func (f *Facts) JSON() []byte {
	json, _ := AppendJSON(nil, f, false)
	return json
}

// MarshalJSON returns JSON, so that package encoding/json writes Facts by the contract.
func (f Facts) MarshalJSON() ([]byte, error) { return f.JSON(), nil }

// Suggestion returns the address with the suggested domain in place of the misspelled
// one, or "" if no domain is suggested.
func (f *Facts) Suggestion() string {
	if f.Typo == nil {
		return ""
	}
	return string(f.LocalPart) + "@" + string(f.Typo)
}

// Why returns a sentence, without a full stop, that explains why the address is not
// valid and how to correct it; "" if it is valid. The sentence may quote a character of
// the address.
func (f *Facts) Why() string {
	if f.Valid {
		return ""
	}
	return string(f.Refusal.AppendSentence(nil, f.Email))
}

// Check returns the facts about email, by the lists that the program contains. It may be
// called by any number of goroutines. The Facts have their own memory, which is
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
// that is never used itself: the others share the indexes that New computes. Nothing
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
	return &Checker{lists: first.lists, known: first.known, typos: first.typos}
}
