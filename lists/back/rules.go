package main

import (
	"strings"

	"github.com/addrspec/addrspec/lists/internal/tables"
	"golang.org/x/net/publicsuffix"
)

// rule is a way to call a domain disposable with what was known on a day.
type rule struct {
	name  string
	flags func(p past, domain string) bool
}

// rules are those of the lists and, each added to them, what could lift them.
var rules = []rule{
	{"the lists as packed", past.disposable},
	{"D alone", listedBy("D")},
	{"K alone", listedBy("K")},
	{"M alone (npm mailchecker)", listedBy("M")},
	{"I alone (npm disposable-email-domains)", listedBy("I")},
	{"B alone (npm burner-email-providers)", listedBy("B")},
	{"packed, and M with I or B without the exceptions", also(func(v tables.Votes, name string) bool { return v.Any("M") && v.Any("IB") })},
	{"packed, and M alone", also(func(v tables.Votes, name string) bool { return v.Any("M") })},
	{"packed, and I or B alone", also(func(v tables.Votes, name string) bool { return v.Any("IB") })},
	{"packed, and a proven name below another ending, 6 letters or more", alsoIf(sameLabel)},
	{"packed, and a numbered series of proven names", alsoIf(sameSeries)},
	{"packed, and below a parent with 3 proven names or more", alsoIf(busyParent)},
	{"packed, and below such a parent that is no public suffix", alsoIf(busyDomain)},
}

// listedBy accepts the domains on a list and those below them.
func listedBy(letters string) func(past, string) bool {
	return func(p past, domain string) bool {
		return p.voted(domain, func(v tables.Votes, _ string) bool { return v.Any(letters) })
	}
}

// voted reports whether the votes of domain or a parent satisfy a condition. A
// public suffix does not count, as in the merge.
func (p past) voted(domain string, want func(tables.Votes, string) bool) bool {
	for name := domain; name != ""; name = tables.Parent(name) {
		if suffix, _ := publicsuffix.PublicSuffix(name); suffix == name {
			return false
		}
		if v, listed := p.votes[name]; listed && want(v, name) {
			return true
		}
	}
	return false
}

// also adds the domains that a condition on votes accepts to those of the lists,
// unless the lists have another class for them.
func also(want func(tables.Votes, string) bool) func(past, string) bool {
	return alsoIf(func(p past, domain string) bool { return p.voted(domain, want) })
}

func alsoIf(want func(past, string) bool) func(past, string) bool {
	return func(p past, domain string) bool {
		return p.disposable(domain) || p.merged.Lookup(domain) == 0 && want(p, domain)
	}
}

// sameLabel reports whether a proven name has the same first label.
func sameLabel(p past, domain string) bool {
	label := firstLabel(domain)
	return len(label) >= 6 && strings.Count(domain, ".") == 1 && p.seen.labels[label] > 0
}

// sameSeries reports whether a proven name differs in digits only.
func sameSeries(p past, domain string) bool {
	alike := digitsAlike(domain)
	label := strings.Trim(firstLabel(alike), "0-")
	return alike != domain && len(label) >= 3 && p.seen.series[alike] > 0
}

// busyParent reports whether three proven names are below the parent, which is
// not a registry's suffix.
func busyParent(p past, domain string) bool {
	parent := tables.Parent(domain)
	suffix, icann := publicsuffix.PublicSuffix(parent)
	return (suffix != parent || !icann) && strings.Contains(parent, ".") && p.seen.below[parent] >= 3
}

// busyDomain is busyParent for parents that nobody is known to give names away
// below.
func busyDomain(p past, domain string) bool {
	parent := tables.Parent(domain)
	suffix, _ := publicsuffix.PublicSuffix(parent)
	return suffix != parent && busyParent(p, domain)
}
