// Package typo finds the mail provider that a domain misspells.
//
// It compares two explanations of a domain that is in no list. Either the user
// meant a provider: the cost is that of the slips (edits.go) plus the rarity of
// the provider, by its rank among the targets. Or the domain is real: the
// shorter its name, the more likely. All costs are in bits, so they add up. The
// provider is suggested if its cost is within the budget that the length of the
// name allows and no other provider comes close.
//
// The name (the first label) and the ending (the rest) are scored separately.
// An ending outside the root zone cannot be real, so it allows more slips.
// Another ending that is in it makes another domain, except for the omissions in
// completed.
//
// The package has only the targets and the top-level domains. Whether a domain
// is in use elsewhere is for the caller to check, in the lists.
package typo

import "bytes"

// clearance is how many bits lower the cost of the best candidate must be than
// that of the next.
const clearance = 3

var (
	dot = []byte{'.'}
	www = []byte("www.")
	com = []byte("com")
)

// noSlip is the cost of a domain that is a target.
const noSlip = -1

// suggestion is the best target so far, and the lowest cost of the others.
type suggestion struct {
	target     target
	cost, next int
}

// limit returns the highest cost that still matters: a target that costs more
// than clearance above the best one changes nothing.
func (s *suggestion) limit() int { return s.cost + clearance - 1 }

func (s *suggestion) offer(target target, cost int) {
	switch {
	case cost < s.cost:
		s.target, s.cost, s.next = target, cost, s.cost
	case cost < s.next:
		s.next = cost
	}
}

// typedDomain is the parts of the domain given to Suggest.
type typedDomain struct {
	text         []byte
	name, ending []byte                 // a single label is the ending
	tld          []byte                 // the last label
	letters      uint64                 // set of the symbols of name
	stock        uint8                  // stock word in name
	rest         int                    // number of letters of name outside it
	meant        tldSet                 // what tld may be typed for
	hasTargetTLD bool                   // tld is in the table of the targets' TLDs
	omitted      uint64                 // com or net if ending is one of them with a letter left out
	registered   truth                  // registries take names under ending
	endingSet    uint64                 // set of the symbols of ending, or 0 if not yet computed
	topSet       uint64                 // set of the symbols of tld, if endingSet is not 0
	start        uint64                 // startOf ending, likewise
	dots         uint8                  // in ending, likewise
	firstCosts   [manyFirsts + 1]uint16 // 1 + cost of the slips in the first label of ending, by target.first
}

// truth is a fact that is determined when it is first needed.
type truth uint8

const (
	unknown truth = iota
	yes
	no
)

// Suggest returns the target that domain misspells. It returns nil if domain is
// a target, misspells none, or two about equally well. domain is in lower case
// and in A-label form. The result points into the targets.
func (x *Index) Suggest(domain []byte) []byte {
	isSite := startsWith(domain, www) // a web site's name typed for a mail domain
	if isSite {
		domain = domain[len(www):]
	}
	best := suggestion{cost: farApart, next: farApart}
	name, ending, found := bytes.Cut(domain, dot)
	if !found {
		name, ending = nil, domain
	}
	switch tld := lastLabel(ending); {
	case found && (isACE(name) || isACE(tld)):
		x.byLook(&best, domain)
	default:
		x.search(&best, domain, name, ending, tld)
		if !found {
			x.byBareName(&best, domain)
		}
	}
	if best.cost == noSlip && !isSite || best.next-best.cost < clearance {
		return nil
	}
	if meant := x.domain(&best.target); !bytes.Equal(meant, domain) || isSite {
		return meant
	}
	return nil // a target outside the root zone
}

// startsWith reports whether s starts with prefix, which is not empty. Few domains have
// its first byte, and the call of bytes.HasPrefix costs more than that comparison.
func startsWith(s, prefix []byte) bool {
	return len(s) > 0 && s[0] == prefix[0] && bytes.HasPrefix(s, prefix)
}

// search offers every target that domain may be meant for.
func (x *Index) search(best *suggestion, domain, name, ending, tld []byte) {
	var d typedDomain
	d.text, d.name, d.ending, d.tld = domain, name, ending, tld
	if !x.classify(&d) {
		return
	}
	if len(name) > 0 {
		x.byName(best, &d)
		x.byExactName(best, &d, withoutFront(name), costFront)
		x.byExactName(best, &d, half(name), costTwice)
	}
	if best.cost < farApart {
		return
	}
	if x.byASCIILook(best, &d); best.cost == farApart && d.mayMissDot() {
		x.byLetters(best, &d)
	}
}

// classify determines the rest of d from its parts. It returns false if the
// top-level domain is not typed for that of any target.
func (x *Index) classify(d *typedDomain) bool {
	d.meant, d.hasTargetTLD = x.meantTLDs(d.tld)
	if d.meant == 0 || d.meant == allTLDs && len(d.name) > 0 && len(d.tld) > longestFalseTLD {
		return false
	}
	d.letters = symbolSet(d.name)
	d.stock, d.rest = stockWordIn(d.name, d.letters)
	d.omitted = completed(pack(d.ending))
	return true
}
