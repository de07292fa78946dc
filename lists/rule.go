package lists

import (
	"bytes"
	"strings"

	"github.com/addrspec/addrspec/lists/internal/format"
)

// Rule is what a provider publishes about which of its addresses are the same
// mailbox.
type Rule struct {
	Name       string // stable, such as "gmail"
	Tags       bool   // what follows a plus sign in the local part is a tag
	Subdomains bool   // tag@user.domain is user@domain
	Ignored    string // characters of the local part that do not count
	Domain     string // that each of its domains means; empty if they are different
}

// Rule returns the rule for the addresses at domain, which must be lower case
// and in A-label form, or nil if none is known. It covers no subdomain.
func (l *Lists) Rule(domain []byte) *Rule {
	if number := l.providers.find(domain); number != 0 {
		return &l.rules[number-1]
	}
	return nil
}

// parseRules parses the lines of the part about rules.
func parseRules(part []byte) (rules []Rule, err error) {
	err = eachLine(part, format.RuleFields, func(f [][]byte) bool {
		rules = append(rules, Rule{
			Name:       string(f[0]),
			Tags:       bytes.IndexByte(f[1], format.OptionTags) >= 0,
			Subdomains: bytes.IndexByte(f[1], format.OptionSubdomains) >= 0,
			Ignored:    string(f[2]),
			Domain:     string(f[3]),
		})
		return len(f[0]) > 0 && len(rules) <= format.MaxRules && onlyOf(f[2], ".-_")
	})
	if err != nil {
		return nil, &DamagedError{"a line of its rules is malformed"}
	}
	return rules, nil
}

// verifyRules checks that applying a rule twice has the effect of applying it
// once: the domain that a rule names is one of its own.
func (l *Lists) verifyRules() error {
	for i := range l.rules {
		domain := []byte(l.rules[i].Domain)
		if len(domain) > 0 && (l.providers.find(domain) != i+1 || !isHostName(domain)) {
			return &DamagedError{"the domain of a rule is not one of that rule"}
		}
	}
	return nil
}

// isHostName reports whether name is made of labels that a host name may have, and
// none that is international.
func isHostName(name []byte) bool {
	if len(name) > 253 || !onlyOf(name, format.Alphabet) {
		return false
	}
	for more := true; more; {
		var label []byte
		label, name, more = bytes.Cut(name, []byte{'.'})
		if len(label) == 0 || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' || bytes.HasPrefix(label, []byte("xn--")) {
			return false
		}
	}
	return true
}

// onlyOf reports whether every byte of s is one of set. strings.Trim would enlarge
// the module.
func onlyOf(s []byte, set string) bool {
	for _, b := range s {
		if strings.IndexByte(set, b) < 0 {
			return false
		}
	}
	return true
}
