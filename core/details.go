package core

import (
	"bytes"
	"strings"

	"github.com/addrspec/addrspec/core/internal/ascii"
	"github.com/addrspec/addrspec/lists"
)

// AppendDetails extends result, which AppendJSON returned for f, by the member
// details: why the address was refused or got its role, its provider class and
// its suggestion, the identity of its mailbox, and the versions that decided. f
// must be of the last Check of c. Every member is present; null means that it does not apply.
//
// Hosts ask for details rarely, so nothing about them is computed before.
func (c *Checker) AppendDetails(result []byte, f *Facts) []byte {
	dst := appendText(result[:len(result)-1], `,"details":{"refusal":`)
	dst = c.appendRefusal(dst, f)
	dst = c.appendCanonical(appendText(dst, `,"canonical":`), f)
	dst = c.appendRoleEvidence(appendText(dst, `,"role_evidence":`), f)
	dst = c.appendProviderEvidence(appendText(dst, `,"provider_evidence":`), f)
	dst = c.appendTypoEvidence(appendText(dst, `,"typo_evidence":`), f)
	dst = c.AppendVersions(appendText(dst, `,"versions":`))
	dst = c.Form(f).append(appendText(dst, `,"form":`))
	return appendText(dst, `,"exchange":`+NoExchange)
}

// NoExchange is how the result with details ends: the value of exchange is null until a
// host has looked up, and has AppendExchange's in place of its first four bytes.
const NoExchange = "null}}"

// AppendVersions appends the versions that determine every result, as JSON. None
// has a character to escape.
func (c *Checker) AppendVersions(dst []byte) []byte {
	dst = appendText(appendText(dst, `{"engine":"`), Version)
	dst = appendText(appendText(dst, `","lists":"`), c.lists.Version())
	dst = appendText(appendText(dst, `","model":"`), ModelVersion())
	return append(dst, '"', '}')
}

// appendText appends s. It is a separate function because the compiler would
// place the code that grows dst at each of many calls.
//
//go:noinline
func appendText(dst []byte, s string) []byte { return append(dst, s...) }

// appendJSONString appends s as a JSON string. It is a separate function for the
// same reason.
//
//go:noinline
func appendJSONString(dst, s []byte) []byte { return appendQuoted(dst, s) }

func appendNull(dst []byte) []byte { return append(dst, 'n', 'u', 'l', 'l') }

// maxSentence is more than the bytes of the longest sentence with the longest
// character and number in it.
const maxSentence = 256

func (c *Checker) appendRefusal(dst []byte, f *Facts) []byte {
	if f.Valid {
		return appendNull(dst)
	}
	r := f.Refusal
	var text [maxSentence]byte // a sentence may quote a double quote or a backslash
	dst = appendText(appendText(dst, `{"code":"`), r.Reason.Code())
	dst = appendDecimal(appendText(dst, `","offset":`), r.Offset)
	dst = appendText(appendText(dst, `,"section":"`), r.Reason.Section())
	dst = appendJSONString(appendText(dst, `","sentence":`), r.AppendSentence(text[:0], f.Email))
	dst = appendText(dst, `,"suggestion":`)
	if repaired := c.Repair(f); repaired != nil {
		return append(appendJSONString(dst, repaired), '}')
	}
	return append(appendNull(dst), '}')
}

// Normalize returns the member normalized of an address without any other fact, or why the
// address is not valid. email must not point into c. The result is valid until c is used again.
func (c *Checker) Normalize(email []byte) (normalized []byte, r Refusal) {
	r = c.address.parse(email)
	if r.Reason != Accepted {
		return nil, r
	}
	return c.address.normalized, r
}

// AppendCanonical appends the identity of the mailbox of the valid address that c checked or
// normalized last: the member canonical of its details, of at most 254 bytes.
func (c *Checker) AppendCanonical(dst []byte) []byte {
	canonical, rule := c.appendIdentity(dst)
	if rule != nil {
		return canonical
	}
	return append(dst, c.address.normalized...)
}

// appendCanonical appends canonical and canonical_rule, the name of the provider's rule
// behind it. Both are null for an address that is not valid, and the name is null where no
// rule is known.
func (c *Checker) appendCanonical(dst []byte, f *Facts) []byte {
	if !f.Valid {
		return appendText(dst, `null,"canonical_rule":null`)
	}
	out, rule := c.appendIdentity(append(dst, '"'))
	if rule != nil {
		out = appendText(appendText(out, `","canonical_rule":"`), rule.Name)
		return append(out, '"')
	}
	return appendText(appendJSONString(dst, f.Normalized), `,"canonical_rule":null`)
}

// appendIdentity appends the identity of the mailbox of the valid address in c.address by the
// provider's rule, which drops the tag and the characters that its provider ignores. It needs no
// escape. Where no rule is known, the rule is nil and the identity is the normalized address.
//
// Two addresses with the same identity are one mailbox. So a rule leaves alone
// addresses that its provider cannot have issued.
func (c *Checker) appendIdentity(dst []byte) (identity []byte, rule *lists.Rule) {
	rule, user, domain := c.mailbox()
	if rule == nil {
		return dst, nil
	}
	identity, ok := appendMailbox(dst, rule, user, domain)
	if !ok {
		return dst, nil
	}
	return identity, rule
}

// mailbox returns the rule for the address in c.address, the local part to which it applies
// and the domain; a nil rule if none is known.
func (c *Checker) mailbox() (rule *lists.Rule, user, domain []byte) {
	if !isDotAtomText(c.address.plainLocal) {
		return nil, nil, nil // no provider with a rule issues quoted local parts
	}
	rule = c.lists.Rule(c.address.host)
	if rule != nil {
		return rule, c.address.plainLocal, c.address.host
	}
	label, parent, _ := bytes.Cut(c.address.host, dot)
	// A hyphen may be for an underscore of the user's name, which a host name cannot have.
	rule = c.lists.Rule(parent)
	if rule == nil || !rule.Subdomains || bytes.IndexByte(label, '-') >= 0 {
		return nil, nil, nil
	}
	return rule, label, parent
}

