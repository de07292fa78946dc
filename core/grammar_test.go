package core

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/core/idna"
	"github.com/addrspec/addrspec/core/internal/ascii"
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
	g.addClass("atext", "aZ0!+-é日", func(r rune) bool {
		return idna.IsJoiner(r) || printable(`()<>[]:;@\,."`)(r) && !unicode.Is(unicode.Zs, r)
	})
	g.addClass("let-dig", "aZ0é日", func(r rune) bool { // IDNA restricts the characters beyond ASCII further
		return r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) || idna.IsJoiner(r) || beyond(r) && !unicode.Is(unicode.Zs, r)
	})
	g.addClass("qtext", "aZ@.(é", func(r rune) bool { return idna.IsJoiner(r) || printable(`"\`)(r) })
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
		tries = 3_000 // the rest is left to ./build.sh test ci
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
	case invisibleCharacter:
		derived = derived && !isJoinerAt(email, r.Offset) // what is beside a joiner decides
		require.False(t, derived, "%+q is refused as invisible", email)
	default:
		if strings.HasPrefix(r.Reason.Code(), "label_") || strings.HasPrefix(r.Reason.Code(), "domain_") {
			derived = derived && ascii.Is([]byte(email)) // beyond ASCII, IDNA decides; see domain_test.go
		}
		require.False(t, derived, "%+q is refused (%s at %d)", email, r.Reason.Code(), r.Offset)
	}
	return false
}

func isJoinerAt(email string, at int) bool {
	r, _ := utf8.DecodeRuneInString(email[at:])
	return idna.IsJoiner(r)
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

// A small engine for ABNF (RFC 5234). It parses rules, matches texts against a
// rule and generates texts that a rule derives. It is slow and general, and shares
// no code with the parser that it is compared with.

// node is an element of a grammar: a sequence, a choice, a repetition, the name
// of a rule, a string, or a class of characters.
type node struct {
	kind     byte // 's', 'c', 'r', 'n', '"', '?'
	kids     []*node
	min, max int // of a repetition
	text     string
	class    func(rune) bool
	examples string
}

// abnf is a grammar: its rules by name.
type abnf map[string]*node

// add parses rules, one per line.
func (g abnf) add(rules string) {
	for line := range strings.Lines(rules) {
		if name, body, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			r := reader{body}
			g[strings.TrimSpace(name)] = r.choice()
		}
	}
}

// addClass adds a rule for one character, with examples for derive.
func (g abnf) addClass(name, examples string, class func(rune) bool) {
	g[name] = &node{kind: '?', class: class, examples: examples}
}

// reader parses the right side of a rule.
type reader struct{ rest string }

func (r *reader) skip() { r.rest = strings.TrimLeft(r.rest, " ") }

func (r *reader) take(c string) bool {
	r.skip()
	rest, ok := strings.CutPrefix(r.rest, c)
	r.rest = rest
	return ok
}

func (r *reader) choice() *node {
	n := &node{kind: 'c', kids: []*node{r.sequence()}}
	for r.take("/") {
		n.kids = append(n.kids, r.sequence())
	}
	return n
}

func (r *reader) sequence() *node {
	n := &node{kind: 's'}
	for r.skip(); r.rest != "" && !strings.ContainsRune("/)]", rune(r.rest[0])); r.skip() {
		n.kids = append(n.kids, r.repetition())
	}
	return n
}

func (r *reader) repetition() *node {
	low, star := r.number(), r.take("*")
	high := r.number()
	if low < 0 && !star {
		return r.element()
	}
	if !star {
		high = low
	}
	return &node{kind: 'r', min: max(low, 0), max: high, kids: []*node{r.element()}}
}

// number parses a decimal number; -1 if there is none.
func (r *reader) number() int {
	n := len(r.rest) - len(strings.TrimLeft(r.rest, "0123456789"))
	digits := r.rest[:n]
	r.rest = r.rest[n:]
	if n == 0 {
		return -1
	}
	value, _ := strconv.Atoi(digits)
	return value
}

func (r *reader) element() *node {
	switch {
	case r.take("("):
		n := r.choice()
		r.take(")")
		return n
	case r.take("["):
		n := &node{kind: 'r', max: 1, kids: []*node{r.choice()}}
		r.take("]")
		return n
	case r.take(`"`):
		text, rest, _ := strings.Cut(r.rest, `"`)
		r.rest = rest
		return &node{kind: '"', text: text}
	}
	n := strings.IndexAny(r.rest+" ", " )]/")
	name := r.rest[:n]
	r.rest = r.rest[n:]
	return &node{kind: 'n', text: name}
}

// matcher matches elements of a grammar against a text.
type matcher struct {
	grammar abnf
	text    string
	known   map[start][]int // the ends of a rule
}

type start struct {
	rule string
	at   int
}

// derives reports whether rule derives the whole of text.
func (g abnf) derives(rule, text string) bool {
	m := matcher{g, text, map[start][]int{}}
	return slices.Contains(m.ends(&node{kind: 'n', text: rule}, 0), len(text))
}

// ends returns every offset where n can end if it begins at offset at, sorted.
func (m *matcher) ends(n *node, at int) (ends []int) {
	switch n.kind {
	case '?':
		if r, size := utf8.DecodeRuneInString(m.text[at:]); size > 0 && (r != utf8.RuneError || size > 1) && n.class(r) {
			return []int{at + size}
		}
	case '"':
		if end := at + len(n.text); end <= len(m.text) && strings.EqualFold(m.text[at:end], n.text) {
			return []int{end}
		}
	case 'n':
		return m.ruleEnds(n.text, at)
	case 'c':
		for _, kid := range n.kids {
			ends = append(ends, m.ends(kid, at)...)
		}
	case 's':
		ends = []int{at}
		for _, kid := range n.kids {
			ends = m.endsOfAll(kid, ends)
		}
	case 'r':
		ends = m.repeatedEnds(n, at)
	}
	return sorted(ends)
}

func (m *matcher) ruleEnds(rule string, at int) []int {
	key := start{rule, at}
	ends, ok := m.known[key]
	if !ok {
		ends = m.ends(m.grammar[rule], at)
		m.known[key] = ends
	}
	return ends
}

func (m *matcher) endsOfAll(n *node, starts []int) (ends []int) {
	for _, at := range starts {
		ends = append(ends, m.ends(n, at)...)
	}
	return sorted(ends)
}

func (m *matcher) repeatedEnds(n *node, at int) (ends []int) {
	starts := []int{at}
	for i := 0; len(starts) > 0; i++ {
		if i >= n.min {
			before := len(ends)
			if ends = sorted(append(ends, starts...)); len(ends) == before {
				return ends
			}
		}
		if i == n.max {
			return ends
		}
		starts = m.endsOfAll(n.kids[0], starts)
	}
	return ends
}

func sorted(s []int) []int {
	slices.Sort(s)
	return slices.Compact(s)
}

// derive generates a random text that n derives, mostly a short one.
func (g abnf) derive(n *node, random *rand.Rand, depth int) string {
	switch n.kind {
	case '?':
		rs := []rune(n.examples)
		return string(rs[random.IntN(len(rs))])
	case '"':
		return n.text
	case 'n':
		return g.derive(g[n.text], random, depth+1)
	case 'c':
		return g.derive(n.kids[random.IntN(len(n.kids))], random, depth)
	}
	count := 1
	if n.kind == 'r' {
		count = n.min
		for (n.max < 0 || count < n.max) && random.IntN(3+depth/4) == 0 {
			count++
		}
	}
	var s strings.Builder
	for range count {
		for _, kid := range n.kids {
			s.WriteString(g.derive(kid, random, depth))
		}
	}
	return s.String()
}
