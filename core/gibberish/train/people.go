package main

import (
	"strconv"
	"strings"
)

// realKinds are the ways in which people, companies and their mail administrators form
// local parts.
var realKinds = []kind{
	{"people", 600, person},
	{"words", 90, patterns("V V V% V?V V?V V?V% V?V?V V?V?V%")},
	{"handles", 100, patterns(`H?E+2 E?h+2 F.# F?E+2 E?F+2 xEx xFx x.E.x x.F.x E?E+2 E# !+2 !+2 E?k k?E F?k kF Ek k?F
		K?u S?E+2 S?F+2 S+2 Fi+2 H?F+2 F?h+2`)},
	{"companies", 50, patterns(`L?C W?C EE?C T?C LW?C c?L c?W c?WW c?T L?T W?T WW?T L?W W?W T?W EE?W c?LC c?WC c?TC`)},
	{"short", 30, patterns("fl fl fl# fml fml fml# fL14 fL14 fL14 L14 F23")},
	{"initials", 30, patterns("f# fl# fl# fl.# flm# flm# fl.# flm.# fmlw#")},
	{"identifiers", 25, patterns("L37f+2 fL37+2 L37F23+2 F23L37D24 fmL37+2")},
	{"acronyms", 25, patterns(`A.L A.W A.T L.A W.A c.A AC A# AD24 A?A A?A.W A?A.A AW WA AL A A
		ww.L www.W wwww.T L.www W.www c.ww wwwC ww# www# wwwD24 ww?A www?A.W wwwW Wwww wwwL ww www wwww wwwww`)},
	{"leet", 35, (*generator).leet},
	{"roles", 20, patterns("R R.W R.r R# R?R")},
	{"name and initials", 120, forms(func(d *draft) {
		d.first, d.last = d.name()
		if d.oneIn(2) {
			d.last = pick(d.generator, d.surnames)
		}
	}, "fI12L fI12L fI12L FI24 FlI12 F.I13?L03 F13LI12 LI13", "~3")},
	{"abbreviated", 100, forms(func(d *draft) { d.first, d.last = d.name() },
		"zZ zZ z Z F12Z FZ zL sv F24L24 e z?Z F14vN02", "~3")},
	// Meaning something only to the owner: the initials of a phrase, alone or beside a word.
	{"opaque", 160, forms(func(d *draft) { d.b = d.initials(2 + d.IntN(4)) },
		"I37 I37 I37 BB I13YI02 YI13 Bo13 I24X24 I23X XI14 XI14 X24I13 a36 X.I24", "~2")},
	{"numbered", 50, forms(func(d *draft) {
		d.b, d.q = d.anyWord(), d.handleNumber()
		if d.oneIn(4) {
			d.b = d.initials(2 + d.IntN(2))
		}
	}, "BQI12 BQI12 BQI14 BQX BQX QB QB QI13 QBn I12QB I13QI13 B(2k|4u|2|4|x|k|0|1)D02X14 BQI1D13 B?Q?X37+3", "")},
	// Cars, planes and devices: bmw325i, zx81fan, my911turbo.
	{"models", 35, forms(func(d *draft) {
		d.g, d.q = pick(d.generator, makes), d.digits(1+d.IntN(4))
		switch d.IntN(4) {
		case 0:
			d.g = d.initials(1 + d.IntN(3))
		case 1:
			d.q = strconv.Itoa(1+d.IntN(9)) + pick(d.generator, []string{"0", "00", "5", "20", "50", "25", "11", "80"})
		}
		d.b = pick(d.generator, modelSuffixes)
	}, "G?Q X?GQB GQB?X GQh I1QB QB?X GQB GQB", "")},
	{"coined", 30, (*generator).coined},
	// Numbers that schools and companies hand out: the year of admission, a branch of study
	// and a running number in any order.
	{"roll numbers", 60, forms(func(d *draft) {
		d.q, d.g = twoDigits(strconv.Itoa(d.IntN(30))), pick(d.generator, branches)
	}, `QGD25 QGD25 (20)QGD25 Q(f|ds|d|b|m|p|h|s)D1(0)D5 Q(f|ds|d|b|m|p|h|s)D1(0)D5 D1a2QGD3
		D68a12 a12(20)QD35 a13D58 Qa1D2a1D4 QD3(a|b|d)D4 (bl|cb|av|am|ch)(.en.u4)GQD3 N?QGj N?QGj (0)D2GD3 a1D3a1D3
		I2D12I13j a12QGD24 I24D14 GQa1D34 GQa1D34 J a1Qa2D3 GQa12D24 J`, "")},
	{"pinyin", 50, forms(func(d *draft) {
		for range 1 + d.IntN(4) {
			d.b += d.syllable()
		}
	}, "I1B B(a|x|z|qq|vip|xx|zz|cn|ya|er|y) y B B B", "~2")},
	{"Korean keys", 26, (*generator).korean},
	{"leet anywhere", 14, (*generator).leetAnywhere},
	{"Chinese phrases", 8, phrase},
	{"Russian keys", 7, (*generator).russian},
	{"stuttered", 20, (*generator).stuttered},
	// Beside or inside a name what means nothing: xxannaxx, annax0x, zzkiris.
	{"framed", 20, forms(func(d *draft) { d.b, d.g = d.anyWord(), pick(d.generator, insets) },
		"GBg GB BG BG BGX BGI13 I13GB BnG", "~4")},
	// As one adds keys to a name that is taken: qwemaria, ivanqwerty.
	{"keys beside a name", 4, forms(func(d *draft) { d.b, d.g = d.anyWord(), pick(d.generator, typed) },
		"G?B~4 G?B~4 GnB B~3G B?G~3", "")},
	{"user ids", 12, userID},
	{"Arabic chat digits", 8, (*generator).arabicChat},
	{"initials on a row", 1, (*generator).rowInitials},
	{"Dutch particles", 150, (*generator).particled},
	{"Polynesian", 20, (*generator).polynesian},
}

