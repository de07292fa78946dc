package typo

import "bytes"

// Slips that are undone rather than measured, since no count of letters tells
// how little they change.
const (
	costMisplacedDot = 8  // "gmailcom", "yahooc.om", "t.online.de"
	costFront        = 8  // "1975yahoo.com": part of the local part slid over; "wwwgmail.com"
	costTwice        = 8  // "gmailgmail.com"
	undoneBudget     = 11 // room for the best-known names alone
	costNoEnding     = 6  // "hotmail"
	shortestBare     = 5  // names without an ending: at least as long,
	rarestBare       = 4  // and no rarer than this
)

// byExactName offers the targets called name, what is left of the typed one
// once a slip is undone, which costs cost.
func (x *Index) byExactName(best *suggestion, d *typedDomain, name []byte, cost int) {
	first, last := x.sized(len(name))
	for i := first; i < last; i++ {
		if n := &x.names[i]; bytes.Equal(x.text(n), name) {
			x.byEnding(best, d, n, cost, undoneBudget)
		}
	}
}

// withoutFront cuts "www" or two or more digits off the front of name; nil
// where there are none.
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

// once returns the half of a name written twice; nil for another.
func once(name []byte) []byte {
	half := len(name) / 2
	if len(name)%2 != 0 || !bytes.Equal(name[:half], name[half:]) {
		return nil
	}
	return name[:half]
}

// byLetters offers the targets whose letters are those of domain with the dot
// left out or misplaced.
func (x *Index) byLetters(best *suggestion, d *typedDomain) {
	for _, t := range x.targets {
		if t.top.in(d.meant) && equalButDots(d.text, x.domain(t)) {
			best.offer(t, costMisplacedDot+int(t.rarity))
		}
	}
}

// mayMissDot tells the few domains worth a pass over all targets from the many
// that end well.
func (d *typedDomain) mayMissDot() bool {
	return len(d.name) < 2 || !d.isTop || bytes.HasSuffix(d.name, com) || bytes.HasSuffix(d.name, com[:2])
}

// equalButDots reports whether a and b are the same once every dot is dropped,
// and a has no more of them, or one in place of a hyphen.
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

// byBareName offers the targets called name, which has no ending at all. Only
// a name that is known to all and is no word says as much.
func (x *Index) byBareName(best *suggestion, name []byte) {
	first, last := x.sized(len(name))
	for _, n := range x.names[first:last] {
		if len(name) >= shortestBare && n.rarity <= rarestBare && bytes.Equal(x.text(&n), name) {
			for _, t := range x.targets[n.first:n.last] {
				best.offer(t, costNoEnding+int(t.rarity))
			}
		}
	}
}
