package typo

import (
	"bytes"
	"slices"
	"strings"

	"github.com/addrspec/addrspec/core/idna"
)

// Kind is the kind of an edit.
type Kind uint8

const (
	Substitution  Kind = iota // another letter, or several
	Insertion                 // letters that do not belong there
	Deletion                  // letters left out
	Transposition             // two letters in the other order
	Lookalike                 // a character that looks like the right one, or rn for m
	MissingDot                // a dot left out
	MisplacedDot              // a dot that does not belong there
	Ending                    // another ending, or none
)

var kindNames = [...]string{
	"substitution", "insertion", "deletion", "transposition", "lookalike", "missing_dot", "misplaced_dot", "ending",
}

// String returns the kind in lower case, with underscores.
func (k Kind) String() string { return kindNames[k] }

// Edit is one correction of a misspelled domain: From, at At, becomes To. At
// counts the characters of the domain as typed, with U-labels for A-labels.
type Edit struct {
	Kind     Kind
	At       int
	From, To string // either may be empty
}

// Explain returns the edits, from left to right, that make target of domain. Each
// applies to domain as typed. target is the suggestion for domain, which is
// in lower case and in A-label form. Suggest does none of this work.
func (x *Index) Explain(domain, target []byte) []Edit {
	e := explanation{confusion: x.confusion, typed: decoded(domain)}
	if rest, isSite := strings.CutPrefix(string(e.typed), string(www)); isSite {
		e.add(Insertion, 0, string(www), "")
		e.domain([]rune(rest), string(target), len(www))
	} else {
		e.domain(e.typed, string(target), 0)
	}
	return e.edits
}

// decoded returns domain with U-labels for A-labels.
func decoded(domain []byte) (text []rune) {
	for i, label := range bytes.Split(domain, dot) {
		if i > 0 {
			text = append(text, '.')
		}
		u, ok := idna.AppendDecoded(make([]rune, 0, len(label)), label)
		if !ok {
			u = []rune(string(label))
		}
		text = append(text, u...)
	}
	return text
}

// explanation collects edits.
type explanation struct {
	confusion *confusion
	typed     []rune
	edits     []Edit
}

func (e *explanation) add(kind Kind, at int, from, to string) {
	e.edits = append(e.edits, Edit{kind, at, from, to})
}

// domain explains typed, which is at at in the domain.
func (e *explanation) domain(typed []rune, target string, at int) {
	if equalButDots([]byte(string(typed)), []byte(target)) {
		e.dots(typed, target, at)
		return
	}
	name, ending, _ := cutRunes(typed)
	meantName, meantEnding, _ := strings.Cut(target, ".")
	e.name(name, meantName, at)
	switch at += len(name); {
	case len(name) == len(typed):
		e.add(Ending, at, "", "."+meantEnding)
	case string(ending) != meantEnding:
		e.add(Ending, at+1, string(ending), meantEnding)
	}
}

func cutRunes(domain []rune) (name, ending []rune, found bool) {
	i := slices.Index(domain, '.')
	if i < 0 {
		return domain, nil, false
	}
	return domain[:i], domain[i+1:], true
}

// dots explains typed by its dots alone, as equalButDots compares them.
func (e *explanation) dots(typed []rune, target string, at int) {
	for i, j := 0, 0; i < len(typed) || j < len(target); {
		switch {
		case i < len(typed) && j < len(target) && typed[i] == rune(target[j]):
			i, j = i+1, j+1
		case i < len(typed) && j < len(target) && typed[i] == '.' && target[j] == '-':
			e.add(Substitution, at+i, ".", "-")
			i, j = i+1, j+1
		case i < len(typed) && typed[i] == '.':
			e.add(MisplacedDot, at+i, ".", "")
			i++
		default:
			e.add(MissingDot, at+i, "", ".")
			j++
		}
	}
}

// step is the last step of the cheapest alignment of the starts of two names.
type step struct {
	cost         int
	typed, meant int // how many characters it takes of each
}

