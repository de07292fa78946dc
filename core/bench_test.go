package core

import (
	"net/mail"
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

func BenchmarkParse(b *testing.B) {
	for _, c := range typical {
		email := []byte(c.email)
		b.Run(c.name, func(b *testing.B) {
			a := new(address)
			b.ReportAllocs()
			for b.Loop() {
				a.parse(email)
			}
		})
	}
}

// BenchmarkCheck determines all facts; BenchmarkParseAddress only parses, with
// net/mail.
func BenchmarkCheck(b *testing.B) {
	for _, c := range typical {
		b.Run(c.name, func(b *testing.B) { check(b, c.email) })
	}
}

func BenchmarkParseAddress(b *testing.B) {
	for _, c := range typical {
		b.Run(c.name, func(b *testing.B) { parseAddress(b, c.email) })
	}
}

// BenchmarkLimit compares the time to determine all facts about usual addresses
// with its limit: the time that net/mail takes only to parse them, in the same
// run.
func BenchmarkLimit(b *testing.B) {
	for _, email := range []string{
		"jane.doe@example.org", "j.smith@gmail.com", "hans.mueller@stadtwerke-muenchen.de",
		"info@mycompany.de", "user1234@yahoo.co.uk",
	} {
		b.Run(email+"/facts", func(b *testing.B) { check(b, email) })
		b.Run(email+"/limit", func(b *testing.B) { parseAddress(b, email) })
	}
}

func check(b *testing.B, email string) {
	checker, input := New(lists.Default()), []byte(email)
	b.ReportAllocs()
	for b.Loop() {
		checker.Check(input)
	}
}

func parseAddress(b *testing.B, email string) {
	b.ReportAllocs()
	for b.Loop() {
		_, _ = mail.ParseAddress(email)
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

// slowest are addresses that a search by time found, before and after the search was
// bounded. TestWorstSearch of package typo bounds the work for them.
var slowest = []string{
	"jane.doe@hotmail.con", "jane.doe@yahoo.0mmccomceo", "jane.doe@yahoo.com.ko", "jane.doe@yahoo0.coop.gj", "jane.doe@live.com.mmp",
	"jane.doe@maiil.coml2eu", "jane.doe@ma1ibok.ltntiu", "jane.doe@hotmail.le", "jane.doe@taeono.khi", "jane.doe@aolungw",
}

// BenchmarkWorst has the slowest addresses beside a usual one, which takes a third of
// the time. yahoo.0mmccomceo took fifty times as long before the search was bounded.
func BenchmarkWorst(b *testing.B) {
	for _, email := range append([]string{"jane.doe@example.org"}, slowest...) {
		b.Run(email, func(b *testing.B) { check(b, email) })
	}
}
