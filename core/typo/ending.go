package typo

import (
	"bytes"
	"math/bits"
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

// longestTail is the length of the longest tail if the name has a slip too.
const longestTail = (falseEndingBudget - costTail) / costTailLetter

var mail = []byte("mail")

// endingCost returns the cost of typing the ending of d for that of t, whose
// TLD is in d.meant. It returns farApart if the cost is over budget or limit, or
// the typed ending is another real one.
func (x *Index) endingCost(d *typedDomain, t *target, limit int) int {
	meant := x.ending(t)
	switch {
	case d.omitted != 0 && d.omitted == pack(meant):
		return costCutShort
	case x.isRegistered(d) || !bytes.Equal(d.tld, x.topLevel(t)):
		return farApart
	}
	budget := min(endingBudget, limit)
	return within(budget, tailCost(d.ending, meant), x.endingSlips(d, t, budget))
}

// falseEndingCost is endingCost if the typed TLD does not exist. exact is
// set if the name has no slip.
func (x *Index) falseEndingCost(d *typedDomain, t *target, exact bool, limit int) int {
	budget, forSlips := falseEndingBudget, bothBudget
	if exact {
		if budget = d.exactBudget(); t.ending > 2 {
			forSlips = endingBudget
		}
	}
	budget = min(budget, limit)
	tail := farApart
	if d.isStart(t) {
		tail = tailCost(d.ending, x.ending(t))
	}
	return within(budget, tail, x.endingSlips(d, t, min(budget, forSlips)))
}

// within returns the lower cost, or farApart if it is over budget.
func within(budget, a, b int) int {
	if cost := min(a, b); cost <= budget {
		return cost
	}
	return farApart
}

// endingSlips returns the cost of single slips that lead from the ending of t to
// that of d. They are cheaper than in a name: few endings are in use.
func (x *Index) endingSlips(d *typedDomain, t *target, budget int) int {
	d.readEnding()
	budget = budget * 3 / 2
	if d.dots < t.dots {
		budget = min(budget, missingDotBudget)
	}
	switch {
	case d.dots > t.dots, d.leastEndingSlips(t) > budget: // more dots: a host of another domain
		return farApart
	case d.dots == 1:
		return x.slipsByLabel(d, t, budget) * 2 / 3
	}
	return x.confusion.edits(d.ending, x.ending(t), budget) * 2 / 3
}

// slipsByLabel returns the cost of the slips in both labels of an ending. Many
// targets have the same first label, such as com, so its cost is kept.
func (x *Index) slipsByLabel(d *typedDomain, t *target, budget int) int {
	cost := x.slipsInFirst(d, t)
	if budget = min(budget-cost, t.topBudget()); d.leastTopSlips(t) > budget {
		return farApart
	}
	return cost + x.confusion.edits(d.tld, x.topLevel(t), budget)
}

// slipsInFirst returns the cost of the slips in the first label of an ending of
// two labels.
func (x *Index) slipsInFirst(d *typedDomain, t *target) int {
	if cost := d.firstCosts[t.first]; cost != 0 {
		return int(cost) - 1
	}
	typed, _, _ := bytes.Cut(d.ending, dot)
	meant, _, _ := bytes.Cut(x.ending(t), dot)
	cost := x.confusion.edits(typed, meant, endingBudget*3/2)
	if t.first != manyFirsts {
		d.firstCosts[t.first] = uint16(cost + 1)
	}
	return cost
}

// leastEndingSlips returns a lower bound of the cost of slips between the ending
// of t and that of d.
func (d *typedDomain) leastEndingSlips(t *target) int {
	return leastCost(d.endingSet&^dotSymbol, t.letters&^dotSymbol, len(d.ending)-int(t.ending))
}

// mayHaveEnding reports whether the ending of d may have been typed for that of a
// target called n, if there is a slip in the name too. It excludes most names
// where the typed TLD does not exist.
func (x *Index) mayHaveEnding(d *typedDomain, n *name) bool {
	if d.meant != allTLDs {
		return true
	}
	for i := n.first; i < d.lastVariant(n); i++ {
		t := &x.targets[i]
		if d.mayEndAs(t) && (d.leastEndingSlips(t) <= bothBudget*3/2 || d.isStart(t) && len(d.ending)-int(t.ending) <= longestTail) {
			return true
		}
	}
	return false
}

// isRegistered reports whether registries take names under the ending of d, so
// that it is none for another one: co.jp is the companies' namespace, ne.jp that
// of providers.
func (x *Index) isRegistered(d *typedDomain) bool {
	if d.registered == unknown {
		d.registered = no
		if x.root.contains(d.ending) {
			d.registered = yes
		}
	}
	return d.registered == yes
}

// exactBudget returns the budget of an ending outside the root zone if the
// name has no slip. Names of fewer than four letters are also names of hosts, so
// more must speak for a slip.
func (d *typedDomain) exactBudget() int {
	if len(d.name) >= shortestTyped {
		return exactNameBudget
	}
	return falseEndingBudget
}

// mayEndAs excludes most targets whose ending the one of d cannot be meant for. If
// the two top-level domains share no letter, the typed one is no slip but another
// word. In a tail or an ending cut short, one is the start of the other.
func (d *typedDomain) mayEndAs(t *target) bool {
	d.readEnding()
	return d.topSet&t.topSet != 0 && (d.isStart(t) || d.mayHaveSlips(t))
}

func (d *typedDomain) mayHaveSlips(t *target) bool {
	if d.dots > t.dots || d.dots > 0 && d.leastTopSlips(t) > t.topBudget() {
		return false
	}
	return d.leastEndingSlips(t) <= endingBudget*3/2
}

// leastTopSlips returns a lower bound of the cost of slips between the top-level
// domains.
func (d *typedDomain) leastTopSlips(t *target) int {
	return leastCost(d.topSet, t.topSet, len(d.tld)-int(t.top))
}

// topBudget returns the budget of slips in the top-level domain of t: two
// would leave nothing of two letters.
func (t *target) topBudget() int {
	if t.top <= 2 {
		return costExchange
	}
	return endingBudget * 3 / 2
}

// isStart reports whether the typed ending or that of t is the start of the
// other, by their first bytes.
func (d *typedDomain) isStart(t *target) bool {
	same := bits.LeadingZeros64(d.start^t.start) / 8
	return same >= min(len(d.ending), int(t.ending), 8)
}

// startOf returns the first 8 bytes of ending as one word.
func startOf(ending []byte) (start uint64) {
	for i := range 8 {
		start <<= 8
		if i < len(ending) {
			start |= uint64(ending[i])
		}
	}
	return start
}

// readEnding determines the set of the symbols of the typed ending and the number
// of its dots, unless that is done.
func (d *typedDomain) readEnding() {
	if d.endingSet == 0 {
		d.endingSet, d.topSet = symbolSet(d.ending), symbolSet(d.tld)
		d.start = startOf(d.ending)
		d.dots = uint8(bytes.Count(d.ending, dot))
	}
}

// tailCost returns the cost of cutting meant short, repeating its TLD, or
// typing letters after it.
func tailCost(typed, meant []byte) int {
	if len(typed) > 0 && bytes.HasPrefix(meant, typed) {
		return costCutShort
	}
	tail, found := bytes.CutPrefix(typed, meant)
	switch {
	case !found:
		return farApart
	case tail[0] == '.' && bytes.Equal(tail[1:], lastLabel(meant)):
		return costRepeat
	case bytes.IndexByte(tail, '.') >= 0:
		return farApart
	}
	return costTail + len(tail)*costTailLetter
}

func lastLabel(domain []byte) []byte { return domain[bytes.LastIndexByte(domain, '.')+1:] }

// tldID is the number of a top-level domain in a tldTable. Those that are not in
// the table share otherTLD.
type tldID uint8

const otherTLD tldID = 63

// tldSet is a set of tldIDs.
type tldSet uint64

const allTLDs = ^tldSet(0)

func (id tldID) in(set tldSet) bool { return set>>(id&63)&1 != 0 }

// pack returns label as one word, or 0 if it has more than 8 bytes.
func pack(label []byte) (packed uint64) {
	if len(label) > 8 {
		return 0
	}
	for _, b := range label {
		packed = packed<<8 | uint64(b)
	}
	return packed
}

// tldTable is a hash table of the targets' top-level domains with linear
// probing.
type tldTable struct {
	packed []uint64   // by tldID
	slots  [128]uint8 // tldID plus 1, or 0; twice the number of IDs, so some stay free
}

// slot returns the index in slots that packed has or would get.
func (t *tldTable) slot(packed uint64) int {
	i := int(packed * 0x9E3779B97F4A7C15 >> 57)
	for t.slots[i] != 0 && t.packed[t.slots[i]-1] != packed {
		i = (i + 1) % len(t.slots)
	}
	return i
}

// set returns the set that has only packed, or the empty set if the table lacks
// it.
func (t *tldTable) set(packed uint64) tldSet {
	if id := t.slots[t.slot(packed)]; id != 0 {
		return 1 << (id - 1)
	}
	return 0
}

// add returns the ID of label, adding it if the table has room.
func (t *tldTable) add(label []byte) tldID {
	packed := pack(label)
	i := t.slot(packed)
	if t.slots[i] != 0 {
		return tldID(t.slots[i] - 1)
	}
	if t.isFull() || packed == 0 {
		return otherTLD
	}
	t.packed = append(t.packed, packed)
	t.slots[i] = uint8(len(t.packed))
	return tldID(len(t.packed) - 1)
}

func (t *tldTable) isFull() bool { return len(t.packed) == int(otherTLD) }

// meantTLDs returns the top-level domains that label may be typed for: label
// itself, the one that it is an omission of, or every one if label is not in
// the root zone and has no other use. known reports whether x.tlds has label.
func (x *Index) meantTLDs(label []byte) (meant tldSet, known bool) {
	if len(label) == 0 {
		return 0, false
	}
	packed := pack(label)
	meant = x.tlds.set(packed)
	known = meant != 0
	if complete := completed(packed); complete != 0 {
		meant |= x.tlds.set(complete)
	}
	switch {
	case meant != 0:
		return meant, known
	case !x.root.contains(label):
		if IsSpecialUse(label) || isPlaceholder(label) {
			return 0, known
		}
		return allTLDs, known
	case !x.tlds.isFull(): // then no TLD of up to 8 bytes has otherTLD
		return 0, known
	}
	return 1 << otherTLD, known
}

// completed returns com or net if tld is one of them with a letter left out: a
// country's TLD that is typed far more often by omission than on purpose. It
// returns 0 for any other.
func completed(tld uint64) uint64 {
	const com, net = 'c'<<16 | 'o'<<8 | 'm', 'n'<<16 | 'e'<<8 | 't'
	switch tld {
	case 'c'<<8 | 'o', 'c'<<8 | 'm', 'o'<<8 | 'm':
		return com
	case 'n'<<8 | 'e', 'e'<<8 | 't':
		return net
	}
	return 0
}

// rootZone is the endings under which registries take names, one a line in byte
// order: the top-level domains of the root zone, and endings of two labels such
// as co.jp. It has the offset of each line and of the end.
type rootZone struct {
	lines  []byte
	starts []uint16
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
		at += len(line) + 1
	}
	z.starts = append(z.starts, uint16(at))
	z.indexFirstBytes()
	return z
}

