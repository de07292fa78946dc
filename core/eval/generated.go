package main

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/addrspec/addrspec/core"
)

// Local parts that programs and bored hands make up. The trainer has generators of its own
// (core/gibberish/train/random.go); this file shares nothing with them, so that the figures
// do not measure how well the model knows its trainer.

// otherRandom are kinds of random local parts. None has digits alone.
var otherRandom = []struct {
	name string
	draw func(*rand.Rand) string
}{
	{"mash", mash},
	{"8 letters", func(r *rand.Rand) string { return draw(r, lower, 8) }},
	{"9 to 12 letters", func(r *rand.Rand) string { return draw(r, lower, 9+r.IntN(4)) }},
	{"17 letters", func(r *rand.Rand) string { return draw(r, lower, 17) }},
	{"base32", func(r *rand.Rand) string { return draw(r, lower+"234567", 8+2*r.IntN(3)) }},
	{"base36", func(r *rand.Rand) string { return strconv.FormatUint(r.Uint64()>>(17+r.IntN(12)), 36) }},
	{"base58", func(r *rand.Rand) string {
		return strings.ToLower(draw(r, "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", 9+r.IntN(5)))
	}},
	{"md5 prefix", func(r *rand.Rand) string { return draw(r, hexadecimal, 8+2*r.IntN(3)) }},
	{"uuid", func(r *rand.Rand) string {
		s := draw(r, hexadecimal, 32)
		return s[:8] + "-" + s[8:12] + "-4" + s[13:16] + "-a" + s[17:20] + "-" + s[20:]
	}},
	{"user_ and hex", func(r *rand.Rand) string { return "user_" + draw(r, hexadecimal, 8+2*r.IntN(3)) }},
	{"Apple", func(r *rand.Rand) string { return draw(r, relayStyles[0].alphabet, relayStyles[0].length) }},
}

const (
	lower       = "abcdefghijklmnopqrstuvwxyz"
	hexadecimal = "0123456789abcdef"
)

// mash returns what the fingers of a hand that rests on the home row hit: bursts of two to
// four keys, mostly by the other hand than the burst before.
func mash(r *rand.Rand) (name string) {
	hands := []string{"aaassssdddddffffffgggwerttxcv", "jjjjjjkkkkkklllllhhhhuiiopnm"}
	hand := r.IntN(2)
	for n := 7 + r.IntN(7); len(name) < n; {
		for range 2 + r.IntN(3) {
			key := draw(r, hands[hand], 1)
			if !strings.HasSuffix(name, key) {
				name += key
			}
		}
		if r.IntN(4) > 0 {
			hand = 1 - hand
		}
	}
	return name
}

// drawOther returns n local parts of each kind of otherRandom, the same each time.
func drawOther(n int) (groups []scored) {
	random := rand.New(rand.NewPCG(29, 11))
	for _, kind := range otherRandom {
		var names []string
		for len(names) < n {
			if name := kind.draw(random); !digitsOnly(name) {
				names = append(names, name)
			}
		}
		groups = append(groups, scoreAll(kind.name, true, names))
	}
	return groups
}

// formRows measures the form of temp-mail.org at a domain without a class, on addresses
// drawn by its description and on names of people that fit it, with a number.
func formRows(people []scored) []row {
	random := rand.New(rand.NewPCG(47, 2026))
	drawn := scored{group: "temp-mail", random: true}
	for range 3000 {
		drawn.add(tempMailStyle(random))
	}
	numbered := scored{group: "name, number"}
	for _, name := range pronounceable(people) {
		numbered.add(name + digits(random, 10-len(name)))
	}
	return []row{
		{check: "gibberish: temp-mail.org's form caught, %", data: rowsOf("addresses drawn", len(drawn.names)), figure: percent([]scored{drawn}), floor: 97, target: 95, wrong: wrong([]scored{drawn})},
		{check: "gibberish: names with a number in this form not flagged, %", data: rowsOf("names", len(numbered.names)), figure: 100 - percent([]scored{numbered}), floor: 82, wrong: wrong([]scored{numbered})},
	}
}

// add adds a local part with its score at a domain without a class.
func (g *scored) add(name string) {
	f := core.Check(name + "@acme-hotel.de")
	g.names, g.scores = append(g.names, name), append(g.scores, uint8(f.Gibberish))
}

// tempMailStyle returns five to seven letters, consonants and vowels in turn, and digits.
func tempMailStyle(random *rand.Rand) (name string) {
	for range 5 + random.IntN(3) {
		set := "bcdfghjklmnpqrstvwxyz"
		if len(name)%2 == 1 {
			set = "aeiou"
		}
		name += draw(random, set, 1)
	}
	return name + digits(random, 10-len(name))
}

func digits(random *rand.Rand, n int) string { return draw(random, "0123456789", n) }

// pronounceable returns the parts of people's names that are consonants and vowels in turn.
func pronounceable(groups []scored) (names []string) {
	form := regexp.MustCompile(`^([b-df-hj-np-tv-z][aeiou])+[b-df-hj-np-tv-z]?$`)
	for _, g := range groups {
		if !strings.HasPrefix(g.group, "name_") {
			continue
		}
		for _, name := range g.names {
			for _, part := range strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("._-", r) }) {
				if len(part) >= 5 && len(part) <= 7 && form.MatchString(part) && !slices.Contains(names, part) {
					names = append(names, part)
				}
			}
		}
	}
	return names
}
