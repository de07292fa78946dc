package main

import "strings"

// A form describes how a local part is written, a letter for each piece. A digit after
// it is how many characters of the piece are used, two digits are the least and the most:
// FL14 is a first name and one to four letters of the last name. (a|b) is a or b, (a) is a.
//
//	F f  a first name, its initial         L l  the last name, its initial
//	M m  another first name, its initial   O    another last name
//	E    an English word                   W w  a word, the initial of a word
//	V    a word; all V of a form are of one language
//	N    a first or a last name            X    a name, a word or a town
//	T    a town                            A    an acronym
//	z Z  F, L without vowels               s v  some letters of F, of L
//	e    a word without vowels             Y    a Chinese syllable
//	. ?  a separator, perhaps one          u    three to eleven digits
//	# %  a number, one time in four        n    a number of a handle
//	!    F shortened, doubled or drawn out
//	i    a diminutive suffix               x    a frame; all x of a form are the same
//	H h  a prefix or suffix of a handle
//	C c  a suffix or prefix of a company
//	R r  a role, a region                  K    a word for an account
//	k    a word with a digit in it         S    an exclamation
//	B G Q  what the kind has drawn         g    G backwards
//	j    two or three digits, or none      J y  a roll number, B without a letter
//
// After these the digits are the number of what is drawn:
//
//	I    initials                          a    letters
//	D    digits                            o    the last letter of B again
//	+    a number, one time in so many     ~    a number of a handle, likewise
type form []func(*draft) string

// draft has the values of one local part that its pieces share.
type draft struct {
	*generator
	first, last, middle, other, frame string
	language                          []string
	b, g, q                           string
}

var pieces = map[byte]func(*draft) string{
	'F': func(d *draft) string { return d.first },
	'f': func(d *draft) string { return cut(d.first, 1) },
	'L': func(d *draft) string { return d.last },
	'l': func(d *draft) string { return cut(d.last, 1) },
	'M': func(d *draft) string { return d.middle },
	'm': func(d *draft) string { return cut(d.middle, 1) },
	'O': func(d *draft) string { return d.other },
	'E': func(d *draft) string { return pick(d.generator, d.english) },
	'W': func(d *draft) string { return d.word() },
	'w': func(d *draft) string { return cut(d.word(), 1) },
	'V': func(d *draft) string { return pick(d.generator, d.language) },
	'N': func(d *draft) string { return d.anyName() },
	'X': func(d *draft) string { return d.anyWord() },
	'T': func(d *draft) string { return d.town() },
	'A': func(d *draft) string { return pick(d.generator, d.acronyms) },
	'z': func(d *draft) string { return d.squeeze(d.first) },
	'Z': func(d *draft) string { return d.squeeze(d.last) },
	's': func(d *draft) string { return d.some(d.first) },
	'v': func(d *draft) string { return d.some(d.last) },
	'e': func(d *draft) string { return d.squeeze(d.word()) },
	'Y': func(d *draft) string { return d.syllable() },
	'.': func(d *draft) string { return d.separator() },
	'?': func(d *draft) string { return d.maybeSeparator() },
	'u': func(d *draft) string { return d.digits(3 + d.IntN(9)) },
	'#': func(d *draft) string { return d.number() },
	'%': func(d *draft) string { return d.maybeNumber(4) },
	'n': func(d *draft) string { return d.handleNumber() },
	'!': func(d *draft) string { return d.nickname() },
	'x': func(d *draft) string { return d.frame },
	'B': func(d *draft) string { return d.b },
	'G': func(d *draft) string { return d.g },
	'Q': func(d *draft) string { return d.q },
	'g': func(d *draft) string { return backwards(d.g) },
	'J': func(d *draft) string { // also if every letter is hexadecimal
		set := pick(d.generator, []string{letterSet, letterSet, "abcdef"})
		return d.from(set, 2, 3) + d.q + d.from(pick(d.generator, []string{set, "bdmps"}), 1, 1) + d.digits(3+d.IntN(2))
	},
	'y': func(d *draft) string {
		if len(d.b) <= 4 {
			return d.b
		}
		i := d.IntN(len(d.b))
		return d.b[:i] + d.b[i+1:]
	},
	'j': func(d *draft) string {
		if d.oneIn(2) {
			return ""
		}
		return d.digits(2 + d.IntN(2))
	},
}

