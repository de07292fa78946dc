package main

import (
	"slices"
	"strconv"
	"strings"
)

// real generates a local part of the kinds that people and companies use.
func (g *generator) real() string {
	for {
		if s := g.choose(realKinds); len(s) >= 2 && len(s) <= 64 {
			return s
		}
	}
}

// realKinds are the ways in which people, companies and their mail
// administrators form local parts.
var realKinds = []kind{
	{"people", 600, person},
	{"words", 90, patterns("V V V% V?V V?V V?V% V?V?V V?V?V%")},
	{"handles", 100, patterns(`H?E+ E?h+ F.# F?E+ E?F+ xEx xFx x.E.x x.F.x E?E+ E# !+ !+ E?k k?E F?k kF Ek k?F
		K?D S?E+ S?F+ S+ Fi+ H?F+ F?h+`)},
	{"companies", 50, patterns(`L?C W?C EE?C T?C LW?C c?L c?W c?WW c?T L?T W?T WW?T L?W W?W T?W EE?W c?LC c?WC c?TC`)},
	{"short", 30, patterns("fl fl fl# fml fml fml# fq fq fq q p")},
	{"initials", 30, patterns("f# fl# fl# fl.# flm# flm# fl.# flm.# fmlw#")},
	{"identifiers", 25, patterns("Pf+ fP+ Pp+ pPd fmP+")},
	{"acronyms", 25, patterns(`A.L A.W A.T L.A W.A c.A AC A# Ad A?A A?A.W A?A.A AW WA AL A A
		ww.L www.W wwww.T L.www W.www c.ww wwwC ww# www# wwwd ww?A www?A.W wwwW Wwww wwwL ww www wwww wwwww`)},
	{"leet", 35, (*generator).leet},
	{"roles", 20, patterns("R R.W R.r R# R?R")},
	{"name and initials", 120, (*generator).nameInitials},
	{"abbreviated", 100, (*generator).abbreviated},
	{"opaque", 160, (*generator).opaque},
	{"numbered", 50, (*generator).numbered},
	{"models", 35, (*generator).model},
	{"coined", 30, (*generator).coined},
	{"roll numbers", 60, (*generator).roll},
	{"pinyin", 50, (*generator).chinese},
	{"Korean keys", 26, (*generator).korean},
	{"leet anywhere", 14, (*generator).respelledLeet},
	{"Chinese phrases", 8, (*generator).phrase},
	{"Russian keys", 7, (*generator).russian},
	{"stuttered", 20, (*generator).stuttered},
	{"framed", 20, (*generator).framed},
	{"keys beside a name", 4, (*generator).besideKeys},
	{"user ids", 12, (*generator).userID},
	{"Arabic chat digits", 8, (*generator).arabicChat},
	{"initials on a row", 1, (*generator).rowInitials},
	{"Dutch particles", 150, (*generator).particled},
	{"Polynesian", 20, (*generator).polynesian},
}

// person writes a name in the ways that addresses use.
var person = patterns(`F.L% F.L% F.L% F.L% FL% FL% fL% fL% f.L% Fl% Lf% L.F% LF% F% F% L% F.l% L.f% F.m.L% fmL% f.m.L%
	F.L?O% F?M?L% L?fm% fm?L%`)

// leet replaces some letters of a handle with the digits that look like them:
// either every occurrence of some letters or one occurrence in four of any.
func (g *generator) leet() string {
	s := []byte(leetable(g))
	chosen, always := g.Uint32()&g.Uint32(), g.oneIn(2)
	for i, b := range s {
		d := strings.IndexByte(leetLetters, b)
		if d >= 0 && (always && chosen>>d&1 != 0 || !always && g.oneIn(4)) {
			s[i] = '0' + byte(d)
		}
	}
	if g.oneIn(8) {
		return pick(g, []string{"2", "4", "1"}) + g.maybeSeparator() + string(s) + g.maybeNumber(3)
	}
	return string(s) + g.maybeNumber(3)
}

var leetable = patterns("W W E F F EE EE H?E E?h F?E xFx E?F !")

// leetLetters look like the digits 0 to 9.
const leetLetters = "oi eas tbg"

// People shorten their names in more ways than initials. This file has those
// ways: without vowels, some letters of each part, initials of several words.