var dot = []byte{'.'}

// appendMailbox appends the address of user at domain by rule, which needs no
// escape. It returns false if that is no address of the provider: international or
// not valid.
func appendMailbox(dst []byte, rule *lists.Rule, user, domain []byte) (address []byte, ok bool) {
	start := len(dst)
	if rule.Tags {
		user, _ = cutTag(user)
	}
	for _, b := range user {
		if strings.IndexByte(rule.Ignored, b) < 0 {
			dst = append(dst, b)
		}
	}
	local := dst[start:]
	dst = append(dst, '@')
	if rule.Domain == "" {
		dst = append(dst, domain...)
	} else {
		dst = appendText(dst, rule.Domain)
	}
	return dst, ascii.Is(local) && isDotAtomText(local) && len(dst)-start <= addressMax
}

// roleMatch is how a role word was found.
type roleMatch uint8

const (
	noMatch       roleMatch = iota
	wholeWord               // info, or info with other words
	separatedWord           // no-reply
	gluedWord               // infouk
	partWord                // kernel-team: the words before it are not listed
	noReplyHost             // the host takes no mail; word is its name
)

// String returns the name of m in details.
func (m roleMatch) String() string {
	return [...]string{"none", "word", "separated", "glued", "part", "host"}[m]
}

// roleEvidence is why an address has its role. Its slices point into the Checker
// and the address and are valid until the next Check.
type roleEvidence struct {
	word       []byte // without separators
	match      roleMatch
	qualifiers [][]byte // the regions, numbers, teams and other words next to it
}

func (c *Checker) roleEvidence(f *Facts) roleEvidence {
	if f.Role == NoRole {
		return roleEvidence{}
	}
	match := c.lists.Match(f.Host)
	if match.Class == lists.Unproven {
		match = lists.Match{}
	}
	if len(f.Host) > 0 && takesNoMail(match.Class, f.Host) {
		word := match.Entry
		if word == nil {
			word = noReplyPart(f.Host)
		}
		return roleEvidence{word: word, match: noReplyHost}
	}
	return c.words.evidence(c.known)
}

func (w *words) evidence(l *wordList) roleEvidence {
	head := &w.segments[w.head]
	e := roleEvidence{word: w.text[head.start:head.end], match: wholeWord}
	switch {
	case w.read == 1 && (head.first > 0 || int(head.all) < w.count):
		e.match = partWord
	case head.start != w.start(int(head.first)) || head.end != w.ends[head.all-1]:
		e.match = gluedWord
	case head.all-head.first > 1:
		e.match = separatedWord
	}
	for i := range w.read {
		s := &w.segments[i]
		if i == w.head {
			e.qualifiers = l.appendParts(e.qualifiers, w.text[w.start(int(s.first)):s.start])
			e.qualifiers = l.appendParts(e.qualifiers, w.text[s.end:w.ends[s.all-1]])
			continue
		}
		e.qualifiers = append(e.qualifiers, w.joined(int(s.first), int(s.all)))
	}
	return e
}

// appendParts appends the words that are glued in text, which is empty, one
// listed word, or one before a code.
func (l *wordList) appendParts(dst [][]byte, text []byte) [][]byte {
	if len(text) == 0 {
		return dst
	}
	if n := len(text) - 2; l.lists.Word(text) == 0 && n > 0 {
		return append(dst, text[:n], text[n:])
	}
	return append(dst, text)
}

func (c *Checker) appendRoleEvidence(dst []byte, f *Facts) []byte {
	e := c.roleEvidence(f)
	if e.match == noMatch {
		return appendNull(dst)
	}
	dst = appendJSONString(appendText(dst, `{"word":`), e.word)
	dst = appendText(appendText(dst, `,"match":"`), e.match.String())
	dst = appendText(dst, `","qualifiers":[`)
	for i, q := range e.qualifiers {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendJSONString(dst, q)
	}
	return append(dst, ']', '}')
}

func (c *Checker) appendProviderEvidence(dst []byte, f *Facts) []byte {
	m := c.lists.Match(f.Host)
	if m.Class == 0 {
		return appendNull(dst)
	}
	dst = appendJSONString(appendText(dst, `{"entry":`), m.Entry)
	dst = appendText(appendText(dst, `,"class":"`), m.Class.String())
	dst = appendBool(appendText(dst, `","subdomains":`), m.Subdomains)
	dst = appendText(dst, `,"sources":[`)
	sources, first := c.lists.Sources(), true
	for i := range sources {
		if !m.CarriedBy(i) {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		dst, first = append(appendText(append(dst, '"'), sources[i].Name), '"'), false
	}
	return append(dst, ']', '}')
}

func (c *Checker) appendTypoEvidence(dst []byte, f *Facts) []byte {
	if f.Typo == nil {
		return appendNull(dst)
	}
	dst = appendJSONString(appendText(dst, `{"target":`), f.Typo)
	dst = appendText(dst, `,"edits":[`)
	for i, edit := range c.typos.Explain(f.Host, f.Typo) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendText(appendText(dst, `{"kind":"`), edit.Kind.String())
		dst = appendDecimal(appendText(dst, `","at":`), edit.At)
		dst = appendJSONString(appendText(dst, `,"from":`), []byte(edit.From))
		dst = append(appendJSONString(appendText(dst, `,"to":`), []byte(edit.To)), '}')
	}
	return append(dst, ']', '}')
}
