package mcp

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	textCheckEmail  = "Reports facts about one email address: whether it is well-formed, its normal form, role account, random-looking local part, disposable, public or forwarding provider, a misspelled domain with the suggested one, and MX records of the domain. No mail is sent and no mailbox is probed."
	textCheckEmails = "Reports the facts of check_email for 1 to 64 addresses in one call, which is faster than one call for each. For longer lists, use the command addrspec check."
	textExplain     = "Reports the facts about one address and the evidence: why it is not valid (what, where, which section of the standard, how to fix it), which entry of the lists matched its domain, which word made it a role account, which edits make it a misspelling, and the canonical form by which equal mailboxes are recognised."
)

// modeTexts say what a mode changes, at the end of each description.
var modeTexts = [...]string{
	Offline: "MX records are not looked up: mx is always null, and nothing follows from that.",
	DNS:     "MX records are looked up by DNS.",
	Service: "The check is done by an addrspec service; each different address costs its account one usage point.",
}

func instructions(m Mode) string {
	return "addrspec reports facts about email addresses. Prefer check_emails for more than one address, and explain when a person asks why. " +
		"A valid address need not have a mailbox: nothing here proves that it has one. Report facts and let the person decide; " +
		"for a typo, show the suggestion and ask. mx null means that nothing was looked up. " + modeTexts[m]
}

// summary puts the facts into a line.
func summary(f *facts) string {
	if !f.Valid {
		return quote(f.Email) + ": not a valid address."
	}
	parts := []string{"valid"}
	add := func(set bool, part string) {
		if set {
			parts = append(parts, part)
		}
	}
	add(f.Typo && f.TypoSuggestion != nil, "probably a misspelling of "+quote(value(f.TypoSuggestion)))
	add(f.MX == nil, "MX not looked up")
	add(f.MX != nil && !*f.MX, "the domain has no MX record")
	add(f.MX != nil && *f.MX, "the domain has MX records")
	add(f.Disposable, "disposable provider")
	add(f.Relay, "forwarding service")
	add(f.Public, "public provider")
	add(f.Role != nil, "role account ("+value(f.Role)+")")
	add(f.Gibberish, fmt.Sprintf("local part looks random (%.2f)", f.GibberishScore))
	return quote(f.Email) + ": " + strings.Join(parts, "; ") + "."
}

// text puts the evidence into sentences, each after a space.
func (d *details) text() string {
	var out strings.Builder
	if r := d.Refusal; r != nil {
		fmt.Fprintf(&out, " At byte %d: %s (%s).", r.Offset, r.Sentence, r.Section)
	}
	if p := d.ProviderEvidence; p != nil {
		fmt.Fprintf(&out, " The lists have %s as %s.", quote(p.Entry), p.Class)
	}
	if r := d.RoleEvidence; r != nil {
		fmt.Fprintf(&out, " The role is that of the word %s.", quote(r.Word))
	}
	if d.CanonicalRule != nil {
		fmt.Fprintf(&out, " The mailbox is %s by the rule %s.", quote(value(d.Canonical)), *d.CanonicalRule)
	}
	return out.String()
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// quote makes a part of an address safe within a line.
func quote(s string) string { return strconv.QuoteToGraphic(s) }
