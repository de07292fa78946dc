package core

import (
	"bytes"
	"unicode/utf8"

	"github.com/addrspec/addrspec/core/typo"
)

// Form is what is unusual about the form of a valid address, a bit each. Only FormGenerated
// goes with another fact: the local part counts as gibberish.
type Form uint16

// What may be unusual.
const (
	FormQuoted          Form = 1 << iota // the local part is a quoted string (RFC 5322 section 3.2.4)
	FormComment                          // it has a comment (RFC 5322 section 3.2.2)
	FormLiteral                          // the domain is an address literal (RFC 5321 section 4.1.3)
	FormSingleLabel                      // the domain has no dot
	FormUnknownTLD                       // the top-level domain is not in the root zone
	FormSpecialUse                       // the domain is reserved, so no mail goes there from the Internet (RFC 6761)
	FormGenerated                        // the local part has the form that a throw-away service generates
	FormOddCharacter                     // it has a character that hardly anybody means: see Checker.Form
	FormLooksDisposable                  // the domain has no class, but looks like those of throw-away services
	FormMailbox                          // the provider publishes that its mailboxes have no such local part
)

// formNames are the names of the bits in details.
var formNames = [...]string{"quoted", "comment", "literal", "single_label", "unknown_tld", "special_use",
	"generated", "odd_character", "looks_disposable", "mailbox_form"}

// Form returns what is unusual about f, the facts of the last Check: 0 for most
// addresses, and for one that is not valid.
func (c *Checker) Form(f *Facts) (form Form) {
	if !f.Valid {
		return 0
	}
	if f.LocalPart[0] == '"' {
		form |= FormQuoted
	}
	if !c.address.usual && c.address.remarks {
		form |= FormComment
	}
	// U+FFFD replaces what a program could not decode, an apostrophe at the start is a spreadsheet's
	// mark of a text, and full-width letters come from a keyboard in the mode for Chinese or
	// Japanese. A domain is mapped to usual letters, a local part keeps them.
	odd := func(r rune) bool {
		return r == utf8.RuneError || r >= '\uFF21' && r <= '\uFF3A' || r >= '\uFF41' && r <= '\uFF5A'
	}
	if f.LocalPart[0] == '\'' ||
		!f.ASCII && (bytes.HasPrefix(f.LocalPart, []byte("\u2019")) || bytes.ContainsFunc(f.LocalPart, odd)) {
		form |= FormOddCharacter
	}
	if f.Generated {
		form |= FormGenerated
	}
	if len(f.Host) == 0 {
		return form | FormLiteral
	}
	if c.unproven && !f.Classed && f.Typo == nil {
		form |= FormLooksDisposable
	}
	if c.mailboxRule != 0 && !c.lists.MailboxRules()[c.mailboxRule-1].Allows(c.address.plainLocal[:c.untagged]) {
		form |= FormMailbox
	}
	return form | c.formOfHost(f.Host)
}

func (c *Checker) formOfHost(host []byte) (form Form) {
	if c.hasUsualEnding(host) {
		return 0
	}
	dot := bytes.LastIndexByte(host, '.')
	if dot < 0 {
		form |= FormSingleLabel
	}
	top := host[dot+1:]
	if !c.typos.IsTopLevel(top) {
		form |= FormUnknownTLD
		if typo.IsSpecialUse(top) {
			form |= FormSpecialUse
		}
		return form
	}
	switch string(top) {
	case "com", "net", "org": // RFC 6761 section 6.5
		if dot > 0 && isAtOrBelow(host[:dot], exampleName) {
			form |= FormSpecialUse
		}
	case "arpa": // RFC 8375
		if dot > 0 && isAtOrBelow(host[:dot], homeName) {
			form |= FormSpecialUse
		}
	}
	return form
}

// hasUsualEnding reports whether host is below one of the oldest top-level domains, with
// another last letter than reserved names have, or below that of a country. This finds most
// hosts by one comparison; calls would take a twentieth of a check in WebAssembly.
func (c *Checker) hasUsualEnding(host []byte) bool {
	n := len(host)
	if n > 4 && host[n-5] != 'e' {
		switch string(host[n-4:]) {
		case ".com", ".net", ".org":
			return true
		}
	}
	return n > 3 && host[n-3] == '.' && c.typos.IsTopLevel(host[n-2:])
}

var exampleName, homeName = []byte("example"), []byte("home")

func (form Form) append(dst []byte) []byte {
	dst = append(dst, '[')
	for n, name := range formNames {
		if form&(1<<n) == 0 {
			continue
		}
		if dst[len(dst)-1] != '[' {
			dst = append(dst, ',')
		}
		dst = append(appendText(append(dst, '"'), name), '"')
	}
	return append(dst, ']')
}
