package core

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/mail"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

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

// usualEmail is the address that worst-case times are compared with.
const usualEmail = "jane.doe@example.org"

// slowest are addresses that TestSearchWorst found, before and after the search
// was bounded. TestWorstSearch of package typo bounds the work for them.
var slowest = []string{
	"jane.doe@hotmail.con", "jane.doe@yahoo.0mmccomceo", "jane.doe@yahoo.com.ko", "jane.doe@yahoo0.coop.gj", "jane.doe@live.com.mmp",
	"jane.doe@maiil.coml2eu", "jane.doe@ma1ibok.ltntiu", "jane.doe@hotmail.le", "jane.doe@taeono.khi", "jane.doe@aolungw",
}

// BenchmarkWorst has the slowest addresses beside a usual one, which takes a third of
// the time. yahoo.0mmccomceo took fifty times as long before the search was bounded.
func BenchmarkWorst(b *testing.B) {
	for _, email := range append([]string{usualEmail}, slowest...) {
		b.Run(email, func(b *testing.B) { check(b, email) })
	}
}

// TestSearchWorst searches for the domain whose typo check takes longest: it
// changes single characters of the slowest domains so far. It prints their times
// in multiples of that of a usual address. ADDRSPEC_WORST is the number of rounds.
func TestSearchWorst(t *testing.T) {
	rounds, _ := strconv.Atoi(os.Getenv("ADDRSPEC_WORST"))
	if rounds == 0 {
		t.Skip("a search by time; ADDRSPEC_WORST=20000 runs it")
	}
	s := worstSearch{checker: New(lists.Default()), random: rand.New(rand.NewPCG(uint64(rounds), 2))}
	for target := range bytes.Lines(lists.Default().TypoTargets()) {
		s.try("jane.doe@" + string(bytes.TrimSpace(target)))
	}
	for range rounds {
		s.try(s.changed(s.pool[s.random.IntN(len(s.pool))].email))
	}
	for _, d := range s.pool[:20] {
		fmt.Printf("%5.2f %s\n", d.ratio, d.email)
	}
}

type timed struct {
	email string
	ratio float64
}

// worstSearch keeps the slowest addresses, slowest first.
type worstSearch struct {
	checker *Checker
	random  *rand.Rand
	pool    []timed
}

const worstPool = 60

// try adds email to the pool if it is slow in three measurements.
func (s *worstSearch) try(email string) {
	ratio := s.ratio(email, 3)
	if s.isFast(ratio) {
		return
	}
	if ratio = min(ratio, s.ratio(email, 10), s.ratio(email, 10)); s.isFast(ratio) {
		return
	}
	if slices.ContainsFunc(s.pool, func(d timed) bool { return d.email == email }) {
		return
	}
	s.pool = append(s.pool, timed{email, ratio})
	slices.SortFunc(s.pool, func(a, b timed) int { return int(1000 * (b.ratio - a.ratio)) })
	s.pool = s.pool[:min(len(s.pool), worstPool)]
}

func (s *worstSearch) isFast(ratio float64) bool {
	return len(s.pool) == worstPool && ratio <= s.pool[worstPool-1].ratio
}

// ratio returns the least time of a check of email over the least time of one of
// usualEmail. The runs alternate, so that other programs on the machine slow both.
func (s *worstSearch) ratio(email string, runs int) float64 {
	usual, slow := time.Hour, time.Hour
	for range runs {
		usual = min(usual, s.time(usualEmail))
		slow = min(slow, s.time(email))
	}
	return float64(slow) / float64(usual)
}

func (s *worstSearch) time(email string) time.Duration {
	const calls = 30
	input, start := []byte(email), time.Now()
	for range calls {
		s.checker.Check(input)
	}
	return time.Since(start) // real time: a search by time that runs only by hand and asserts nothing
}

// changed returns email with one to three characters of its domain changed, added
// or left out.
func (s *worstSearch) changed(email string) string {
	const characters = "abcdefghijklmnopqrstuvwxyz0123456789-.aeiolmnt"
	local, domain, _ := bytes.Cut([]byte(email), []byte("@"))
	for range 1 + s.random.IntN(3) {
		at, c := s.random.IntN(len(domain)), characters[s.random.IntN(len(characters))]
		switch s.random.IntN(3) {
		case 0:
			domain[at] = c
		case 1:
			domain = slices.Insert(domain, at, c)
		default:
			if domain = slices.Delete(domain, at, at+1); len(domain) == 0 {
				domain = []byte{c}
			}
		}
	}
	if bytes.Count(domain, []byte(".")) > 2 { // the lists are asked for every parent
		return email
	}
	return string(local) + "@" + string(domain)
}
