package typo

import (
	"bytes"
)

const (
	endingBudget      = 14      // for an ending with slips
	falseEndingBudget = 16      // if the typed TLD does not exist
	exactNameBudget   = 22      // if the name has no slip, besides
	bothBudget        = 8       // if the name has a slip too
	missingDotBudget  = costDot // and no other slip
	costCutShort      = 6       // "gmail.c", "yahoo.co.i"
	costRepeat        = 8       // "yahoo.com.com"
	costTail          = 6       // "gmail.comse"
	costTailLetter    = 3       // for each letter of it
	costMailEnding    = 12      // "proton.mail", the service's name as it is spoken
	rarestMailEnding  = 6       // rarity of the rarest name with such an ending
)

// longestFalseTLD is the length of the longest top-level domain that is taken for
// a slip. The longest of a target has three letters, and few fit in a tail.
const longestFalseTLD = 10

// endingCost returns the cost of typing the ending of d for that of t, whose
// TLD is in d.meant. It returns farApart if the cost is over budget or limit, or the
// typed ending is another real one. exact is set if the name has no slip.
func (x *Index) endingCost(d *typedDomain, t *target, exact bool, limit int) int {
	e := &x.endings[t.ending]
	budget, forSlips := endingBudget, endingBudget
	switch {
	case d.meant == allTLDs && exact:
		budget = exactNameBudget
		if len(d.name) < shortestTyped { // also a name of hosts, so more must speak for a slip
			budget = falseEndingBudget
		}
		if len(e.text) <= 2 {
			forSlips = bothBudget
		}
	case d.meant == allTLDs:
		budget, forSlips = falseEndingBudget, bothBudget
	case len(d.omitted) > 0 && bytes.Equal(d.omitted, e.text):
		return costCutShort
	case !bytes.Equal(d.tld, e.topLevel) || x.root.contains(d.ending):
		// co.jp is the companies' namespace of a registry, ne.jp that of providers.
		return farApart
	default:
		d.readEnding()
	}
	cost := d.endingSlips(e, min(forSlips, limit)*3/2) * 2 / 3 // cheaper than in a name: few endings are in use
	if tail := tailCost(d.ending, e.text); tail <= budget {
		cost = min(cost, tail)
	}
	if cost > budget {
		return farApart
	}
	return cost
}

// endingSlips returns the cost of typing the ending of d for e by single slips, or farApart
// or more if it exceeds budget.
func (d *typedDomain) endingSlips(e *ending, budget int) int {
	if d.dots < e.dots {
		budget = min(budget, missingDotBudget)
	}
	switch {
	case d.dots > e.dots || leastCost(d.endingLetters, e.letters, len(d.ending)-len(e.text)) > budget:
		return farApart // more dots: a host of another domain
	case d.dots == 0:
		return edits(d.ending, e.text, budget)
	case leastCost(d.tldLetters, e.topLevelLetters, len(d.tld)-len(e.topLevel)) > e.topBudget():
		return farApart
	}
	typed, _, _ := bytes.Cut(d.ending, dot)
	meant, _, _ := bytes.Cut(e.text, dot)
	cost := edits(typed, meant, budget)
	return cost + edits(d.tld, e.topLevel, min(budget-cost, e.topBudget()))
}

func (d *typedDomain) readEnding() {
	d.endingLetters, d.dots = symbolSet(d.ending)&^dotSymbol, bytes.Count(d.ending, dot)
}

// tailCost returns the cost of cutting meant short, repeating its TLD, or letters after it.
func tailCost(typed, meant []byte) int {
	same := 0
	for same < len(typed) && same < len(meant) && typed[same] == meant[same] {
		same++
	}
	tail := typed[same:]
	switch {
	case len(tail) == 0:
		return costCutShort
	case same < len(meant):
		return farApart
	case tail[0] == '.' && bytes.Equal(tail[1:], lastLabel(meant)):
		return costRepeat
	case bytes.IndexByte(tail, '.') >= 0:
		return farApart
	}
	return costTail + len(tail)*costTailLetter
}

func lastLabel(domain []byte) []byte { return domain[bytes.LastIndexByte(domain, '.')+1:] }

// tldID is the index of a top-level domain in Index.tlds. Those that have no room there
// share otherTLD.
type tldID uint8

const otherTLD tldID = 63

// tldSet is a set of tldIDs.
type tldSet uint64

const allTLDs = ^tldSet(0)

func (id tldID) in(set tldSet) bool { return set>>(id&63)&1 != 0 }

func pack(label []byte) (packed uint64) {
	if len(label) > 8 {
		return 0
	}
	for _, b := range label {
		packed = packed<<8 | uint64(b)
	}
	return packed
}

