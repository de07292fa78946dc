// Package lists classifies domains and words: mail providers, role words, typo
// targets, top-level domains. `go run ./lists/cmd pack` packs their tables, the text files
// in this directory, into lists.blob, which is embedded and searched in place.
//
// It imports no package that would enlarge the module noticeably.
package lists

import (
	"bytes"
	_ "embed"
	"unicode/utf8"

	"github.com/addrspec/addrspec/lists/internal/format"
)

// Class classifies a domain. At most one bit is set, since the packer has
// resolved precedence (relay over public over disposable).
type Class uint8

// The classes.
const (
	Disposable Class = 1 << iota // a provider of throw-away mailboxes
	Public                       // a provider where anybody can open a mailbox
	Relay                        // a forwarding service that hides the real mailbox
	Known                        // a domain in use, for which the typo check suggests no correction
	NoMail                       // a host that takes no mail by design; its addresses have the role NoReply

	// Unproven is a domain that only lists without proof call disposable, or a top-level
	// domain that throw-away services prefer. It makes no domain disposable, and hides no
	// class that a parent or the name itself gives.
	Unproven
)

var classNames = [...]string{"disposable", "public", "relay", "known", "no_mail", "unproven"}

// String returns the name of c in details and reports.
func (c Class) String() string {
	for i, name := range classNames {
		if c == 1<<i {
			return name
		}
	}
	return "unlisted"
}

// classes are the classes that a kind may have.
const classes = Disposable | Public | Relay | Known | NoMail | Unproven

// Lists is an opened blob. It is read-only and safe for concurrent use.
type Lists struct {
	version   string
	domains   table  // domain -> number of its kind, from 1
	kinds     []byte // a class with format.Subdomains and the carriers each
	sources   []Source
	roles     table // word of roles.txt -> Word
	words     wordFilter
	targets   []byte
	topLevels []byte
	providers table // provider's domain -> number of its rule, from 1
	rules     []Rule
	exchanges table // suffix of mail exchanges -> number of its operator, from 1
	operators []Exchange
	mailboxes []MailboxRule
	endings   uint32 // the last letters of top-level domains with an entry, a bit each
	selfNames int    // the bit of SelfNamedSource among the sources; 0 if it is not there
}

//go:embed lists.blob
var packed []byte

// Default returns the lists built into the program, which a test verifies.
func Default() *Lists {
	l, err := parse(packed)
	if err != nil {
		panic(err)
	}
	l.index()
	return l
}

// Blob returns the packed lists built into the program. The caller must not change them.
func Blob() []byte { return packed }

// Version identifies the blob by the day its sources were fetched and by its
// checksum, such as "2026.11.20-1a2b3c4d".
func (l *Lists) Version() string { return l.version }

// Provider returns the class of domain, which must be lower case and in A-label
// form, or 0.
func (l *Lists) Provider(domain []byte) Class {
	class, _ := l.Lookup(domain)
	return class
}

// Lookup returns the class of domain as Provider does, and the number of the rule for the
// names of its mailboxes in MailboxRules, from 1; 0 if none is known.
func (l *Lists) Lookup(domain []byte) (class Class, rule uint8) {
	number, at, mail := l.find(domain)
	if number != 0 {
		kind := l.kind(number)
		class = Class(kind[0] &^ format.Subdomains)
		if at == 0 { // a rule covers no subdomain
			rule = kind[5]
		}
	}
	if (class == 0 || class == Unproven) && mail && l.selfNamed(domain) != nil {
		return Disposable, 0
	}
	return class, rule
}

// Match is the entry that classifies a domain.
type Match struct {
	Entry      []byte // the domain or the parent that has the entry; a part of the domain
	Class      Class  // 0 if there is no entry
	Subdomains bool   // the entry covers every name below its own
	Mailboxes  uint8  // number of the entry's rule in MailboxRules, from 1; 0 if it has none
	carriers   int    // a bit for each source that carries the entry
}

// CarriedBy reports whether the entry is on the source with that index in Sources.
func (m Match) CarriedBy(source int) bool { return m.carriers>>source&1 != 0 }

// Match returns the entry that classifies domain, which must be lower case and
// in A-label form. The most specific entry decides: that of the name itself,
// else that of the nearest parent whose entry covers subdomains. If these are unproven or
// there is none, a name that says what it is decides first.
func (l *Lists) Match(domain []byte) Match {
	number, at, _ := l.find(domain)
	if number == 0 || l.class(number) == Unproven {
		if name := l.selfNamed(domain); name != nil {
			return Match{name, Disposable, true, 0, l.selfNames}
		}
	}
	if number == 0 {
		return Match{}
	}
	return l.match(domain[at:], number)
}

func (l *Lists) match(entry []byte, number int) Match {
	kind := l.kind(number)
	return Match{entry, l.class(number), kind[0]&format.Subdomains != 0, kind[5], format.Uint32(kind[1:])}
}

