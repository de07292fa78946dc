// Package lists holds what addrspec knows about domains and words: mail
// providers by class, role words, typo targets. Readable tables with their
// provenance lie beside this file; `go run ./lists/pack` makes one blob of
// them (lists.blob, embedded), and this package searches that blob in place.
//
// It imports nothing of the project and no package that a small module
// cannot afford; core and the module depend on it. What the bytes of a blob
// mean stands in format.go.
package lists

import (
	"bytes"
	_ "embed"
)

// Class says what is known about a domain. The packer has settled precedence
// (relay over public over disposable), so one bit is set at most.
type Class uint8

const (
	// Disposable: a throw-away mailbox provider.
	Disposable Class = 1 << iota
	// Public: a provider where anybody can open a mailbox.
	Public
	// Relay: a forwarding service that hides the real mailbox.
	Relay
	// Known: a domain that people are known to use. It states no fact but
	// keeps the typo check silent.
	Known
)

// Lists is one opened blob. It is read-only and safe for concurrent use.
type Lists struct {
	version string
	domains table // name -> Class, Below
	words   table // role word -> category
	targets []byte
	tops    []byte
}

// Below is the bit beside a Class in a blob's domain table that says the
// entry covers every name below its own.
const Below = 0x80

//go:embed lists.blob
var packed []byte

// Default returns the lists built into the program. It trusts them, since a
// test has opened them, and so does not walk through them.
func Default() *Lists {
	l, err := parse(packed)
	if err != nil {
		panic(err)
	}
	return l
}

// Version names the blob by the date its sources were read and the checksum
// of its bytes, such as "2026.11.20-1a2b3c4d".
func (l *Lists) Version() string { return l.version }

// Provider returns the class of domain, lower case and in A-label form, by
// its most specific entry: the name itself, then each parent whose entry
// covers the names below it. It allocates nothing.
func (l *Lists) Provider(domain []byte) Class {
	if v := l.domains.find(domain); v != 0 {
		return Class(v &^ Below)
	}
	for parent := above(domain); parent != nil; parent = above(parent) {
		if v := l.domains.find(parent); v&Below != 0 {
			return Class(v &^ Below)
		}
	}
	return 0
}

// above cuts the first label off domain; nil when fewer than two labels are
// left, since no top-level domain has an entry.
func above(domain []byte) []byte {
	first := bytes.IndexByte(domain, '.')
	if first < 0 || bytes.IndexByte(domain[first+1:], '.') < 0 {
		return nil
	}
	return domain[first+1:]
}

// Role returns the category (1 to 10, the order of core.Role) that word, a
// whole lower-case word without separators, stands for; 11 for a word that may
// stand beside a role word, such as a region; 0 for any other.
func (l *Lists) Role(word []byte) uint8 {
	return l.words.find(word)
}

// TypoTargets returns the providers whose misspellings the typo check
// corrects, one lower-case domain a line, most used first.
func (l *Lists) TypoTargets() []byte { return l.targets }

// TopLevels returns the top-level domains of the root zone, in A-label form,
// one a line, in byte order.
func (l *Lists) TopLevels() []byte { return l.tops }