// name explains typed by the cheapest slips, with the costs of Suggest.
func (e *explanation) name(typed []rune, meant string, at int) {
	steps := e.align(typed, meant)
	first := len(e.edits)
	for i, j := len(typed), len(meant); i > 0 || j > 0; {
		s := steps[i][j]
		i, j = i-s.typed, j-s.meant
		from, to := string(typed[i:i+s.typed]), meant[j:j+s.meant]
		if from != to {
			e.add(kindOf(from, to), at+i, from, to)
		}
	}
	slices.Reverse(e.edits[first:])
	e.edits = joined(e.edits, first)
}

// align returns the last steps of the alignments of all starts of typed and meant.
func (e *explanation) align(typed []rune, meant string) [][]step {
	steps := make([][]step, len(typed)+1)
	for i := range steps {
		steps[i] = make([]step, len(meant)+1)
		for j := range steps[i] {
			if i+j > 0 {
				steps[i][j] = e.best(steps, typed[:i], meant[:j])
			}
		}
	}
	return steps
}

// best returns the cheapest last step of an alignment of typed and meant.
func (e *explanation) best(steps [][]step, typed []rune, meant string) step {
	best := step{cost: 1 << 30}
	i, j := len(typed), len(meant)
	for _, s := range [...]step{{typed: 1, meant: 1}, {typed: 2, meant: 2}, {typed: 2, meant: 1}, {typed: 1}, {meant: 1}} {
		if s.typed > i || s.meant > j {
			continue
		}
		s.cost = steps[i-s.typed][j-s.meant].cost + e.cost(typed, meant, s)
		if s.cost < best.cost {
			best = s
		}
	}
	return best
}

// cost returns the cost of the last step s of an alignment of typed and meant.
func (e *explanation) cost(typed []rune, meant string, s step) int {
	last := typed[len(typed)-s.typed:]
	to := meant[len(meant)-s.meant:]
	switch {
	case s.meant == 0:
		return e.confusion.additionCost(asBytes(typed), len(typed)-1)
	case s.typed == 0:
		return skipCost([]byte(meant), len(meant)-1)
	case s.typed == 2 && s.meant == 2:
		if last[0] == rune(to[1]) && last[1] == rune(to[0]) {
			return costSwap
		}
		return farApart
	case s.typed == 2:
		if string(last) == string(rn) && to == "m" {
			return costAlike
		}
		return farApart
	case looksLike(last[0], to[0]):
		return costAlike - 1 // rather than another slip at the same cost
	}
	return e.confusion.exchangeCost(asBytes(last)[0], to[0])
}

// asBytes returns text with stray for each character beyond ASCII.
func asBytes(text []rune) []byte {
	b := make([]byte, len(text))
	for i, r := range text {
		if b[i] = byte(r); r >= 0x80 {
			b[i] = stray
		}
	}
	return b
}

// looksLike reports whether r is another character that looks like b.
func looksLike(r rune, b byte) bool {
	if r < 0x80 {
		return r == '0' && b == 'o' || r == '1' && b == 'l'
	}
	look, _ := lookOf(r)
	return look == b
}

// kindOf returns the kind of the step from from to to.
func kindOf(from, to string) Kind {
	typed := []rune(from)
	switch {
	case from == "":
		return Deletion
	case to == "":
		return Insertion
	case len(typed) == 2 && len(to) == 2:
		return Transposition
	case len(typed) == 2 || looksLike(typed[0], to[0]):
		return Lookalike
	}
	return Substitution
}

// joined joins each run of insertions and of deletions from edits[first] on to one
// edit.
func joined(edits []Edit, first int) []Edit {
	kept := edits[:first]
	for _, e := range edits[first:] {
		if n := len(kept) - 1; n >= first && kept[n].follows(e) {
			kept[n].From += e.From
			kept[n].To += e.To
			continue
		}
		kept = append(kept, e)
	}
	return kept
}

// follows reports whether next continues e, an insertion or a deletion.
func (e Edit) follows(next Edit) bool {
	isRun := e.Kind == Insertion || e.Kind == Deletion
	return isRun && next.Kind == e.Kind && next.At == e.At+len([]rune(e.From))
}