func (z *rootZone) indexFirstBytes() {
	n := 0
	for b := range z.from {
		for n < z.size() && (len(z.line(n)) == 0 || int(z.line(n)[0]) < b) {
			n++
		}
		z.from[b] = uint16(n)
	}
}

func (z *rootZone) size() int         { return len(z.starts) - 1 }
func (z *rootZone) line(i int) []byte { return z.lines[z.starts[i] : z.starts[i+1]-1] }

// contains reports whether registries take names under ending, by binary search.
func (z *rootZone) contains(ending []byte) bool {
	if len(ending) == 0 || ending[0] == 0xFF {
		return false
	}
	low, high := int(z.from[ending[0]]), int(z.from[ending[0]+1])
	for low < high {
		middle := (low + high) / 2
		switch c := bytes.Compare(z.line(middle), ending); {
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

// pairOf returns the numbers of the letters of a label that has two, as those of all
// countries have.
func pairOf(label []byte) (first, second byte, ok bool) {
	if len(label) != 2 {
		return 0, 0, false
	}
	first, second = label[0]-'a', label[1]-'a'
	return first, second, first < 26 && second < 26
}

// IsTopLevel reports whether label is in the root zone. Most labels are those of countries
// or the oldest ones, which take no search.
func (x *Index) IsTopLevel(label []byte) bool {
	if first, second, ok := pairOf(label); ok {
		return x.root.pairs[first]>>(second&31)&1 != 0
	}
	switch string(label) {
	case "com", "net", "org":
		return true
	}
	return x.root.contains(label)
}

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

// isPlaceholder reports whether label is user-assigned in ISO 3166-1, so never a country.
func isPlaceholder(label []byte) bool {
	switch string(label) {
	case "aa", "xx", "zz":
		return true
	}
	return false
}
