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
// do not measure how well the model knows its trainer. Digits alone are left out: they are not
// gibberish.

const (
	lower       = "abcdefghijklmnopqrstuvwxyz"
	digits      = "0123456789"
	hexadecimal = "0123456789abcdef"
	apple       = "bcdfghjkmnpqrstvwxyz2456789"
)

func draw(random *rand.Rand, alphabet string, length int) string {
	name := make([]byte, length)
	for i := range name {
		name[i] = alphabet[random.IntN(len(alphabet))]
	}
	return string(name)
}

func drawScored(n int, group string, draw func() string) (drawn []scored) {
	for len(drawn) < n {
		if name := draw(); strings.Trim(name, digits) != "" {
			drawn = append(drawn, score(name, group, true))
		}
	}
	return drawn
}

// relayStyle generates n strings of each form that relay services and messengers make up, the
// same each time.
func relayStyle(n int) (drawn []scored) {
	random := rand.New(rand.NewPCG(12, 2026))
	for _, style := range []struct {
		alphabet string
		length   int
	}{{apple, 10}, {lower + digits, 8}, {lower + digits, 9}, {hexadecimal, 8}} {
		form := func() string { return draw(random, style.alphabet, style.length) }
		drawn = append(drawn, drawScored(n, "relay-style", form)...)
	}
	return drawn
}

// otherRandom are kinds of random local parts.
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
	{"Apple", func(r *rand.Rand) string { return draw(r, apple, 10) }},
}

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

// tempMailForms returns addresses of temp-mail.org's form, drawn by its description, and names
// of people that fit it with a number, with their scores at a domain without a class.
func tempMailForms(people []scored) (drawn, numbered []scored) {
	random := rand.New(rand.NewPCG(47, 2026))
	at := func(name, group string, random bool) scored {
		f := core.Check(name + "@acme-hotel.de")
		return scored{name, group, random, uint8(f.Gibberish)}
	}
	for range 3000 {
		name := "" // five to seven letters, consonants and vowels in turn, and digits
		for range 5 + random.IntN(3) {
			set := []string{"bcdfghjklmnpqrstvwxyz", "aeiou"}[len(name)%2]
			name += draw(random, set, 1)
		}
		drawn = append(drawn, at(name+draw(random, digits, 10-len(name)), "temp-mail", true))
	}
	for _, name := range pronounceable(people) {
		numbered = append(numbered, at(name+draw(random, digits, 10-len(name)), "name, number", false))
	}
	return drawn, numbered
}

func pronounceable(people []scored) (names []string) {
	form := regexp.MustCompile(`^([b-df-hj-np-tv-z][aeiou])+[b-df-hj-np-tv-z]?$`)
	for _, s := range people {
		if !strings.HasPrefix(s.group, "name_") {
			continue
		}
		for part := range strings.FieldsFuncSeq(s.name, func(r rune) bool { return strings.ContainsRune("._-", r) }) {
			if len(part) >= 5 && len(part) <= 7 && form.MatchString(part) && !slices.Contains(names, part) {
				names = append(names, part)
			}
		}
	}
	return names
}
