package main

import "strings"

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
	{"abbreviated", 70, (*generator).abbreviated},
	{"opaque", 140, (*generator).opaque},
	{"numbered", 30, (*generator).numbered},
	{"models", 35, (*generator).model},
	{"coined", 30, (*generator).coined},
	{"roll numbers", 60, (*generator).roll},
	{"pinyin", 50, (*generator).chinese},
	{"Korean keys", 14, (*generator).korean},
	{"leet anywhere", 14, (*generator).respelledLeet},
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
