package main

import "math/rand/v2"

// relayStyles are the forms of the local parts that relay services and messengers
// make up: the characters and the length.
var relayStyles = []struct {
	name, alphabet string
	length         int
}{
	{"Apple, 10 characters", "bcdfghjkmnpqrstvwxyz2456789", 10},
	{"base 36, 8 characters", "abcdefghijklmnopqrstuvwxyz0123456789", 8},
	{"base 36, 9 characters", "abcdefghijklmnopqrstuvwxyz0123456789", 9},
	{"hexadecimal, 8 characters", "0123456789abcdef", 8},
}

// relayStyle generates n strings of each form, the same each time. Eight digits of
// the hexadecimal form are left out: digits alone are not gibberish.
func relayStyle(n int) (names []string) {
	random := rand.New(rand.NewPCG(12, 2026))
	for _, style := range relayStyles {
		for left := n; left > 0; {
			if name := draw(random, style.alphabet, style.length); !digitsOnly(name) {
				names = append(names, name)
				left--
			}
		}
	}
	return names
}

func draw(random *rand.Rand, alphabet string, length int) string {
	name := make([]byte, length)
	for i := range name {
		name[i] = alphabet[random.IntN(len(alphabet))]
	}
	return string(name)
}

func digitsOnly(name string) bool {
	for _, c := range name {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
