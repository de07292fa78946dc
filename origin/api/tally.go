package api

import (
	"bytes"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/wasm/host"
)

// count adds to found what the module found at one address. Nothing is decoded
// and nothing allocated: the 16 members come in a fixed order without white
// space. Only role has to be searched for, and its name with quotes cannot occur
// inside a JSON string, where they would be escaped.
func tallyFacts(found *ledger.Found, facts *host.Answer) {
	if !facts.Valid {
		found.Invalid++
		return
	}
	found.Valid++
	if head := scanner(facts.JSON[len(facts.Email):facts.MXAt]); head.find(`,"role":`) {
		found.Role += head.category()
		found.Gibberish += head.flag(`,"gibberish":`)
	}
	tail := scanner(facts.JSON[facts.MXAt+len("false"):])
	found.Disposable += tail.flag(`,"disposable":`)
	found.Public += tail.flag(`,"public":`)
	found.Relay += tail.flag(`,"relay":`)
	found.Typo += tail.flag(`,"typo":`)
}

// A scanner is what is left to read of a JSON object.
type scanner []byte

// find moves behind the first occurrence of text.
func (s *scanner) find(text string) bool {
	at := bytes.Index(*s, []byte(text))
	if at < 0 {
		return false
	}
	*s = (*s)[at+len(text):]
	return true
}

// skip moves behind text if the rest begins with it.
func (s *scanner) skip(text string) bool {
	if len(*s) < len(text) || string((*s)[:len(text)]) != text {
		return false
	}
	*s = (*s)[len(text):]
	return true
}

// flag reads a member whose value is a boolean: 1 if it is true.
func (s *scanner) flag(name string) int64 {
	if s.skip(name) && !s.skip("false") && s.skip("true") {
		return 1
	}
	return 0
}

// category reads the value of role: 1 unless it is null. A category is a word
// without escapes.
func (s *scanner) category() int64 {
	if s.skip("null") || !s.skip(`"`) || !s.find(`"`) {
		return 0
	}
	return 1
}

// count adds to found what was found at the address of a finished item.
func (i *item) tally(found *ledger.Found) {
	if i.lookup.err != nil {
		found.LookupErrors++
		return
	}
	tallyFacts(found, &i.facts)
}
