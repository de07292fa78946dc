package blob

import (
	"bytes"
	"strings"

	"github.com/addrspec/addrspec/lists"
)

// Unpack returns the content of a blob that [lists.Open] has verified. Packed again, it
// gives the same bytes.
func Unpack(l *lists.Lists) Content {
	date, _, _ := strings.Cut(l.Version(), "-")
	c := Content{
		Date: date, Domains: map[string]Kind{}, Sources: l.Sources(), Roles: map[string]lists.Word{},
		Targets: bytes.Clone(l.TypoTargets()), TopLevels: bytes.Clone(l.TopLevels()),
		Providers: map[string]int{}, Rules: l.Rules(), Exchanges: map[string]int{}, Operators: l.Operators(),
	}
	l.EachDomain(func(m lists.Match) { c.Domains[string(m.Entry)] = kindOf(m, len(c.Sources)) })
	l.EachWord(func(word []byte, w lists.Word) { c.Roles[string(word)] = w })
	l.EachProvider(func(domain []byte, rule int) { c.Providers[string(domain)] = rule })
	l.EachExchange(func(suffix []byte, operator int) { c.Exchanges[string(suffix)] = operator })
	return c
}

// kindOf returns what the entry of m shares with others.
func kindOf(m lists.Match, sources int) Kind {
	k := Kind{Class: m.Class, Subdomains: m.Subdomains}
	for i := range sources {
		if m.CarriedBy(i) {
			k.Carriers |= 1 << i
		}
	}
	return k
}
