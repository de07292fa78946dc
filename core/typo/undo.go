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
	shortestBare     = 5  // length of the shortest name that is recognized without an ending
	rarestBare       = 4  // rarity of the rarest
)

// withoutFront returns name without "www" or two or more digits at its front;
// nil if it has neither.
func withoutFront(name []byte) []byte {
	if rest, found := bytes.CutPrefix(name, www[:3]); found {
		return rest
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
	if len(name)%2 != 0 || !bytes.Equal(name[:half], name[half:]) {
		return nil
	}
	return name[:half]
}

// byLetters offers the targets that differ from d only by a dot left out or
// misplaced.
func (x *Index) byLetters(best *suggestion, d *typedDomain) {
	for _, t := range x.targets {
		if t.tld.in(d.meant) && equalButDots(d.text, x.domain(t)) {
			best.offer(t, costMisplacedDot+int(t.rarity))
		}
	}
}

// mayMissDot reports whether d may have a dot left out or misplaced. It excludes
// most domains, because byLetters compares with every target.
func (d *typedDomain) mayMissDot() bool {
	return len(d.name) < 2 || !d.hasTargetTLD || bytes.HasSuffix(d.name, com) || bytes.HasSuffix(d.name, com[:2])
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

// byBareName offers the targets called name, which was typed without an ending.
// A short or rare name may be a word, so it matches none.
func (x *Index) byBareName(best *suggestion, name []byte) {
	first, last := x.ofLength(len(name))
	for _, n := range x.names[first:last] {
		if len(name) >= shortestBare && n.rarity <= rarestBare && bytes.Equal(x.text(&n), name) {
			for _, t := range x.targets[n.first:n.last] {
				best.offer(t, costNoEnding+int(t.rarity))
			}
		}
	}
}
