package api

import (
	"bytes"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/wasm/host"
)

// tallyFacts adds the facts of one address to found. It neither decodes JSON nor
// allocates, since the 16 members have a fixed order and no white space. Only role
// has to be searched for. Its name with quotes cannot occur inside a JSON string,
// where the quotes would be escaped.
func tallyFacts(found *ledger.Found, facts *host.Facts) {
	if !facts.Valid {
		found.Invalid++
		return
	}
	found.Valid++
	if before := scanner(facts.JSON[len(facts.Email):facts.MXAt]); before.find(`,"role":`) {
		found.Role += before.category()
		found.Gibberish += before.flag(`,"gibberish":`)
	}
	after := scanner(facts.JSON[facts.MXAt+len("false"):])
	found.Disposable += after.flag(`,"disposable":`)
	found.Public += after.flag(`,"public":`)
	found.Relay += after.flag(`,"relay":`)
	found.Typo += after.flag(`,"typo":`)
}

// A scanner is the unread rest of a JSON object.
type scanner []byte

// find skips to the end of the first occurrence of text. It returns false if there
// is none.
func (s *scanner) find(text string) bool {
	at := bytes.Index(*s, []byte(text))
	if at < 0 {
		return false
	}
	*s = (*s)[at+len(text):]
	return true
}

// skip skips text and returns true if the rest begins with it.
func (s *scanner) skip(text string) bool {
	if len(*s) < len(text) || string((*s)[:len(text)]) != text {
		return false
	}
	*s = (*s)[len(text):]
	return true
}

// flag reads the member name with a boolean value and returns 1 if it is true,
// else 0.
func (s *scanner) flag(name string) int64 {
	if s.skip(name) && !s.skip("false") && s.skip("true") {
		return 1
	}
	return 0
}

// category reads the value of role and returns 0 if it is null, else 1. A category
// is a word without escapes.
func (s *scanner) category() int64 {
	if s.skip("null") || !s.skip(`"`) || !s.find(`"`) {
		return 0
	}
	return 1
}

// tally adds a finished item to found.
func (i *item) tally(found *ledger.Found) {
	if i.lookup.err != nil {
		found.LookupErrors++
		return
	}
	tallyFacts(found, &i.facts)
}