// anyName returns a first or a last name.
func (g *generator) anyName() string {
	first, last := g.name()
	if g.oneIn(2) {
		return first
	}
	return last
}

// anyWord returns a name, a word or a town.
func (g *generator) anyWord() string {
	switch g.IntN(6) {
	case 0, 1, 2:
		return g.anyName()
	case 3:
		return pick(g, g.english)
	case 4:
		return g.word()
	}
	return pick(g, pick(g, g.towns))
}

// abbreviated returns a name or a word of which letters are missing.
func (g *generator) abbreviated() string {
	first, last := g.name()
	s := ""
	switch g.IntN(12) {
	case 0, 1:
		s = g.squeeze(first) + g.squeeze(last)
	case 2:
		s = g.squeeze(first)
	case 3:
		s = g.squeeze(last)
	case 4:
		s = cut(first, 1+g.IntN(2)) + g.squeeze(last)
	case 5:
		s = first + g.squeeze(last)
	case 6:
		s = g.squeeze(first) + last
	case 7:
		s = g.some(first) + g.some(last)
	case 8:
		s = cut(first, 2+g.IntN(3)) + cut(last, 2+g.IntN(3))
	case 9:
		s = g.squeeze(g.word())
	case 10:
		s = g.squeeze(first) + g.maybeSeparator() + g.squeeze(last)
	case 11:
		s = cut(first, 1+g.IntN(4)) + g.some(last) + cut(g.anyName(), g.IntN(3))
	}
	return s + g.maybeHandleNumber(3)
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

// initials returns the first letters of n names, words or Chinese syllables.
func (g *generator) initials(n int) string {
	of := pick(g, []func() string{g.anyName, g.word, g.syllable, g.anyWord})
	var b strings.Builder
	for range n {
		b.WriteString(cut(of(), 1))
	}
	return b.String()
}

// nameInitials returns a name with two or three initials before or behind it.
func (g *generator) nameInitials() string {
	first, last := g.name()
	if g.oneIn(2) {
		last = pick(g, g.surnames)
	}
	s := ""
	switch g.IntN(8) {
	case 0, 1, 2:
		s = cut(first, 1) + g.initials(1+g.IntN(2)) + last
	case 3:
		s = first + g.initials(2+g.IntN(3))
	case 4:
		s = first + cut(last, 1) + g.initials(1+g.IntN(2))
	case 5:
		s = first + g.separator() + g.initials(1+g.IntN(3)) + g.maybeSeparator() + cut(last, g.IntN(4))
	case 6:
		s = cut(first, 1+g.IntN(3)) + last + g.initials(1+g.IntN(2))
	case 7:
		s = last + g.initials(1+g.IntN(3))
	}
	return s + g.maybeHandleNumber(3)
}

// opaque returns a handle that means something only to its owner: the initials
// of a phrase, alone or beside a word.
func (g *generator) opaque() string {
	s := g.initials(2 + g.IntN(4))
	switch g.IntN(14) {
	case 0, 1, 2:
		s = g.initials(3 + g.IntN(5))
	case 3:
		s += s
	case 4:
		s = g.initials(1+g.IntN(3)) + g.syllable() + g.initials(g.IntN(3))
	case 5:
		s = g.syllable() + g.initials(1+g.IntN(3))
	case 6: // the last letter is drawn out
		s += strings.Repeat(s[len(s)-1:], 1+g.IntN(3))
	case 7:
		s = g.initials(2+g.IntN(3)) + cut(g.anyWord(), 2+g.IntN(3))
	case 8:
		s = g.initials(2+g.IntN(2)) + g.anyWord()
	case 9, 10:
		s = g.anyWord() + g.initials(1+g.IntN(4))
	case 11:
		s = cut(g.anyWord(), 2+g.IntN(3)) + g.initials(1+g.IntN(3))
	case 12:
		s = g.from(letterSet, 3, 6)
	case 13:
		s = g.anyWord() + g.separator() + g.initials(2+g.IntN(3))
	}
	return s + g.maybeHandleNumber(2)
}

// numbered returns a name or initials with a number inside or in front.
func (g *generator) numbered() string {
	w, n := g.anyWord(), g.handleNumber()
	if g.oneIn(4) {
		w = g.initials(2 + g.IntN(2))
	}
	switch g.IntN(14) {
	case 0, 1:
		return w + n + g.initials(1+g.IntN(2))
	case 2:
		return w + n + g.initials(1+g.IntN(4))
	case 3, 4:
		return w + n + g.anyWord()
	case 5, 6:
		return n + w
	case 7:
		return n + g.initials(1+g.IntN(3))
	case 8:
		return n + w + g.handleNumber()
	case 9:
		return g.initials(1+g.IntN(2)) + n + w
	case 10:
		return g.initials(1+g.IntN(3)) + n + g.initials(1+g.IntN(3))
	case 11:
		return w + pick(g, []string{"2k", "4u", "2", "4", "x", "k", "0", "1"}) + g.digits(g.IntN(3)) + cut(g.anyWord(), 1+g.IntN(4))
	case 12:
		return w + n + g.initials(1) + g.digits(1+g.IntN(3))
	}
	return w + g.maybeSeparator() + n + g.maybeSeparator() + cut(g.anyWord(), 3+g.IntN(5)) + g.maybeNumber(3)
}

// stuttered returns a name or initials with letters drawn out, or repeated as a
// whole: annnaa, kkiirrkk, xyzxyz.
func (g *generator) stuttered() string {
	w := cut(g.anyWord(), 3+g.IntN(8))
	if g.oneIn(3) {
		w = g.initials(2 + g.IntN(3))
	}
	switch g.IntN(5) {
	case 0:
		return g.drawnOut(w, 1) + g.maybeHandleNumber(3)
	case 1, 2:
		return g.drawnOut(w, 3) + g.maybeHandleNumber(3)
	case 3:
		return strings.Repeat(cut(w, 2+g.IntN(3))+g.maybeHandleNumber(4), 2+g.IntN(2)) + cut(g.anyWord(), g.IntN(5))
	}
	return strings.Repeat(w+g.maybeSeparator(), 2) + g.maybeHandleNumber(3)
}

// drawnOut repeats one letter in n of s.
func (g *generator) drawnOut(s string, n int) string {
	times := 2 + g.IntN(2)
	var b strings.Builder
	for i := range len(s) {
		b.WriteByte(s[i])
		if g.oneIn(n) {
			b.WriteString(strings.Repeat(s[i:i+1], times-1))
		}
	}
	return b.String()
}

// framed returns a name with something beside or inside it that means nothing:
// xxannaxx, annax0x, zzkiris.
func (g *generator) framed() string {
	w, inset := g.anyWord(), pick(g, insets)
	switch g.IntN(8) {
	case 0:
		w = inset + w + backwards(inset)
	case 1:
		w = inset + w
	case 2, 3:
		w += inset
	case 4:
		w += inset + g.anyWord()
	case 5:
		w += inset + g.initials(1+g.IntN(3))
	case 6:
		w = g.initials(1+g.IntN(3)) + inset + w
	case 7:
		w += g.handleNumber() + inset
	}
	return w + g.maybeHandleNumber(4)
}

// besideKeys returns a name beside neighbouring keys, as one adds to a name that is
// taken: qwemaria, ivanqwerty.
func (g *generator) besideKeys() string {
	w, keys := g.anyWord(), pick(g, typed)
	switch g.IntN(5) {
	case 0, 1:
		return keys + g.maybeSeparator() + w + g.maybeHandleNumber(4)
	case 2:
		return keys + g.handleNumber() + w
	case 3:
		return w + g.maybeHandleNumber(3) + keys
	}
	return w + g.maybeSeparator() + keys + g.maybeHandleNumber(3)
}

// rowInitials returns initials that happen to be neighbouring keys, and a number that
// does not follow a row as well.
func (g *generator) rowInitials() string {
	row := pick(g, typedRows)
	at := 1 + g.IntN(len(row)-3)
	s := row[at : at+3]
	if g.oneIn(2) {
		s = backwards(s)
	}
	return s + pick(g, []string{strconv.Itoa(1950 + g.IntN(75)), g.digits(3), g.digits(4), g.date()})
}

// userID returns an identifier of a university or a company, or a call sign: initials
// with a number inside, perhaps with the place.
func (g *generator) userID() string {
	switch g.IntN(6) {
	case 0, 1: // abc2d, ab4ef
		return g.initials(2+g.IntN(2)) + g.digits(1) + g.initials(1+g.IntN(3))
	case 2: // abc1de
		return g.initials(3) + g.digits(1) + cut(pick(g, pick(g, g.towns)), 2+g.IntN(2))
	case 3: // ab1c23
		return g.initials(2+g.IntN(2)) + g.digits(1) + g.initials(1) + twoDigits(g.digits(2))
	case 4: // ab12cdef
		return g.initials(2) + g.digits(2) + cut(g.anyName(), 2+g.IntN(3))
	}
	return g.initials(1+g.IntN(2)) + g.digits(1) + g.initials(2+g.IntN(2))
}

// arabicChat writes digits for the Arabic letters that they resemble, as in chats:
// a7med, 3omar.
func (g *generator) arabicChat() string {
	s := pick(g, g.arabic.first)
	if g.oneIn(2) {
		s += g.maybeSeparator() + pick(g, g.arabic.last)
	}
	for range 1 + g.IntN(3) {
		pair := pick(g, chatDigits)
		s = strings.Replace(s, pair[0], pair[1], 1+g.IntN(2))
	}
	return s + g.maybeHandleNumber(3)
}

var chatDigits = [][2]string{{"h", "7"}, {"h", "7"}, {"h", "7"}, {"a", "3"}, {"a", "3"}, {"o", "3o"}, {"kh", "5"}, {"q", "9"}, {"gh", "8"}, {"a", "2"}, {"aa", "3"}}

// model returns a handle with the model of a car, a plane or a device: bmw325i,
// zx81fan, my911turbo.
func (g *generator) model() string {
	make, number := pick(g, makes), g.digits(1+g.IntN(4))
	switch g.IntN(4) {
	case 0:
		make = g.initials(1 + g.IntN(3))
	case 1:
		number = strconv.Itoa(1+g.IntN(9)) + pick(g, []string{"0", "00", "5", "20", "50", "25", "11", "80"})
	}
	suffix := pick(g, modelSuffixes)
	switch g.IntN(8) {
	case 0:
		return make + g.maybeSeparator() + number
	case 1:
		return g.anyWord() + g.maybeSeparator() + make + number + suffix
	case 2:
		return make + number + suffix + g.maybeSeparator() + g.anyWord()
	case 3:
		return make + number + pick(g, handleSuffixes)
	case 4:
		return g.initials(1) + number + suffix
	case 5:
		return number + suffix + g.maybeSeparator() + g.anyWord()
	}
	return make + number + suffix
}

// roll returns a number that a school or a company hands out: the year of
// admission, a branch of study and a running number in any order.
func (g *generator) roll() string {
	year := twoDigits(strconv.Itoa(g.IntN(30)))
	branch := pick(g, branches)
	switch g.IntN(25) {
	case 0, 1:
		return year + branch + g.digits(2+g.IntN(4))
	case 2:
		return "20" + year + branch + g.digits(2+g.IntN(4))
	case 3, 4: // 23f2000000
		return year + pick(g, []string{"f", "ds", "d", "b", "m", "p", "h", "s"}) + g.digits(1) + "0" + g.digits(5)
	case 5: // 1ms20ec000
		return g.digits(1) + g.from(letterSet, 2, 2) + year + branch + g.digits(3)
	case 6: // 0000000m
		return g.digits(6+g.IntN(3)) + g.from(letterSet, 1, 2)
	case 7: // f20190000
		return g.from(letterSet, 1, 2) + "20" + year + g.digits(3+g.IntN(3))
	case 8: // e0000000
		return g.from(letterSet, 1, 3) + g.digits(5+g.IntN(4))
	case 9: // 24b01a1200
		return year + g.from(letterSet, 1, 1) + g.digits(2) + g.from(letterSet, 1, 1) + g.digits(4)
	case 10: // 24311a6200
		return year + g.digits(3) + pick(g, []string{"a", "b", "d"}) + g.digits(4)
	case 11: // bl.en.u4cse20000
		return pick(g, []string{"bl", "cb", "av", "am", "ch"}) + ".en.u4" + branch + year + g.digits(3)
	case 12, 13:
		return g.anyName() + g.maybeSeparator() + year + branch + g.maybeDigits()
	case 14: // 000bct000
		return "0" + g.digits(2) + branch + g.digits(3)
	case 15: // a000b000
		return g.from(letterSet, 1, 1) + g.digits(3) + g.from(letterSet, 1, 1) + g.digits(3)
	case 16: // ab2c19
		return g.initials(2) + g.digits(1+g.IntN(2)) + g.initials(1+g.IntN(3)) + g.maybeDigits()
	case 17: // e19cse000
		return g.from(letterSet, 1, 2) + year + branch + g.digits(2+g.IntN(3))
	case 19, 20: // cs21b1000
		return branch + year + g.from(letterSet, 1, 1) + g.digits(3+g.IntN(2))
	case 21, 24: // the same of other branches, also if every letter is hexadecimal
		set := pick(g, []string{letterSet, letterSet, "abcdef"})
		return g.from(set, 2, 3) + year + g.from(pick(g, []string{set, "bdmps"}), 1, 1) + g.digits(3+g.IntN(2))
	case 22: // s23ab000
		return g.from(letterSet, 1, 1) + year + g.from(letterSet, 2, 2) + g.digits(3)
	case 18:
		return g.initials(2+g.IntN(3)) + g.digits(1+g.IntN(4))
	}
	return branch + year + g.from(letterSet, 1, 2) + g.digits(2+g.IntN(3))
}

func (g *generator) maybeDigits() string {
	if g.oneIn(2) {
		return ""
	}
	return g.digits(2 + g.IntN(2))
}

// coined returns a word that nobody has used before and yet can be said, or one
// with its letters changed.
func (g *generator) coined() string {
	w := g.anyWord()
	switch other := g.anyWord(); g.IntN(10) {
	case 0:
		w = cut(w, 2+g.IntN(3)) + other[max(0, len(other)-2-g.IntN(3)):]
	case 1:
		w = cut(w, 2+g.IntN(3)) + cut(other, 2+g.IntN(3)) + pick(g, endings)
	case 2: // a letter is drawn out
		i := g.IntN(len(w))
		w = w[:i] + strings.Repeat(w[i:i+1], 2+g.IntN(4)) + w[i+1:]
	case 3:
		w = g.respelled(w)
	case 4:
		w = backwards(w)
	case 5: // two letters change places
		if len(w) > 3 {
			i := 1 + g.IntN(len(w)-2)
			w = w[:i] + w[i+1:i+2] + w[i:i+1] + w[i+2:]
		}
	case 6:
		w = g.pronounceable()
	case 7:
		w = cut(w, 2+g.IntN(2)) + cut(other, 2+g.IntN(2)) + cut(g.anyWord(), 2+g.IntN(2))
	case 8:
		w = w[g.IntN(len(w)):] + other
	case 9:
		w += other[g.IntN(len(other)):]
	}
	return w + g.maybeHandleNumber(2)
}

var endings = strings.Fields("o a ix ex us y ify ly io er or on ax oo ity z x")

// respelled replaces one or two letters of w, but not the first.
func (g *generator) respelled(w string) string {
	for range 1 + g.IntN(2) {
		if i := g.IntN(len(w)); i > 0 {
			w = w[:i] + g.from("xzkqwyvjuish", 1, 1) + w[i+1:]
		}
	}
	return w
}

func backwards(w string) string {
	b := []byte(w)
	slices.Reverse(b)
	return string(b)
}

// pronounceable returns consonants and vowels in turn.
func (g *generator) pronounceable() string {
	var b strings.Builder
	for range 2 + g.IntN(3) {
		b.WriteString(g.from("bcdfghjklmnpqrstvwxyz", 1, 1) + g.from("aaeeiioouy", 1, 1))
		if g.oneIn(4) {
			b.WriteString(g.from("nrlstmkxz", 1, 1))
		}
	}
	return b.String()
}

// respelledLeet writes digits for letters anywhere, even where the model does
// not read them as letters.
func (g *generator) respelledLeet() string {
	s := []byte(g.anyWord() + cut(g.anyWord(), g.IntN(6)))
	n := 2 + g.IntN(3)
	for i, b := range s {
		if d := strings.IndexByte(leetLetters, b); d >= 0 && g.oneIn(n) {
			s[i] = '0' + byte(d)
		}
	}
	if g.oneIn(6) {
		return "0x" + string(s) + g.maybeHandleNumber(3)
	}
	return string(s) + g.maybeHandleNumber(3)
}
