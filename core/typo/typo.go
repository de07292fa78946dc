// Package typo finds the mail provider that a domain misspells.
//
// It compares two explanations of a domain that is in no list. Either the user
// meant a provider: the cost is that of the slips (distance.go) plus the rarity of
// the provider, by its rank among the targets. Or the domain is real: the
// shorter its name, the more likely. All costs are in bits, so they add up. The
// provider is suggested if its cost is within the budget that the length of the
// name allows and no other provider comes close.
//
// The name (the first label) and the ending (the rest, ending.go) are scored
// separately. An ending outside the root zone cannot be real, so it allows more
// slips. Another ending that is in it makes another domain, except for com and
// net with a letter left out.
//
// The package has only the targets and the top-level domains. Whether a domain
// is in use elsewhere is for the caller to check, in the lists.
package typo

import (
	"bytes"
	"math/bits"

	"github.com/addrspec/addrspec/core/internal/keyboard"
)

const (
	clearance           = 3  // bits between the cost of the best candidate and of the next
	noSlip              = -1 // the cost of a domain that is a target
	shortestTyped       = 4  // length of the shortest name that may contain a slip
	maxLengthDifference = 2  // in bytes, between the typed name and those it is compared with
	rareName            = 7  // rarity from which another vowel makes another name; see isOtherVowel
)

var (
	dot = []byte{'.'}
	www = []byte("www.")
	com = []byte("com")
	net = []byte("net")

	mail = []byte("mail")
)

// suggestion is the best target so far, and the next lowest cost.
type suggestion struct {
	target     *target
	cost, next int
}

func (s *suggestion) limit() int { return s.cost + clearance - 1 }

func (s *suggestion) offer(target *target, cost int) {
	switch {
	case cost < s.cost:
		s.target, s.cost, s.next = target, cost, s.cost
	case cost < s.next:
		s.next = cost
	}
}

// typedDomain is the parts of the domain given to Suggest.
type typedDomain struct {
	text          []byte
	name, ending  []byte // a single label is the ending, and name is nil
	tld           []byte // the last label
	letters       uint64 // set of the symbols of name
	stock         uint8  // stock word in name
	rest          int    // number of letters of name outside it
	meant         tldSet // the top-level domains that tld may be typed for
	hasTargetTLD  bool   // tld is one of Index.tlds
	omitted       []byte // com or net if ending is one of them with a letter left out
	tldLetters    uint64 // set of the symbols of tld
	endingLetters uint64 // of those of ending without dots, by readEnding
	dots          int    // in ending, likewise
}

func split(domain []byte) (name, ending, tld []byte) {
	name, ending, found := bytes.Cut(domain, dot)
	if !found {
		name, ending = nil, domain
	}
	return name, ending, lastLabel(ending)
}

// Suggest returns the target that domain misspells. It returns nil if domain is
// a target, misspells none, or two about equally well. domain is in lower case
// and in A-label form. The result points into the targets.
func (x *Index) Suggest(domain []byte) []byte {
	isSite := startsWith(domain, www) // a web site's name typed for a mail domain
	if isSite {
		domain = domain[len(www):]
	}
	best := suggestion{cost: farApart, next: farApart}
	var d typedDomain
	d.text = domain
	d.name, d.ending, d.tld = split(domain)
	switch {
	case d.name == nil:
		x.search(&best, &d)
		x.byBareName(&best, domain)
	case isACE(d.name) || isACE(d.tld):
		x.byLook(&best, domain)
	default:
		x.search(&best, &d)
	}
	if best.cost == noSlip && !isSite || best.next-best.cost < clearance {
		return nil
	}
	if meant := x.domain(best.target); !bytes.Equal(meant, domain) || isSite {
		return meant
	}
	return nil // a target outside the root zone
}

// startsWith is bytes.HasPrefix, whose call costs more than the comparison of one byte.
func startsWith(s, prefix []byte) bool {
	return len(s) > 0 && s[0] == prefix[0] && bytes.HasPrefix(s, prefix)
}

// Some slips change many letters at once, so an edit distance overrates them.
// They are undone first; the rest must be a target or its name.
const (
	costMisplacedDot = 8  // "gmailcom", "yahooc.om", "t.online.de"
	costFront        = 8  // "1975yahoo.com", where part of the local part moved; "wwwgmail.com"
	costTwice        = 8  // "gmailgmail.com"
	undoneBudget     = 11 // enough for the best-known names only
	costNoEnding     = 6  // "hotmail"
	shortestBare     = 5  // length of the shortest name with a vowel that is recognized without an ending
	shortestBareSlip = 6  // length of the shortest one with a slip
	rarestBare       = 4  // rarity of the rarest
)

