package core

import (
	"strconv"
	"strings"
	"testing"

	"github.com/addrspec/addrspec/lists"
)

// typical has one address of each common kind.
var typical = []struct{ name, email string }{
	{"usual", "jane.doe@example.com"},
	{"tagged", "Jane.Doe+news@mail.example.co.uk"},
	{"role", "support-eu@example.org"},
	{"literal", "postmaster@[192.0.2.1]"},
	{"quoted", `"jane doe"@example.com`},
	{"international", "j\u00f6rg@b\u00fccher.example"},
	{"refused", "jane doe@example.com"},
}

// BenchmarkCheck determines all facts.
func BenchmarkCheck(b *testing.B) {
	for _, c := range typical {
		b.Run(c.name, func(b *testing.B) {
			checker, input := New(lists.Default()), []byte(c.email)
			b.ReportAllocs()
			for b.Loop() {
				checker.Check(input)
			}
		})
	}
}

// hostile are inputs that could make some loop scan the rest repeatedly. The
// speed in bytes per second must not decrease with the length; an input over
// inputMax is not parsed at all.
var hostile = []struct{ name, prefix, repeated, suffix string }{
	{"atoms", "", "a", "@x"},
	{"dots", "", "a.", "a@x"},
	{"nested comments", "", "(", ""},
	{"comments", "", "(c)", "a@x"},
	{"white space", "a.", " ", "@x"},
	{"quoted-pairs", "\"", "\\\"", "\"@x"},
	{"folds", "\"", "\r\n a", "\"@x"},
	{"labels", "a@", "a.", "a"},
	{"long label", "a@", "a", ""},
	{"U-labels", "a@", "\u00e9.", "a"},
	{"marks", "a@e", "\u0301", ".x"},
	{"joiners", "a@\u0628", "\u200c\u0628", ""},
	{"mapped dots", "a@a", "\u3002", "a"},
	{"literal", "a@[IPv6:", "1:", "]"},
	{"no @", "", "\u65e5", ""},
	{"angle brackets", "a ", "a ", "<@"},
}

func BenchmarkHostile(b *testing.B) {
	for _, c := range hostile {
		for _, size := range []int{inputMax / 8, inputMax, 1 << 20} {
			n := (size - len(c.prefix) - len(c.suffix)) / len(c.repeated)
			email := []byte(c.prefix + strings.Repeat(c.repeated, n) + c.suffix)
			b.Run(c.name+"/"+strconv.Itoa(size), func(b *testing.B) {
				a := new(address)
				b.SetBytes(int64(len(email)))
				for b.Loop() {
					a.parse(email)
				}
			})
		}
	}
}