var lists = map[byte][]string{'i': diminutive, 'H': handlePrefixes, 'h': handleSuffixes, 'C': companySuffixes,
	'c': companyPrefixes, 'R': roleWords, 'r': regions, 'K': accountWords, 'k': numberWords, 'S': sounds}

var counted = map[byte]func(d *draft, least, most int) string{
	'I': func(d *draft, least, most int) string { return d.initials(d.between(least, most)) },
	'a': func(d *draft, least, most int) string { return d.from(letterSet, least, most) },
	'D': func(d *draft, least, most int) string { return d.digits(d.between(least, most)) },
	'o': func(d *draft, least, most int) string {
		return strings.Repeat(d.b[len(d.b)-1:], d.between(least, most))
	},
	'+': func(d *draft, n, _ int) string { return d.maybeNumber(n) },
	'~': func(d *draft, n, _ int) string { return d.maybeHandleNumber(n) },
}

func parseForm(text string) (f form) {
	for text != "" {
		letter := text[0]
		text = text[1:]
		if letter == '(' {
			choice, rest, _ := strings.Cut(text, ")")
			choices := strings.Split(choice, "|")
			f = append(f, func(d *draft) string { return choices[d.between(0, len(choices)-1)] })
			text = rest
			continue
		}
		if list := lists[letter]; list != nil {
			f = append(f, func(d *draft) string { return pick(d.generator, list) })
			continue
		}
		number := text[:len(text)-len(strings.TrimLeft(text, "0123456789"))]
		text = text[len(number):]
		if number == "" {
			f = append(f, pieces[letter])
			continue
		}
		least, most := int(number[0]-'0'), int(number[len(number)-1]-'0')
		if draw := counted[letter]; draw != nil {
			f = append(f, func(d *draft) string { return draw(d, least, most) })
			continue
		}
		piece := pieces[letter]
		f = append(f, func(d *draft) string { return cut(piece(d), d.between(least, most)) })
	}
	return f
}

// forms returns a function that generates local parts by forms, separated by spaces, each
// as often as the others, after draw has drawn what they share. Each form ends with the
// pieces of end.
func forms(draw func(*draft), text, end string) func(*generator) string {
	var all []form
	for text := range strings.FieldsSeq(text) {
		all = append(all, parseForm(text+end))
	}
	return func(g *generator) string {
		d := draft{generator: g}
		draw(&d)
		return d.write(pick(g, all))
	}
}

func (d *draft) write(f form) string {
	var b strings.Builder
	for _, piece := range f {
		b.WriteString(piece(d))
	}
	return b.String()
}

func patterns(text string) func(*generator) string {
	var all []form
	for text := range strings.FieldsSeq(text) {
		all = append(all, parseForm(text))
	}
	return func(g *generator) string {
		f := pick(g, all)
		d := draft{generator: g, frame: pick(g, frames), language: g.english}
		d.first, d.last = g.name()
		d.middle, d.other = g.name()
		if !g.oneIn(3) {
			d.language = pick(g, g.words)
		}
		return d.write(f)
	}
}

// squeeze drops vowels of s, all or some, and perhaps other letters, but never
// the first.
func (g *generator) squeeze(s string) string {
	vowels := pick(g, []int{100, 100, 90, 60, 40}) // percent that are dropped
	others := pick(g, []int{0, 0, 0, 10, 25})
	var b strings.Builder
	for i := range len(s) {
		percent := others
		if strings.IndexByte("aeiou", s[i]) >= 0 {
			percent = vowels
		}
		if i == 0 || g.IntN(100) >= percent {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// some returns the first letter of s and about one to three others, in order.
func (g *generator) some(s string) string {
	kept := 1 + g.IntN(3)
	var b strings.Builder
	for i := range len(s) {
		if i == 0 || g.IntN(len(s)-1) < kept {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// nickname returns a first name or its first letters, of which two are doubled;
// the last letter may be drawn out: kris, momo, annaaa.
func (d *draft) nickname() string {
	short := cut(d.first, 2+d.IntN(3))
	switch {
	case d.oneIn(3):
		short = d.first
	case len(short) == 2:
		short += short
	}
	if d.oneIn(3) {
		short += strings.Repeat(short[len(short)-1:], 1+d.IntN(3))
	}
	return short
}