func (x *Index) search(best *suggestion, d *typedDomain) {
	if !x.classify(d) {
		return
	}
	if name := d.name; len(name) > 0 {
		x.byName(best, d)
		digits := 0
		for digits < len(name) && '0' <= name[digits] && name[digits] <= '9' {
			digits++
		}
		if startsWith(name, www[:3]) {
			x.byExactName(best, d, name[3:], costFront)
		} else if digits >= 2 {
			x.byExactName(best, d, name[digits:], costFront)
		}
		if half := len(name) / 2; name[0] == name[half] && bytes.Equal(name[:half], name[half:]) {
			x.byExactName(best, d, name[half:], costTwice)
		}
	}
	if best.cost == farApart {
		x.byASCIILook(best, d)
	}
	mayMissDot := len(d.name) < 2 || !d.hasTargetTLD || bytes.HasSuffix(d.name, com) || bytes.HasSuffix(d.name, com[:2])
	if best.cost != farApart || !mayMissDot {
		return
	}
	// The targets that differ only by a dot left out or misplaced.
	for at := x.slotOf(d.text); x.dotless[at] != 0; at = (at + 1) % len(x.dotless) {
		t := &x.targets[x.dotless[at]-1]
		if t.tld.in(d.meant) && equalButDots(d.text, x.domain(t)) {
			best.offer(t, costMisplacedDot+int(t.rarity))
		}
	}
}

func (x *Index) byName(best *suggestion, d *typedDomain) {
	if len(d.name) < shortestTyped {
		x.byExactName(best, d, d.name, 0)
		return
	}
	budget := budgetOf(nameBudget[:], len(d.name)) // no budget is higher
	slips := budget / costAdjacent
	if d.meant == allTLDs { // all names are compared, unless d has one of them
		if n := x.called(d.name); n != nil {
			x.byEnding(best, d, n, 0, 0)
			return
		}
		slips = 1
	}
	difference := min(slips, maxLengthDifference)
	list := x.candidates(d, len(d.name)-difference, len(d.name)+difference)
	for i := range list {
		if c := &list[i]; d.mayMean(c, slips, budget) {
			x.byNearName(best, d, c)
		}
	}
}

// mayMean reports whether c is worth a comparison. A slip adds two symbols at most that
// only one of the names has.
func (d *typedDomain) mayMean(c *candidate, slips, budget int) bool {
	return bits.OnesCount64(d.letters^c.letters) <= 2*slips &&
		leastCost(d.letters, c.letters, len(d.name)-int(c.size))+int(c.least) <= budget
}

func (x *Index) byNearName(best *suggestion, d *typedDomain, c *candidate) {
	n := &x.names[c.name]
	meant := x.text(n)
	if n.tlds&d.meant == 0 {
		return
	}
	if d.letters == c.letters && bytes.Equal(d.name, meant) {
		x.byEnding(best, d, n, 0, 0)
		return
	}
	budget := x.budget(d, n)
	forSlips := min(budget, best.limit()) - int(n.least)
	if d.meant == allTLDs {
		forSlips = min(forSlips, costExchange) // a single slip besides those in the ending
	}
	// If both names have four letters, exchanging one gives another real name.
	isAnother := len(d.name) == 4 && n.size == 4 && d.letters != c.letters
	if isAnother || leastCost(d.letters, c.letters, len(d.name)-int(c.size)) > forSlips {
		return
	}
	cost := edits(d.name, meant, forSlips)
	if cost <= forSlips && (n.rarity < rareName || !isOtherVowel(d.name, meant)) {
		x.byEnding(best, d, n, cost, budget)
	}
}

func (x *Index) byExactName(best *suggestion, d *typedDomain, name []byte, cost int) {
	if n := x.called(name); n != nil {
		x.byEnding(best, d, n, cost, undoneBudget)
	}
}

func (x *Index) called(text []byte) *name {
	first, last := x.ofLength(len(text))
	for i := first; i < last; i++ {
		if n := &x.names[i]; x.lines[n.at] == text[0] && bytes.Equal(x.text(n), text) {
			return n
		}
	}
	return nil
}

// byEnding offers the targets of n with an ending close to that of d. cost is that of the
// slips in the name. If it is not 0, it must be within budget together with the rarity.
func (x *Index) byEnding(best *suggestion, d *typedDomain, n *name, cost, budget int) {
	inBudget := cost == 0 || cost+int(n.rarity) <= budget
	last := n.last
	if d.meant == allTLDs {
		if cost == 0 && len(d.name) > shortestTyped && n.rarity <= rarestMailEnding && bytes.Equal(d.ending, mail) {
			t := &x.targets[n.first]
			best.offer(t, costMailEnding+int(t.rarity))
			return
		}
		if cost > 0 {
			last = n.lastWithSlip()
		}
	}
	for i := n.first; i < last; i++ {
		t := &x.targets[i]
		before, limit := cost+int(t.rarity), best.limit()
		if d.meant == allTLDs && before > limit { // and the rest are rarer
			return
		}
		switch {
		case !t.tld.in(d.meant):
		case d.tldLetters&x.endings[t.ending].topLevelLetters == 0: // no slip but another word
		case d.meant != allTLDs && bytes.Equal(d.ending, x.endings[t.ending].text):
			if cost == 0 {
				best.offer(t, noSlip)
			} else if cost+int(t.rarityInEnding) <= budget {
				best.offer(t, cost+int(t.rarityInEnding))
			}
		case inBudget && before <= limit:
			best.offer(t, before+x.endingCost(d, t, cost == 0, limit-before))
		}
	}
}

