package core

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/addrspec/addrspec/core/idna"
	"github.com/addrspec/addrspec/core/internal/ascii"
	"github.com/stretchr/testify/require"
)

// rules are the accepted grammar in ABNF: RFC 5322 section 3 with RFC 6532
// section 3.2, and RFC 5321 section 4.1.3. The tests compare the parser with
// them.
const rules = `
addr-spec       = local-part "@" domain
local-part      = dot-atom / quoted-string
domain          = host-name / domain-literal
dot-atom        = [CFWS] dot-atom-text [CFWS]
dot-atom-text   = 1*atext *("." 1*atext)
quoted-string   = [CFWS] DQUOTE *([FWS] qcontent) [FWS] DQUOTE [CFWS]
qcontent        = qtext / quoted-pair
quoted-pair     = "\" (VCHAR / WSP)
host-name       = [CFWS] label *("." label) [CFWS]
label           = let-dig *(*"-" let-dig)
domain-literal  = [CFWS] "[" *([FWS] dtext) [FWS] "]" [CFWS]
CFWS            = (1*([FWS] comment) [FWS]) / FWS
FWS             = [*WSP CRLF] 1*WSP
comment         = "(" *([FWS] ccontent) [FWS] ")"
ccontent        = ctext / quoted-pair / comment
CRLF            = CR LF
address-literal = IPv4 / "IPv6:" IPv6
IPv4            = Snum 3("." Snum)
Snum            = ["0"]["0"] DIGIT / ["0"] nonzero DIGIT / "1" DIGIT DIGIT / "2" to-four DIGIT / "25" to-five
IPv6            = IPv6-full / IPv6-comp / IPv6v4-full / IPv6v4-comp
IPv6-full       = IPv6-hex 7(":" IPv6-hex)
IPv6-comp       = [IPv6-hex *6(":" IPv6-hex)] "::" [IPv6-hex *6(":" IPv6-hex)]
IPv6v4-full     = IPv6-hex 5(":" IPv6-hex) ":" IPv4
IPv6v4-comp     = [IPv6-hex *4(":" IPv6-hex)] "::" [IPv6-hex *4(":" IPv6-hex) ":"] IPv4
IPv6-hex        = 1*4HEXDIG
mailbox-literal = "[" address-literal "]"
address-at      = local-part "@" [CFWS] mailbox-literal [CFWS]
`