var (
	// person writes a name in the ways that addresses use.
	person = patterns(`F.L% F.L% F.L% F.L% FL% FL% fL% fL% f.L% Fl% Lf% L.F% LF% F% F% L% F.l% L.f% F.m.L% fmL% f.m.L%
		F.L?O% F?M?L% L?fm% fm?L%`)
	// phrase writes the initials of a Chinese phrase, alone or beside a word.
	phrase = forms(func(d *draft) {
		for range 3 + d.IntN(6) {
			d.b += cut(d.syllable(), 1)
		}
	}, "B4Y YB4 B5(job|dev|mail|qq|vip|cn|code|web|it|work|xx|hh) B B B", "~4")
	// userID writes an identifier of a university or a company, or a call sign: initials
	// with a number inside, perhaps with the place.
	userID = forms(func(*draft) {}, "I23D1I13 I23D1I13 I3D1T23 I23D1I1D2 I2D2N24 I12D1I23", "")
)

// leeted replaces letters of s with the digits that look like them, if replace says so.
func leeted(s string, replace func(digit int) bool) string {
	b := []byte(s)
	for i := range b {
		if digit := strings.IndexByte("oi eas tbg", b[i]); digit >= 0 && replace(digit) {
			b[i] = '0' + byte(digit)
		}
	}
	return string(b)
}

var leetable = patterns("W W E F F EE EE H?E E?h F?E xFx E?F !")

// leet replaces either every occurrence of some letters of a handle or one occurrence in four
// of any.
func (g *generator) leet() string {
	s := leetable(g)
	chosen, always := g.Uint32()&g.Uint32(), g.oneIn(2)
	s = leeted(s, func(digit int) bool { return always && chosen>>digit&1 != 0 || !always && g.oneIn(4) })
	if g.oneIn(8) {
		return pick(g, []string{"2", "4", "1"}) + g.maybeSeparator() + s + g.maybeNumber(3)
	}
	return s + g.maybeNumber(3)
}