// slotOf returns where in x.dotless the targets with the letters of domain begin.
func (x *Index) slotOf(domain []byte) int {
	const offset, prime = 2166136261, 16777619 // FNV-1a
	hash := uint32(offset)
	for _, b := range domain {
		if b != '.' && b != '-' {
			hash = (hash ^ uint32(b)) * prime
		}
	}
	return int(hash^hash>>16) & (len(x.dotless) - 1)
}

// equalButDots reports whether a and b are equal without their dots. A dot of a
// may replace a hyphen of b; otherwise a must not have more dots than b.
func equalButDots(a, b []byte) bool {
	i, j, dots := 0, 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == '.' && b[j] == '-':
			i, j = i+1, j+1
		case i < len(a) && a[i] == '.':
			i, dots = i+1, dots+1
		case j < len(b) && b[j] == '.':
			j, dots = j+1, dots-1
		case i < len(a) && j < len(b) && a[i] == b[j]:
			i, j = i+1, j+1
		default:
			return false
		}
	}
	return dots <= 0
}

// byBareName offers the targets called as typed, perhaps with a slip. A short or rare
// name may be a word, so it matches none.
func (x *Index) byBareName(best *suggestion, typed []byte) {
	for _, i := range x.bare {
		n := &x.names[i]
		cost := farApart
		if bytes.Equal(x.text(n), typed) {
			if len(typed) >= shortestBare || symbolSet(typed)&vowels == 0 { // not web, live
				cost = 0
			}
		} else if len(typed) >= shortestBareSlip {
			cost = edits(typed, x.text(n), costSkip)
		}
		for j := n.first; j < n.last && cost < farApart; j++ {
			best.offer(&x.targets[j], costNoEnding+cost+int(x.targets[j].rarity))
		}
	}
}

// vowels are in all short words: a short name without them is no word.
var vowels = symbolSet([]byte("aeiouy"))

// isOtherVowel reports whether typed and meant, which differ, do so in one vowel only and
// its key is not adjacent: more companies are called frontiir or excito than users misspell
// frontier and excite.
func isOtherVowel(typed, meant []byte) bool {
	i := 0
	for i < len(typed) && i < len(meant) && typed[i] == meant[i] {
		i++
	}
	if len(typed) != len(meant) || !bytes.Equal(typed[i+1:], meant[i+1:]) {
		return false
	}
	both := uint64(1)<<symbol(typed[i]) | 1<<symbol(meant[i])
	return both&^vowels == 0 && !adjacent.has(typed[i], meant[i])
}

// nameBudget bounds the cost of the slips in a name plus its rarity, by the length of the
// shorter of the two names. Nearly every short name is some real domain.
var nameBudget = [...]int{3: 9, 4: 11, 5: 14, 6: 21}

// compoundBudget replaces nameBudget if both names contain the same stock word, by the
// number of letters of the typed name outside it. Real services have put every letter, pair
// and short word before "mail" and "cloud", so the stock word itself is no evidence.
//
// The most used target is an exception if the letter is the key next to its own: hmail and
// fmail are typed for gmail, and no list of mail services has these two.
var compoundBudget = [...]int{1: 0, 2: 12, 3: 14, 4: 15, 5: 18, 6: 21}

func budgetOf(budgets []int, length int) int { return budgets[min(length, len(budgets)-1)] }

// beside has, for each letter, those next to it in the middle row, which all layouts share.
var beside = func() (r relation) {
	row := keyboard.QWERTY.LetterRows()[1]
	for i := range len(row) - 1 {
		r.join(row[i], row[i+1])
	}
	return r
}()

func (x *Index) budget(d *typedDomain, n *name) int {
	if d.stock != noStockWord && d.stock == n.stock {
		if d.rest == 1 && n.rarity == 0 && beside.has(d.name[0], x.text(n)[0]) {
			return costAdjacent
		}
		return budgetOf(compoundBudget[:], d.rest)
	}
	return budgetOf(nameBudget[:], min(len(d.name), int(n.size)))
}

// stockWords are words that names of mail services are composed of.
var (
	stockWords       = [...][]byte{1: mail, 2: []byte("cloud")}
	stockWordLetters = [...]uint64{1: symbolSet(stockWords[1]), 2: symbolSet(stockWords[2])}
)

const noStockWord = 0

// stockWordIn returns which stock word name contains and how many letters are
// outside it. letters is the set of name's letters.
func stockWordIn(name []byte, letters uint64) (word uint8, rest int) {
	for i := 1; i < len(stockWords); i++ {
		if stockWordLetters[i]&^letters == 0 && bytes.Contains(name, stockWords[i]) {
			return uint8(i), len(name) - len(stockWords[i])
		}
	}
	return noStockWord, len(name)
}
