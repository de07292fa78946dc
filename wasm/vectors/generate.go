package vectors

import (
	"math/rand/v2"
	"strings"
)

// Generate returns n addresses that depend on the seed only: usual ones, odd
// ones, invalid ones, and some that are not UTF-8.
func Generate(seed uint64, n int) []string {
	g := generator{rand.New(rand.NewPCG(seed, 0))}
	list := make([]string, n)
	for i := range list {
		s := g.local() + "@" + g.domain()
		if g.IntN(3) == 0 {
			for range 1 + g.IntN(3) {
				s = g.damage(s)
			}
		}
		list[i] = s
	}
	return list
}

type generator struct{ *rand.Rand }

// local returns a local part: a word, two words, random letters, or an odd form
// of RFC 5322 or RFC 6531.
func (g generator) local() string {
	switch g.IntN(8) {
	case 0, 1:
		return g.of(words)
	case 2, 3:
		return g.of(words) + g.of(joints) + g.of(words)
	case 4:
		return g.of(words) + "+" + g.random(1+g.IntN(6))
	case 5:
		return g.random(1 + g.IntN(24))
	case 6:
		return g.of(odd) + g.of(words)
	default:
		return g.of(odd)
	}
}

// domain returns a provider, a misspelling of one, a name under one of several
// kinds of top-level domain, a literal, or labels at their limits.
func (g generator) domain() string {
	switch g.IntN(6) {
	case 0:
		return g.of(providers)
	case 1:
		return g.misspell(g.of(providers))
	case 2:
		return g.of(words) + "." + g.of(topLevels)
	case 3:
		return g.random(1+g.IntN(66)) + "." + g.of(topLevels)
	case 4:
		return g.of(words) + g.of(joints) + g.of(words) + "." + g.of(topLevels)
	default:
		return g.of(oddDomains)
	}
}

// of returns a random element of list.
func (g generator) of(list []string) string { return list[g.IntN(len(list))] }

const letters = "abcdefghijklmnopqrstuvwxyz0123456789"

// random returns n random letters and digits.
func (g generator) random(n int) string {
	var s strings.Builder
	for range n {
		s.WriteByte(letters[g.IntN(len(letters))])
	}
	return s.String()
}

// misspell transposes two letters of s, or doubles, drops or replaces one.
func (g generator) misspell(s string) string {
	i := g.IntN(len(s) - 1)
	switch g.IntN(4) {
	case 0:
		return s[:i] + s[i+1:i+2] + s[i:i+1] + s[i+2:]
	case 1:
		return s[:i] + s[i:i+1] + s[i:]
	case 2:
		return s[:i] + s[i+1:]
	default:
		return s[:i] + g.random(1) + s[i+1:]
	}
}

// damage truncates s, changes its case, or inserts something that is rarely
// valid there.
func (g generator) damage(s string) string {
	i := g.IntN(len(s) + 1)
	switch g.IntN(5) {
	case 0:
		return s[:i]
	case 1:
		return s[:i] + string([]byte{byte(g.IntN(256))}) + s[i:]
	case 2:
		return s[:i] + strings.ToUpper(s[i:])
	default:
		return s[:i] + g.of(pieces) + s[i:]
	}
}

// The parts that Generate combines.
var (
	words = []string{
		"jane", "john.smith", "maria", "o'neil", "li", "mueller", "info", "no-reply", "sales", "support",
		"admin", "hr", "postmaster", "salesman", "teamster", "x", "1984", "qwerty", "example", "newsletter",
		"José", "søren", "иван", "用户", "δοκιμή", "MixedCase",
	}
	joints = []string{".", "-", "_", "", "..", "+"}
	odd    = []string{
		"", ".", "a.", ".a", `"quoted"`, `"with space"`, `"a\"b"`, `"a\\b"`, `""`, `"open`, `"tab	in"`,
		"(comment)", "(a(nested)b)", "(open", "a b", "a\tb", "a\r\n b", "a\nb", "!#$%&'*+-/=?^_`{|}~",
		"e\u0301", "\u200b", "\u202e", "a\u00adb", "\ufeff", "ﬁ", strings.Repeat("l", 64), strings.Repeat("l", 65),
		"a\x00b", "\x7f", "\xff", "\xed\xa0\x80", "\u0628\u200c\u0628", "(" + strings.Repeat("c", 4090) + ")",
	}
	providers = []string{
		"gmail.com", "googlemail.com", "hotmail.com", "outlook.com", "yahoo.com", "yahoo.co.in", "icloud.com",
		"aol.com", "gmx.de", "web.de", "mail.ru", "qq.com", "proton.me", "ymail.com", "mailinator.com",
		"guerrillamail.com", "privaterelay.appleid.com", "mozmail.com",
	}
	topLevels  = []string{"com", "org", "de", "co.uk", "museum", "invalid", "123", "x", "рф", "xn--p1ai", "c", ""}
	oddDomains = []string{
		"", ".", "localhost", "127.0.0.1", "[127.0.0.1]", "[IPv6:2001:db8::1]", "[IPv6:::]", "[1.2.3]", "[", "[]",
		"-a.example", "a-.example", "a..example", "example.org.", "under_score.example", "bücher.example",
		"xn--bcher-kva.example", "xn--a.example", "straße.example", "ＦＵＬＬ.example", "例え。テスト",
		"\u0627\u0644.example", "a\u200db.example", "\u0915\u094d\u200d\u0937.example", "\u0646\u0627\u0645\u0647\u200c\u0627\u06cc.com",
		"xn--mgba3gch31f060k.com", "(c)example.org", "example (c) .org", "example.org(c)",
		strings.Repeat("d", 63) + ".example", strings.Repeat("d", 64) + ".example",
		strings.Repeat("a.", 126) + "a", strings.Repeat("a.", 127) + "a",
	}
	pieces = []string{
		"@", "@@", ".", "..", " ", "\t", "\r\n", "\r\n ", "\x00", "\x1b", "(", ")", "(c)", `"`, `\`, "<", ">", ",", ";", ":",
		"[", "]", "+", "é", "e\u0301", "ß", "İ", "ς", "漢", "\u200b", "\u200c", "\u200d", "\u094d\u200d", "\u2066", "\u0300", "\ufffd", "😀", "\xc3", "\xf4\x90\x80\x80",
	}
)