// leetAnywhere also writes digits that the model does not read as letters.
func (g *generator) leetAnywhere() string {
	s := g.anyWord() + cut(g.anyWord(), g.IntN(6))
	n := 2 + g.IntN(3)
	s = leeted(s, func(int) bool { return g.oneIn(n) })
	if g.oneIn(6) {
		s = "0x" + s
	}
	return s + g.maybeHandleNumber(3)
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

var chatDigits = [][2]string{{"h", "7"}, {"h", "7"}, {"h", "7"}, {"a", "3"}, {"a", "3"}, {"o", "3o"}, {"kh", "5"},
	{"q", "9"}, {"gh", "8"}, {"a", "2"}, {"aa", "3"}}

// stuttered returns a name or initials with letters drawn out, or repeated as a whole:
// annnaa, kkiirrkk, xyzxyz.
func (g *generator) stuttered() string {
	w := cut(g.anyWord(), 3+g.IntN(8))
	if g.oneIn(3) {
		w = g.initials(2 + g.IntN(3))
	}
	switch g.IntN(5) {
	case 0:
		w = g.drawnOut(w, 1)
	case 1, 2:
		w = g.drawnOut(w, 3)
	case 3:
		return strings.Repeat(cut(w, 2+g.IntN(3))+g.maybeHandleNumber(4), 2+g.IntN(2)) + cut(g.anyWord(), g.IntN(5))
	case 4:
		w = strings.Repeat(w+g.maybeSeparator(), 2)
	}
	return w + g.maybeHandleNumber(3)
}

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

// rowInitials returns initials that happen to be neighbouring keys, and a number that
// does not follow a row as well.
func (g *generator) rowInitials() string {
	row := pick(g, typedRows)
	at := 1 + g.IntN(len(row)-3)
	s := row[at : at+3]
	if g.oneIn(2) {
		s = backwards(s)
	}
	return s + pick(g, []string{g.year(), g.digits(3), g.digits(4), g.date()})
}

// coined returns a word that nobody has used before and yet can be said, or one with
// its letters changed.
func (g *generator) coined() string {
	w, other := g.anyWord(), g.anyWord()
	switch g.IntN(10) {
	case 0:
		w = cut(w, 2+g.IntN(3)) + other[max(0, len(other)-2-g.IntN(3)):]
	case 1:
		w = cut(w, 2+g.IntN(3)) + cut(other, 2+g.IntN(3)) + pick(g, endings)
	case 2: // a letter is drawn out
		i := g.IntN(len(w))
		w = w[:i] + strings.Repeat(w[i:i+1], 2+g.IntN(4)) + w[i+1:]
	case 3: // one or two letters are others
		for range 1 + g.IntN(2) {
			if i := g.IntN(len(w)); i > 0 {
				w = w[:i] + g.from("xzkqwyvjuish", 1, 1) + w[i+1:]
			}
		}
	case 4:
		w = backwards(w)
	case 5: // two letters change places
		if len(w) > 3 {
			i := 1 + g.IntN(len(w)-2)
			w = w[:i] + w[i+1:i+2] + w[i:i+1] + w[i+2:]
		}
	case 6: // consonants and vowels in turn
		w = ""
		for range 2 + g.IntN(3) {
			w += g.from("bcdfghjklmnpqrstvwxyz", 1, 1) + g.from("aaeeiioouy", 1, 1)
			if g.oneIn(4) {
				w += g.from("nrlstmkxz", 1, 1)
			}
		}
	case 7:
		w = cut(w, 2+g.IntN(2)) + cut(other, 2+g.IntN(2)) + cut(g.anyWord(), 2+g.IntN(2))
	case 8:
		w = w[g.IntN(len(w)):] + other
	case 9:
		w += other[g.IntN(len(other)):]
	}
	return w + g.maybeHandleNumber(2)
}

func (g *generator) key(section string) string { return pick(g, g.syllables[section]) }

// korean returns a Korean name, or words, typed without switching the keyboard
// from Latin: alstn for Min-su.
func (g *generator) korean() string {
	given := g.key("keys first")
	if g.oneIn(2) {
		given = g.key("keys given one") + g.key("keys given two")
	}
	s := g.key("keys last") + given
	switch g.IntN(10) {
	case 0:
		s = given
	case 1:
		s = g.key("keys word")
	case 2:
		s = g.key("keys word") + g.key("keys word")
	case 3, 4, 5:
		s = ""
		for range 2 + g.IntN(3) {
			s += g.key("keys syllable")
		}
	case 6: // laughter
		s += strings.Repeat(pick(g, []string{"z", "g"}), 2+g.IntN(3))
	}
	return s + g.maybeHandleNumber(2)
}

// russian returns a Russian name or word, typed without switching the keyboard from
// Latin: ybrbnf for Nikita.
func (g *generator) russian() string {
	n := g.IntN(4)
	if n == 3 {
		return cut(g.key("russian keys first"), 1+g.IntN(10)) + g.key("russian keys last")
	}
	return g.key("russian keys "+[]string{"first", "last", "word"}[n]) + g.maybeHandleNumber(2)
}

// particled returns a Dutch name as people shorten it: initials, then the particle's
// initials, then the rest: jpmvdheuvel for J. P. M. van den Heuvel.
func (g *generator) particled() string {
	name, last := cut(pick(g, g.firsts), 1), pick(g, g.dutch)
	switch g.IntN(8) {
	case 0, 1, 2, 3:
		name += g.initials(g.IntN(3))
	case 4:
		name = pick(g, g.firsts)
	case 5:
		last = cut(last, 1+g.IntN(3))
	}
	separator := pick(g, []string{"", "", "", ".", "_"})
	s := name + separator + pick(g, particles) + last
	if g.oneIn(8) {
		s = pick(g, particles) + last + separator + name
	}
	return s + g.maybeHandleNumber(5)
}

// polynesian returns words of open syllables, two in five of them without a consonant:
// aiwohikupua.
func (g *generator) polynesian() (s string) {
	consonants := pick(g, []string{"hklmnpwk", "hklmnpwk", "fgklmnpstv", "hkmnprtw"}) // Hawaiian, Samoan, Maori
	syllables := 3 + g.IntN(9)
	for i := range syllables {
		if g.IntN(5) < 3 {
			s += g.from(consonants, 1, 1)
		}
		s += g.from("aaaeiiouu", 1, 1)
		if i == syllables/2 && g.oneIn(5) {
			s += g.separator()
		}
	}
	return s + g.maybeHandleNumber(4)
}