func grammar() abnf {
	g := abnf{}
	g.add(rules)
	beyond := func(r rune) bool { return r >= 0x80 && !isHidden(r) }
	among := func(s string) func(rune) bool { return func(r rune) bool { return strings.ContainsRune(s, r) } }
	printable := func(not string) func(rune) bool {
		return func(r rune) bool { return beyond(r) || r > ' ' && r < 0x7F && !strings.ContainsRune(not, r) }
	}
	g.addClass("atext", "aZ0!+-é日", func(r rune) bool { return printable(`()<>[]:;@\,."`)(r) && !unicode.Is(unicode.Zs, r) })
	g.addClass("let-dig", "aZ0é日", func(r rune) bool { // IDNA restricts the characters beyond ASCII further
		return r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) || idna.IsJoiner(r) || beyond(r) && !unicode.Is(unicode.Zs, r)
	})
	g.addClass("qtext", "aZ@.(é", printable(`"\`))
	g.addClass("ctext", "aZ@.\"é", printable(`()\`))
	g.addClass("dtext", "a1:.é", printable(`[]\`))
	g.addClass("VCHAR", "a\"\\)é", printable(""))
	g.addClass("WSP", " \t", among(" \t"))
	g.addClass("CR", "\r", among("\r"))
	g.addClass("LF", "\n", among("\n"))
	g.addClass("DQUOTE", `"`, among(`"`))
	g.addClass("DIGIT", "0123456789", among("0123456789"))
	g.addClass("nonzero", "123456789", among("123456789"))
	g.addClass("to-four", "01234", among("01234"))
	g.addClass("to-five", "012345", among("012345"))
	g.addClass("HEXDIG", "09afAF", among("0123456789abcdefABCDEF"))
	return g
}

// pieces are the texts that mutate inserts: every delimiter, and characters that
// are refused at some position.
var pieces = []string{"@", ".", "..", `"`, `\`, "(", ")", "[", "]", " ", "\t", "\r\n ", "\r\n", "\r", "\n", ",", ";", "<", ">", ":", "::", "-",
	"a", "0", "ffff", "256", "IPv6:", "é", "\u00a0", "\u200b", "\u200d", "क्\u200c", "\u0085", "\x00", "\x7f", "\xff", "_"}

func mutate(s string, random *rand.Rand) string {
	for range random.IntN(3) {
		at := random.IntN(len(s) + 1)
		end := min(len(s), at+random.IntN(3))
		s = s[:at] + pieces[random.IntN(len(pieces))] + s[end:]
	}
	return s
}

// TestGrammar compares the parser with the rules on addresses derived from them,
// most of which are then mutated once or twice.
func TestGrammar(t *testing.T) {
	g := grammar()
	random := rand.New(rand.NewPCG(5322, 6531))
	valid, tries := 0, 30_000
	if testing.Short() {
		tries = 10_000 // the rest is left to ./build.sh test ci
	}
	for i := range tries {
		start := []string{"addr-spec", "addr-spec", "address-at"}[i%3]
		email := mutate(g.derive(g[start], random, 0), random)
		if len(email) <= 60 && agrees(t, g, email) {
			valid++
		}
	}
	require.Greater(t, valid, tries/5)
}

// FuzzGrammar compares the parser with the rules.
func FuzzGrammar(f *testing.F) {
	addSeeds(f)
	g := grammar()
	f.Fuzz(func(t *testing.T, email []byte) {
		if len(email) <= 60 && !aLabel.Match(email) {
			agrees(t, g, string(email))
		}
	})
}

var aLabel = regexp.MustCompile(`(?i)xn--`)

// agrees reports whether email is valid, and fails if the parser and the rules
// differ.
func agrees(t *testing.T, g abnf, email string) bool {
	var a address
	r := a.parse([]byte(email))
	derived := g.derives("addr-spec", email)
	switch r.Reason {
	case Accepted:
		require.True(t, derived, "%+q is accepted", email)
		require.LessOrEqual(t, len(a.local), 64)
		if a.domain[0] == '[' {
			require.True(t, isAddressLiteral(g, string(a.domain[1:len(a.domain)-1])), "%+q is accepted", email)
		}
		return true
	case literalIPv4, literalIPv6, literalIPv6Tag, literalUnknown:
		require.True(t, derived, "%+q is refused as a literal", email)
		_, literal, _ := strings.Cut(email[strings.LastIndex(email[:r.Offset], "["):], "[")
		literal, _, _ = strings.Cut(literal, "]")
		literal = strings.Trim(literal, " \t\r\n")
		require.False(t, isAddressLiteral(g, literal), "%+q is refused as a literal", email)
	case localPartTooLong, labelTooLong, domainTooLong, addressTooLong, normalizedTooLong:
		require.True(t, derived, "%+q is too long", email)
	default:
		if strings.HasPrefix(r.Reason.Code(), "label_") || strings.HasPrefix(r.Reason.Code(), "domain_") {
			derived = derived && ascii.Is([]byte(email)) // beyond ASCII, IDNA decides; see domain_test.go
		}
		require.False(t, derived, "%+q is refused (%s at %d)", email, r.Reason.Code(), r.Offset)
	}
	return false
}

// isAddressLiteral adds to the rules what ABNF cannot express: "::" replaces at
// least one group.
func isAddressLiteral(g abnf, s string) bool {
	groups := 0
	for _, group := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return r == ':' }) {
		switch {
		case strings.Contains(group, "."):
			groups += 2
		case group != "ipv6":
			groups++
		}
	}
	return g.derives("address-literal", s) && (!strings.Contains(s, "::") || groups <= 7)
}
