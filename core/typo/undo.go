package typo

import "bytes"

// Some slips change many letters at once, so an edit distance overrates them.
// They are undone first; what remains must be a target or its name.
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

// vowels are in all short words: a short name without them is no word.
var vowels = symbolSet([]byte("aeiouy"))

// withoutFront returns name without "www" or two or more digits at its front;
// nil if it has neither.
func withoutFront(name []byte) []byte {
	if startsWith(name, www[:3]) {
		return name[3:]
	}
	digits := 0
	for digits < len(name) && name[digits] >= '0' && name[digits] <= '9' {
		digits++
	}
	if digits < 2 {
		return nil
	}
	return name[digits:]
}

// half returns half of name if both halves are equal, otherwise nil.
func half(name []byte) []byte {
	half := len(name) / 2
	if half == 0 || len(name)%2 != 0 || name[0] != name[half] || !bytes.Equal(name[:half], name[half:]) {
		return nil
	}
	return name[:half]
}

// mayMissDot reports whether d may have a dot left out or misplaced. It excludes
// most domains, because byLetters compares with every target.
func (d *typedDomain) mayMissDot() bool {
	return len(d.name) < 2 || !d.hasTargetTLD || bytes.HasSuffix(d.name, com) || bytes.HasSuffix(d.name, com[:2])
}

// byBareName offers the targets called as typed, which has no ending and
// perhaps a slip. A short or rare name may be a word, so it matches none.
func (x *Index) byBareName(best *suggestion, typed []byte) {
	for _, i := range x.bare {
		n := &x.names[i]
		if cost := x.bareCost(typed, n); cost < farApart {
			for j := n.first; j < n.last; j++ {
				t := &x.targets[j]
				best.offer(*t, costNoEnding+cost+int(t.rarity))
			}
		}
	}
}

// bareCost returns the cost of typing typed for that of n.
func (x *Index) bareCost(typed []byte, n *name) int {
	if bytes.Equal(x.text(n), typed) {
		if len(typed) < shortestBare && symbolSet(typed)&vowels != 0 { // web, live
			return farApart
		}
		return 0
	}
	if len(typed) < shortestBareSlip {
		return farApart
	}
	return x.confusion.edits(typed, x.text(n), costSkip)
}
