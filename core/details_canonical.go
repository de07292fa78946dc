package core

import (
	"bytes"
	"strings"

	"github.com/addrspec/addrspec/core/internal/ascii"
	"github.com/addrspec/addrspec/lists"
)

// appendCanonical appends the identity of the mailbox of f and the name of the
// provider's rule behind it: the normalized address, in which a rule that is known
// drops the tag and what else its provider ignores. Both are null for an address
// that is not valid, and the name is null where no rule is known.
//
// Two addresses with the same identity are one mailbox. So a rule leaves alone
// what its provider cannot have issued.
func (c *Checker) appendCanonical(dst []byte, f *Facts) []byte {
	if !f.Valid {
		return appendText(dst, `null,"canonical_rule":null`)
	}
	if rule, user, domain := c.mailbox(f); rule != nil {
		if out, ok := appendMailbox(append(dst, '"'), rule, user, domain); ok {
			out = appendText(appendText(out, `","canonical_rule":"`), rule.Name)
			return append(out, '"')
		}
	}
	return appendText(appendJSONString(dst, f.Normalized), `,"canonical_rule":null`)
}

// mailbox returns the rule for the address f, the local part to which it applies
// and the domain; a nil rule if none is known.
func (c *Checker) mailbox(f *Facts) (rule *lists.Rule, user, domain []byte) {
	if !isDotAtomText(c.address.plainLocal) {
		return nil, nil, nil // no provider with a rule issues quoted local parts
	}
	if rule = c.lists.Rule(f.Host); rule != nil {
		return rule, c.address.plainLocal, f.Host
	}
	label, parent, _ := bytes.Cut(f.Host, dot)
	if rule = c.lists.Rule(parent); rule != nil && rule.Subdomains && isUserLabel(label) {
		return rule, label, parent
	}
	return nil, nil, nil
}

var dot = []byte{'.'}

// isUserLabel reports whether label can only be the name of a user. A hyphen may
// be for an underscore, which a host name cannot have.
func isUserLabel(label []byte) bool {
	for _, b := range label {
		if !isDigit(b) && (b < 'a' || b > 'z') {
			return false
		}
	}
	return true
}

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
