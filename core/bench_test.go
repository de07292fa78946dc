package core

import (
	"net/mail"
	"testing"

	"github.com/addrspec/addrspec/lists"
)

// typical are addresses as people have them, and what each stands for.
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

// BenchmarkCheck states all twelve facts; BenchmarkParseAddress beside it is
// the limit that they have to keep: net/mail's parser alone.
func BenchmarkCheck(b *testing.B) {
	for _, c := range typical {
		email := []byte(c.email)
		b.Run(c.name, func(b *testing.B) {
			checker := New(lists.Default())
			b.ReportAllocs()
			for b.Loop() {
				checker.Check(email)
			}
		})
	}
}

func BenchmarkParseAddress(b *testing.B) {
	for _, c := range typical {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = mail.ParseAddress(c.email)
			}
		})
	}
}