func (x *Index) indexTLD(packed uint64) (i int, found bool) {
	end := len(x.tlds)
	for i < end {
		if middle := (i + end) / 2; x.tlds[middle] < packed {
			i = middle + 1
		} else {
			end = middle
		}
	}
	return i, i < len(x.tlds) && x.tlds[i] == packed
}

func (x *Index) setOf(label []byte) tldSet {
	if i, found := x.indexTLD(pack(label)); found {
		return 1 << (i & 63)
	}
	return 0
}

// classify determines the top-level domains that the one of d may be typed for: itself, the
// one that it is an omission of, or every one if it is not in the root zone and has no other
// use. It returns false if there is none, else it sets the rest of d too.
func (x *Index) classify(d *typedDomain) bool {
	d.meant = x.setOf(d.tld)
	d.hasTargetTLD = d.meant != 0
	var complete []byte
	switch string(d.tld) { // a country's, typed far more often by omission than on purpose
	case "co", "cm", "om":
		complete = com
	case "ne", "et":
		complete = net
	}
	if complete != nil {
		d.meant |= x.setOf(complete)
	}
	if len(d.ending) == len(d.tld) {
		d.omitted = complete
	}
	switch {
	case d.meant != 0:
	case !x.root.contains(d.tld):
		tooLong := len(d.name) > 0 && len(d.tld) > longestFalseTLD
		if tooLong || len(d.tld) == 0 || IsSpecialUse(d.tld) {
			return false
		}
		switch string(d.tld) {
		case "aa", "xx", "zz": // user-assigned in ISO 3166-1, so never a country
			return false
		}
		d.meant = allTLDs
		d.readEnding()
	case len(x.tlds) < int(otherTLD): // then no TLD of up to 8 bytes has otherTLD
		return false
	default:
		d.meant = 1 << otherTLD
	}
	d.letters, d.tldLetters = symbolSet(d.name), symbolSet(d.tld)
	d.stock, d.rest = stockWordIn(d.name, d.letters)
	return true
}

// rootZone is the endings under which registries take names, one a line in byte order:
// the top-level domains, and endings of two labels such as co.jp.
type rootZone struct {
	lines  []byte
	starts []uint16    // of each line, and the end
	from   [256]uint16 // from[b] is the first line that begins with b or a greater byte
	pairs  [26]uint32  // the lines of two letters: for the first one a bit for each second one
}

func newRootZone(lines []byte) rootZone {
	lines = lines[:min(len(lines), maxLines-1)]
	z := rootZone{lines: lines, starts: make([]uint16, 0, 2+bytes.Count(lines, newline))}
	at := 0
	for at < len(lines) {
		z.starts = append(z.starts, uint16(at))
		line := lineAt(lines, at)
		if first, second, ok := pairOf(line); ok {
			z.pairs[first] |= 1 << second
		}
		for b := range z.from {
			if len(line) == 0 || b > int(line[0]) {
				z.from[b]++
			}
		}
		at += len(line) + 1
	}
	z.starts = append(z.starts, uint16(at))
	return z
}

// contains reports whether registries take names under ending. Most endings are those of
// countries or the oldest ones, which take no search.
func (z *rootZone) contains(ending []byte) bool {
	if first, second, ok := pairOf(ending); ok {
		return z.pairs[first]>>(second&31)&1 != 0
	}
	switch string(ending) {
	case "com", "net", "org":
		return true
	}
	if len(ending) == 0 || ending[0] == 0xFF {
		return false
	}
	low, high := int(z.from[ending[0]]), int(z.from[ending[0]+1])
	for low < high {
		middle := (low + high) / 2
		switch c := bytes.Compare(z.lines[z.starts[middle]:z.starts[middle+1]-1], ending); {
		case c == 0:
			return true
		case c < 0:
			low = middle + 1
		default:
			high = middle
		}
	}
	return false
}

func pairOf(label []byte) (first, second byte, ok bool) {
	if len(label) != 2 {
		return 0, 0, false
	}
	first, second = label[0]-'a', label[1]-'a'
	return first, second, first < 26 && second < 26
}

// IsTopLevel reports whether label is in the root zone.
func (x *Index) IsTopLevel(label []byte) bool { return x.root.contains(label) }

// IsSpecialUse reports whether label, which is not in the root zone, is a
// top-level domain with a special use, so that a name under it is a host or an
// example and no misspelling. home.arpa (RFC 8375) is not here: arpa is in the root zone.
func IsSpecialUse(label []byte) bool {
	switch string(label) {
	case "test", "example", "invalid", "localhost", // RFC 6761 section 6
		"local",                       // RFC 6762 section 3
		"onion",                       // RFC 7686
		"alt",                         // RFC 9476
		"internal",                    // reserved by ICANN for private use in 2024
		"intranet", "private", "corp", // RFC 6762 appendix G
		"home", "lan", // RFC 6762 appendix G
		"localdomain": // the default of many systems
		return true
	}
	return false
}
