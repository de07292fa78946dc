package result

import (
	"bytes"

	"github.com/addrspec/addrspec/wasm/host"
)

// Flags are the fields of a result that are counted.
type Flags struct {
	Valid, Role, Gibberish, Disposable, Public, Relay, Typo bool
}

// Scan returns the flags of the module's result. It neither decodes JSON nor
// allocates, since the 16 members have a fixed order and no white space. Only role
// has to be searched for. Its name with quotes cannot occur inside a JSON string,
// where the quotes would be escaped.
func Scan(facts *host.Facts) (f Flags) {
	if !facts.Valid {
		return f
	}
	f.Valid = true
	if before := scanner(facts.JSON[len(facts.Email):facts.MXAt]); before.find(`,"role":`) {
		f.Role = before.category()
		f.Gibberish = before.flag(`,"gibberish":`)
	}
	after := scanner(facts.JSON[facts.MXAt+len("false"):])
	f.Disposable = after.flag(`,"disposable":`)
	f.Public = after.flag(`,"public":`)
	f.Relay = after.flag(`,"relay":`)
	f.Typo = after.flag(`,"typo":`)
	return f
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

// flag reads the member name with a boolean value.
func (s *scanner) flag(name string) bool {
	return s.skip(name) && !s.skip("false") && s.skip("true")
}

// category reads the value of role and reports whether it is a category, which is
// a word without escapes, and not null.
func (s *scanner) category() bool {
	return !s.skip("null") && s.skip(`"`) && s.find(`"`)
}