// find returns the number of the kind of the entry that classifies domain, and
// where the entry starts in domain; 0 if there is none. mail reports whether a domain
// without a class has the "ai" of "mail" or the "nb" of "inbox", as every name that is
// SelfNamed has. One loop finds all: a call for each would take a thirtieth of a check in
// WebAssembly.
func (l *Lists) find(domain []byte) (kind, at int, mail bool) {
	kind = l.domains.find(domain)
	if kind != 0 && l.class(kind) != Unproven {
		return kind, 0, false
	}
	parent, before := 0, byte(0)
	for i, b := range domain {
		switch b {
		case '.':
			if parent > 0 { // not a top-level domain
				if found := l.findParent(domain[parent:]); found != 0 && l.class(found) != Unproven {
					return found, parent, false
				} else if kind == 0 && found != 0 {
					kind, at = found, parent
				}
			}
			parent = i + 1
		case 'i':
			mail = mail || before == 'a'
		case 'b':
			mail = mail || before == 'n'
		}
		before = b
	}
	// The last letter spares most top-level domains a lookup.
	if ending := domain[parent:]; kind == 0 && parent > 0 && len(ending) > 2 && l.endings>>(ending[len(ending)-1]&31)&1 != 0 {
		kind, at = l.findParent(ending), parent
	}
	return kind, at, mail
}

// findParent returns the number of the kind of the entry of parent, if that covers
// subdomains.
func (l *Lists) findParent(parent []byte) int {
	if kind := l.domains.find(parent); kind != 0 && l.kind(kind)[0]&format.Subdomains != 0 {
		return kind
	}
	return 0
}

func (l *Lists) class(number int) Class { return Class(l.kind(number)[0] &^ format.Subdomains) }

func (l *Lists) kind(number int) []byte { return l.kinds[format.KindBytes*(number-1):] }

// parentOf returns domain without its first label, or nil if that leaves a
// top-level domain.
func parentOf(domain []byte) []byte {
	first := bytes.IndexByte(domain, '.')
	if first < 0 || bytes.IndexByte(domain[first+1:], '.') < 0 {
		return nil
	}
	return domain[first+1:]
}

// Word returns the entry of roles.txt for word, a whole lower-case word in NFC
// without separators and accents; 0 if it is not listed.
func (l *Lists) Word(word []byte) Word {
	if !l.words.mayHave(word) {
		return 0
	}
	if word[0] >= utf8.RuneSelf {
		var memory [format.MaxName]byte
		word = format.AppendName(memory[:0], word)
	}
	return Word(l.roles.find(word))
}

// EachWord calls do with each word of roles.txt, which is valid during the call.
func (l *Lists) EachWord(do func(word []byte, w Word)) {
	var memory [format.MaxName]byte
	l.roles.each(func(name []byte, value int) { do(format.AppendWord(memory[:0], name), Word(value)) })
}

// EachDomain calls do with each entry of the domains, which is valid during the call.
func (l *Lists) EachDomain(do func(m Match)) {
	l.domains.each(func(name []byte, number int) { do(l.match(name, number)) })
}

// EachProvider calls do with each domain that has a rule, valid during the call, and the
// number of the rule in Rules, from 1.
func (l *Lists) EachProvider(do func(domain []byte, rule int)) { l.providers.each(do) }

// Rules returns the rules of Rule. The caller must not change the slice.
func (l *Lists) Rules() []Rule { return l.rules }

// MailboxRules returns the rules of Lookup. The caller must not change the slice.
func (l *Lists) MailboxRules() []MailboxRule { return l.mailboxes }

// EachExchange calls do with each suffix of mail exchanges, valid during the call, and the
// number of its operator in Operators, from 1.
func (l *Lists) EachExchange(do func(suffix []byte, operator int)) { l.exchanges.each(do) }

// Operators returns what Exchange returns. The caller must not change the slice.
func (l *Lists) Operators() []Exchange { return l.operators }

// TypoTargets returns the providers whose misspellings the typo check
// corrects, one lower-case domain per line, most used first.
func (l *Lists) TypoTargets() []byte { return l.targets }

// TopLevels returns the top-level domains and the endings of two labels under which
// registries take names, in A-label form, one per line, in byte order.
func (l *Lists) TopLevels() []byte { return l.topLevels }

// Count returns the number of domains with an entry of class c.
func (l *Lists) Count(c Class) (n int) {
	for e := range l.domains.values {
		if l.class(l.domains.value(e)) == c {
			n++
		}
	}
	return n
}

// RoleWords returns the number of role words.
func (l *Lists) RoleWords() int { return len(l.roles.values) }

// Lines returns the number of lines of a part such as TypoTargets.
func Lines(part []byte) int { return bytes.Count(part, []byte{'\n'}) }
