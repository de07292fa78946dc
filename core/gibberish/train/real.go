package main

import "strings"

// real makes up a local part of the kinds people and companies use.
func (m *maker) real() string {
	for {
		if s := m.choose(realKinds); len(s) >= 2 && len(s) <= 64 {
			return s
		}
	}
}

// realKinds are how people, companies and those who hand out addresses write them.
var realKinds = []kind{
	{"people", 600, person},
	{"words", 70, like("V V V% V?V V?V V?V% V?V?V V?V?V%")},
	{"handles", 100, like(`H?E+ E?h+ F.# F?E+ E?F+ xEx xFx x.E.x x.F.x E?E+ E# !+ !+ E?k k?E F?k kF Ek k?F
		K?D S?E+ S?F+ S+ Fi+ H?F+ F?h+`)},
	{"companies", 50, like(`L?C W?C EE?C T?C LW?C c?L c?W c?WW c?T L?T W?T WW?T L?W W?W T?W EE?W c?LC c?WC c?TC`)},
	{"short", 30, like("fl fl fl# fml fml fml# fq fq fq q p")},
	{"initials", 30, like("f# fl# fl# fl.# flm# flm# fl.# flm.# fmlw#")},
	{"identifiers", 25, like("Pf+ fP+ Pp+ pPd fmP+")},
	{"acronyms", 25, like(`A.L A.W A.T L.A W.A c.A AC A# Ad A?A A?A.W A?A.A AW WA AL A A
		ww.L www.W wwww.T L.www W.www c.ww wwwC ww# www# wwwd ww?A www?A.W wwwW Wwww wwwL ww www wwww wwwww`)},
	{"leet", 35, (*maker).leet},
	{"roles", 20, like("R R.W R.r R# R?R")},
}

// person writes a name the ways addresses do.
var person = like(`F.L% F.L% F.L% F.L% FL% FL% fL% fL% f.L% Fl% Lf% L.F% LF% F% F% L% F.l% L.f% F.m.L% fmL% f.m.L%
	F.L?O% F?M?L% L?fm% fm?L%`)

// leet writes some letters of a handle as the digits that look like them,
// each letter every time it occurs or now and then.
func (m *maker) leet() string {
	s := []byte(leetable(m))
	chosen, always := m.Uint32()&m.Uint32(), m.odds(2)
	for i, b := range s {
		d := strings.IndexByte(leetLetters, b)
		if d >= 0 && (always && chosen>>d&1 != 0 || !always && m.odds(4)) {
			s[i] = '0' + byte(d)
		}
	}
	if m.odds(8) {
		return pick(m, []string{"2", "4", "1"}) + m.maybeSeparator() + string(s) + m.maybeNumber(3)
	}
	return string(s) + m.maybeNumber(3)
}

var leetable = like("W W E F F EE EE H?E E?h F?E xFx E?F !")

// leetLetters look like the digits 0 to 9.
const leetLetters = "oi eas tbg"
