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
	var e explanation
	typed, at := decoded(domain), 0
	if strings.HasPrefix(string(typed), string(www)) {
		at = len(www)
		e.add(Insertion, 0, string(www), "")
	}
	typed = typed[at:]
	if equalButDots([]byte(string(typed)), target) {
		e.dots(typed, target, at)
		return e
	}
	name, ending := typed, ""
	if i := slices.Index(typed, '.'); i >= 0 {
		name, ending = typed[:i], string(typed[i+1:])
	}
	meantName, meantEnding, _ := bytes.Cut(target, dot)
	e.name(name, meantName, at)
	at += len(name)
	switch {
	case len(name) == len(typed):
		e.add(Ending, at, "", "."+string(meantEnding))
	case ending != string(meantEnding):
		e.add(Ending, at+1, ending, string(meantEnding))
	}
	return e
}

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

type explanation []Edit

func (e *explanation) add(kind Kind, at int, from, to string) {
	*e = append(*e, Edit{kind, at, from, to})
}

func (e *explanation) dots(typed []rune, target []byte, at int) {
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

// name explains typed by the cheapest slips, with the costs of Suggest. A run of
// insertions or of deletions is one edit.
func (e *explanation) name(typed []rune, meant []byte, at int) {
	steps := make([][]step, len(typed)+1) // by the lengths of the two starts
	for i := range steps {
		steps[i] = make([]step, len(meant)+1)
		for j := range steps[i] {
			best := step{cost: 1 << 30}
			for _, s := range [...]step{{typed: 1, meant: 1}, {typed: 2, meant: 2}, {typed: 2, meant: 1}, {typed: 1}, {meant: 1}} {
				if s.typed > i || s.meant > j {
					continue
				}
				s.cost = steps[i-s.typed][j-s.meant].cost + lastCost(typed[:i], meant[:j], s)
				if s.cost < best.cost {
					best = s
				}
			}
			if i+j > 0 {
				steps[i][j] = best
			}
		}
	}
	first := len(*e)
	for i, j := len(typed), len(meant); i > 0 || j > 0; {
		s := steps[i][j]
		i, j = i-s.typed, j-s.meant
		from, to := string(typed[i:i+s.typed]), string(meant[j:j+s.meant])
		if from == to {
			continue
		}
		kind := kindOf(from, to)
		if n := len(*e) - 1; n >= first && (kind == Insertion || kind == Deletion) {
			if next := &(*e)[n]; next.Kind == kind && next.At == at+i+s.typed {
				*next = Edit{kind, at + i, from + next.From, to + next.To}
				continue
			}
		}
		e.add(kind, at+i, from, to)
	}
	slices.Reverse((*e)[first:])
}

func lastCost(typed []rune, meant []byte, s step) int {
	text := make([]byte, len(typed))
	for i, r := range typed {
		text[i] = stray
		if r < 0x80 {
			text[i] = byte(r)
		}
	}
	last, to := typed[len(typed)-s.typed:], meant[len(meant)-s.meant:]
	switch {
	case s.meant == 0:
		return additionCost(text, len(text)-1)
	case s.typed == 0:
		return skipCost(meant, len(meant)-1)
	case s.typed == 2 && s.meant == 2 && last[0] == rune(to[1]) && last[1] == rune(to[0]):
		return costSwap
	case s.typed == 2 && s.meant == 1 && string(last) == string(rn) && to[0] == 'm':
		return costAlike
	case s.typed == 2:
		return farApart
	case looksLike(last[0], to[0]):
		return costAlike - 1 // rather than another slip at the same cost
	}
	return exchangeCost(text[len(text)-1], to[0])
}

func looksLike(r rune, b byte) bool {
	if r < 0x80 {
		return r == '0' && b == 'o' || r == '1' && b == 'l'
	}
	look, _ := lookOf(r)
	return look == b
}

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
