package policy

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
)

// checker is of the built-in lists. Facts of it are valid until the next use.
var checker = core.New(lists.Default())

func mustParse(t testing.TB, document string) *Policy {
	t.Helper()
	p, err := Parse([]byte(document), checker)
	require.NoError(t, err)
	return p
}

// verdictOn returns the verdict's JSON on an address of which a host looked up what it says.
func verdictOn(p *Policy, email string, found Lookup) string {
	in := inputOf(email)
	in.Lookup = found
	return string(AppendJSON(nil, p.Evaluate(&in, checker)))
}

func inputOf(email string) Input {
	checker := core.New(lists.Default()) // the input is valid while checker is used
	facts := checker.Check([]byte(email))
	return Of(&facts, checker.Form(&facts))
}

func verdict(action, reason, rule string) string {
	orNull := func(s string) string {
		if s == "" {
			return "null"
		}
		return `"` + s + `"`
	}
	return `{"action":"` + action + `","reason":` + orNull(reason) + `,"rule":` + orNull(rule) + `}`
}

// The most specific entry decides, whatever the order of the members, and before a reason.
func TestDomainEntries(t *testing.T) {
	p := mustParse(t, `{
		"review": {"domains": ["*.example", "same.example", "all.example", "xn--bcher-kva.test"], "reasons": ["public"]},
		"block": {"domains": ["*.corp.example", "x.sub.corp.example", "same.example", "all.example", "same.example", "bücher.test", "gmail.com"], "reasons": ["role"]},
		"allow": {"domains": ["corp.example", "*.sub.corp.example", "all.example", "*.xn--p1ai", "*.gmail.com"]}
	}`)
	for _, c := range []struct{ email, want string }{
		{"a@corp.example", verdict("allow", "domain", "allow.domains[0]")},
		{"a@Corp.Example", verdict("allow", "domain", "allow.domains[0]")},
		{"info@corp.example", verdict("allow", "domain", "allow.domains[0]")},
		{"a@b.corp.example", verdict("block", "domain", "block.domains[0]")},
		{"a@notcorp.example", verdict("review", "domain", "review.domains[0]")},
		{"a@sub.corp.example", verdict("allow", "domain", "allow.domains[1]")},
		{"a@y.sub.corp.example", verdict("allow", "domain", "allow.domains[1]")},
		{"a@x.sub.corp.example", verdict("block", "domain", "block.domains[1]")},
		{"a@z.x.sub.corp.example", verdict("allow", "domain", "allow.domains[1]")},
		{"a@same.example", verdict("block", "domain", "block.domains[2]")},
		{"a@all.example", verdict("allow", "domain", "allow.domains[2]")},
		{"a@b.all.example", verdict("review", "domain", "review.domains[0]")},
		{"a@BÜCHER.test", verdict("block", "domain", "block.domains[5]")},
		{"a@xn--bcher-kva.test", verdict("block", "domain", "block.domains[5]")},
		{"a@b\u3002рф", verdict("allow", "domain", "allow.domains[3]")},
		{"a@gmail.com", verdict("block", "domain", "block.domains[6]")},
		{"a@mail.gmail.com", verdict("allow", "domain", "allow.domains[4]")},
		{"a@example", verdict("review", "domain", "review.domains[0]")},
		{"a@[192.0.2.1]", verdict("allow", "", "")},
		{"a@", verdict("block", "invalid", "")},
		{"info@other.org", verdict("block", "role", "block.reasons[0]")},
		{"a@yahoo.com", verdict("review", "public", "review.reasons[0]")},
		{"a@other.org", verdict("allow", "", "")},
	} {
		require.Equal(t, c.want, verdictOn(p, c.email, 0), c.email)
	}
}

// Every reason applies where its fact is true, and nowhere else.
func TestReasons(t *testing.T) {
	const valid = wordValid | wordASCII
	host := []byte("a.example")
	type row struct {
		reason    string
		yes, noes []Input
	}
	rows := []row{
		{"disposable", []Input{{Facts: valid | wordDisposable, Host: host}}, []Input{{Facts: valid | ^uint32(wordDisposable), Host: host}}},
		{"public", []Input{{Facts: valid | wordPublic, Host: host}}, []Input{{Facts: ^uint32(wordPublic), Host: host}}},
		{"relay", []Input{{Facts: valid | wordRelay, Host: host}}, []Input{{Facts: ^uint32(wordRelay), Host: host}}},
		{"typo", []Input{{Facts: valid | wordTypo, Host: host}}, []Input{{Facts: ^uint32(wordTypo), Host: host}}},
		{"alias", []Input{{Facts: valid | wordAlias, Host: host}}, []Input{{Facts: ^uint32(wordAlias), Host: host}}},
		{"role", []Input{{Facts: valid | wordRole, More: 10 << 8, Host: host}}, []Input{{Facts: ^uint32(wordRole), Host: host}}},
		{"role:admin", []Input{{Facts: valid | wordRole, More: 1 << 8, Host: host}}, []Input{{Facts: valid | wordRole, More: 2 << 8, Host: host}, {Facts: valid, More: 15 << 8}}},
		{"role:hr", []Input{{Facts: valid | wordRole, More: 10 << 8, Host: host}}, []Input{{Facts: valid | wordRole, More: 1 << 8, Host: host}, {Facts: valid, More: 11 << 8}}},
		{"gibberish", []Input{{Facts: valid | wordGibberish, Host: host}}, []Input{{Facts: ^uint32(wordGibberish), More: 100, Host: host}}},
		{"gibberish>=0.8", []Input{{Facts: valid, More: 80, Host: host}, {Facts: valid, More: 127, Host: host}}, []Input{{Facts: valid | wordGibberish, More: 79 | 0xFFFFFF80, Host: host}}},
		{"gibberish>=0.01", []Input{{Facts: valid, More: 1, Host: host}}, []Input{{Facts: valid, Host: host}}},
		{"gibberish>=1", []Input{{Facts: valid, More: 100, Host: host}}, []Input{{Facts: valid, More: 99, Host: host}}},
		{"non_ascii", []Input{{Facts: wordValid, Host: host}}, []Input{{Facts: ^uint32(0), Host: host}}},
		{"no_mx", []Input{{Facts: valid, Lookup: LookedUp, Host: host}, {Facts: valid, Lookup: LookedUp | AddressLookedUp | HasAddress, Host: host}, {Facts: valid}, {Facts: valid, Lookup: LookedUp | HasMX}},
			[]Input{{Facts: valid, Host: host}, {Facts: valid, Lookup: LookedUp | HasMX, Host: host}, {Facts: valid, Lookup: AddressLookedUp, Host: host}}},
		{"no_mail", []Input{{Facts: valid, Lookup: LookedUp | AddressLookedUp, Host: host}},
			[]Input{{Facts: valid, Host: host}, {Facts: valid, Lookup: LookedUp, Host: host}, {Facts: valid, Lookup: LookedUp | HasMX | AddressLookedUp, Host: host},
				{Facts: valid, Lookup: LookedUp | AddressLookedUp | HasAddress, Host: host}, {Facts: valid, Lookup: AddressLookedUp, Host: host}, {Facts: valid, Lookup: LookedUp | AddressLookedUp}}},
	}
	for n, form := range strings.Fields("quoted comment literal single_label unknown_tld special_use generated odd_character looks_disposable mailbox_form") {
		bit := uint32(1) << (16 + n)
		rows = append(rows, row{form, []Input{{Facts: valid, More: bit, Host: host}}, []Input{{Facts: valid, More: ^bit, Host: host}}})
	}
	for _, c := range rows {
		p := mustParse(t, `{"review":{"reasons":["`+c.reason+`"]}}`)
		for _, in := range c.yes {
			require.Equal(t, verdict("review", c.reason, "review.reasons[0]"), string(AppendJSON(nil, p.Evaluate(&in, checker))), "%s: %+v", c.reason, in)
		}
		for _, in := range c.noes {
			in.Facts |= wordValid
			require.Equal(t, verdict("allow", "", ""), string(AppendJSON(nil, p.Evaluate(&in, checker))), "%s: %+v", c.reason, in)
			require.Empty(t, p.Evaluate(&in, checker).Rule())
		}
	}
}

// Of several thresholds the first that is reached decides, also where a lower one is before it.
func TestManyThresholds(t *testing.T) {
	p := mustParse(t, `{"block":{"reasons":["gibberish>=0.9","gibberish>=0.2"]},"review":{"reasons":["gibberish>=0.1","gibberish>=0.5"]}}`)
	for score, want := range map[uint32]string{95: "block.reasons[0]", 60: "block.reasons[1]", 20: "block.reasons[1]", 10: "review.reasons[0]", 9: ""} {
		require.Equal(t, want, p.Evaluate(&Input{Facts: wordValid | wordASCII, More: score, Host: []byte("a.example")}, checker).Rule())
	}
}

// Facts and More agree with the result's JSON.
func TestOf(t *testing.T) {
	for _, email := range []string{"a@b.example", "info+x@gmial.com", "a@mailinator.com", "xkqjzvwq@gmail.com", "a@duck.com", "é@x.example", "noreply@x.example", "", "hr@x.example"} {
		facts := core.Check(email)
		in := Of(&facts, 0)
		var result map[string]any
		require.NoError(t, json.Unmarshal(facts.JSON(), &result))
		for bit, name := range strings.Fields("valid alias ascii role gibberish disposable public relay typo") {
			value := result[name]
			require.Equal(t, value != nil && value != false, in.Facts>>bit&1 == 1, "%s %s", email, name)
		}
		require.Equal(t, result["gibberish_score"], float64(in.More&0x7F)/100)
		require.Equal(t, facts.Role, lists.Role(in.More>>8&0xF))
		require.Equal(t, facts.Host, in.Host)
	}
	for name, email := range map[string]string{"quoted": `"a b"@iana.org`, "comment": "a(b)@iana.org", "literal": "a@[192.0.2.1]",
		"single_label": "a@com", "unknown_tld": "a@iana.cmo", "special_use": "a@mail.example.com", "odd_character": "'a@iana.org",
		"looks_disposable": "a@a-name.hair", "mailbox_form": "a_b@gmail.com"} {
		require.EqualValues(t, 1<<(slices.Index(reasonNames, name)-firstForm), inputOf(email).More>>16, email)
		p := mustParse(t, `{"block":{"reasons":["`+name+`"]}}`)
		require.Equal(t, verdict("block", name, "block.reasons[0]"), verdictOn(p, email, 0))
	}
}

func TestVerdict(t *testing.T) {
	p := mustParse(t, `{"block":{"reasons":["typo","gibberish>=0.5"]},"review":{"reasons":["gibberish"]}}`)
	in := inputOf("xkqjzvwq@gmail.com")
	v := p.Evaluate(&in, checker)
	require.Equal(t, []string{"block", "gibberish>=0.5", "block.reasons[1]"}, []string{v.Action.String(), v.Reason(), v.Rule()})
	require.Equal(t, verdict("block", "invalid", ""), verdictOn(mustParse(t, "{}"), "a", 0))
	require.Equal(t, verdict("allow", "", ""), verdictOn(mustParse(t, "{}"), "a@b.example", LookedUp))
}

// canonicalOf is the member canonical of the details of an address, "" if it is not valid.
func canonicalOf(t testing.TB, email string) string {
	var result struct{ Details struct{ Canonical string } }
	require.NoError(t, json.Unmarshal(core.Explain(email), &result))
	return result.Details.Canonical
}

// covers reports whether a domain entry covers host, and how specific it is.
func covers(text, host string) (specific int, ok bool) {
	name, below, _ := domainOracle(text)
	switch {
	case !below && host == name:
		return 1000 + len(name), true
	case below && (host == name || strings.HasSuffix(host, "."+name)):
		return len(name), true
	}
	return 0, false
}

// exchangeOracle is the verdict by exchanges: "" if no member has entries that cover each of them.
func exchangeOracle(p accepted, exchanges [][]byte) (best string) {
	most := 0
	for _, section := range []string{"allow", "block", "review"} {
		covered := map[string]bool{}
		own, specific := "", 0
		for n, text := range p[section]["exchanges"] {
			for _, exchange := range exchanges {
				name := bytes.Map(func(r rune) rune {
					if 'A' <= r && r <= 'Z' {
						r += 'a' - 'A'
					}
					return r
				}, bytes.TrimSuffix(exchange, []byte(".")))
				length, ok := covers(text, string(name))
				covered[string(exchange)] = covered[string(exchange)] || ok
				if length > specific {
					own, specific = verdict(section, "exchange", section+".exchanges["+strconv.Itoa(n)+"]"), length
				}
			}
		}
		all := !slices.ContainsFunc(exchanges, func(exchange []byte) bool { return !covered[string(exchange)] })
		if all && specific > most {
			best, most = own, specific
		}
	}
	return best
}

// expected is the verdict by another program: it looks at every entry, and reads the
// document by encoding/json.
func expected(t testing.TB, document []byte, in Input) string {
	p, ok := decode(document)
	require.True(t, ok)
	if in.Facts&1 == 0 {
		return verdict("block", "invalid", "")
	}
	mailbox := canonicalOf(t, string(in.Address))
	for _, section := range []string{"allow", "block", "review"} {
		for n, text := range p[section]["addresses"] {
			if mailbox != "" && canonicalOf(t, text) == mailbox {
				return verdict(section, "address", section+".addresses["+strconv.Itoa(n)+"]")
			}
		}
	}
	best, specific := "", 0
	for _, section := range []string{"allow", "block", "review"} {
		for n, text := range p[section]["domains"] {
			length, _ := covers(text, string(in.Host))
			if length > specific {
				best, specific = verdict(section, "domain", section+".domains["+strconv.Itoa(n)+"]"), length
			}
		}
	}
	if best == "" {
		best = exchangeOracle(p, in.Exchanges)
	}
	if best != "" {
		return best
	}
	for _, section := range []string{"block", "review"} {
		for n, text := range p[section]["reasons"] {
			if applies(text, in) {
				return verdict(section, text, section+".reasons["+strconv.Itoa(n)+"]")
			}
		}
	}
	return verdict("allow", "", "")
}

func applies(text string, in Input) bool {
	word0 := strings.Fields("valid alias ascii role gibberish disposable public relay typo")
	form := strings.Fields("quoted comment literal single_label unknown_tld special_use generated odd_character looks_disposable mailbox_form")
	roles := strings.Fields("none role:admin role:support role:sales role:marketing role:general role:noreply role:billing role:legal role:it role:hr - - - - -")
	looked, mx, address, has := in.Lookup&1 != 0, in.Lookup&2 != 0, in.Lookup&4 != 0, in.Lookup&8 != 0
	for n, name := range word0 {
		if name == text && in.Facts>>n&1 == 1 {
			return true
		}
	}
	for n, name := range form {
		if name == text && in.More>>(16+n)&1 == 1 {
			return true
		}
	}
	score, ok := strings.CutPrefix(text, "gibberish>=")
	least, _ := strconv.ParseFloat(score, 64)
	return roles[in.More>>8&15] == text || ok && int(in.More&127) >= int(least*100+0.5) || text == "non_ascii" && in.Facts&4 == 0 ||
		text == "no_mx" && (len(in.Host) == 0 || looked && !mx) || text == "no_mail" && len(in.Host) > 0 && looked && !mx && address && !has
}

// FuzzEvaluate compares any policy and any input with the other program.
func FuzzEvaluate(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s), uint32(0x1FF), uint32(0xFFFFFFFF), uint32(5), "a.example", "jane.doe+x@gmail.com", "mx.a.example")
	}
	f.Add([]byte(`{"allow":{"domains":["*.a","b.a"]},"block":{"domains":["*.b.a","a"]},"review":{"reasons":["no_mail","role:it"]}}`), uint32(1), uint32(9<<8), uint32(5), "b.a", "", "")
	f.Add([]byte(`{"allow":{"domains":["*.a"]}}`), uint32(1), uint32(0), uint32(0), strings.Repeat(".", 400)+"a", "", "")
	f.Add([]byte(`{"allow":{"exchanges":["*.a","b.c"]},"block":{"exchanges":["*.b.a","b.c","a"]},"review":{"exchanges":["*.c","b.a","*.a"]}}`), uint32(1), uint32(0), uint32(3), "x", "", "b.a b.c")
	f.Fuzz(func(t *testing.T, document []byte, facts, more, found uint32, host, email, exchanges string) {
		p, err := Parse(document, checker)
		if err != nil {
			return
		}
		in := Input{facts, more, Lookup(found), []byte(host), []byte(email), bytes.Fields([]byte(exchanges))}
		got := string(AppendJSON(nil, p.Evaluate(&in, checker)))
		if len(host) <= 253 && !slices.ContainsFunc(in.Exchanges, func(name []byte) bool { return len(name) > 253 }) {
			require.Equal(t, expected(t, document, in), got)
		}
		require.LessOrEqual(t, len(got), maxVerdict)
	})
}

// maxVerdict is the length of the longest verdict, which the module relies on.
var maxVerdict = len(verdict("review", "looks_disposable", "review.reasons[9999]"))

// A table of 10,000 names that are entries at every level gives what the other program gives.
func TestManyDomains(t *testing.T) {
	random := rand.New(rand.NewPCG(30, 1))
	name := func() string {
		labels := make([]string, 1+random.IntN(4))
		for i := range labels {
			labels[i] = string(rune('a' + random.IntN(12)))
		}
		return strings.Join(labels, ".")
	}
	document := map[string]map[string][]string{}
	for n := range 3_000 {
		section := []string{"allow", "block", "review"}[n%3]
		if document[section] == nil {
			document[section] = map[string][]string{}
		}
		document[section]["domains"] = append(document[section]["domains"], []string{"", "*."}[random.IntN(2)]+name())
	}
	text, err := json.Marshal(document)
	require.NoError(t, err)
	p := mustParse(t, string(text))
	for range 60 {
		in := Input{Facts: 1, Host: []byte(name())}
		require.Equal(t, expected(t, text, in), string(AppendJSON(nil, p.Evaluate(&in, checker))), "%s", in.Host)
	}
}

// Names of the same hash are found by their text, in as many steps as the logarithm of their
// number: the author of a policy can choose such names.
func TestSameHash(t *testing.T) {
	var table nameTable
	hash := hashOf("a10007")
	for n := range 30 {
		table.names = append(table.names, namedRules{hash, name{uint32(6 * n), 6}, rule{blockList, uint16(n)}, noRule})
		table.text += "a" + strconv.Itoa(10_000+n)
	}
	require.EqualValues(t, 7, table.named([]byte("a10007")).alone.index)
	table.names = append(table.names[:7:7], table.names[8:]...)
	require.Nil(t, table.named([]byte("a10007")))
}

func TestEvaluateAllocatesNothing(t *testing.T) {
	p := mustParse(t, `{"allow":{"domains":["*.a.example"],"exchanges":["*.b.example"]},"block":{"reasons":["typo","no_mx"],"addresses":["jane@gmail.com"]},"review":{"domains":["example.org"]}}`)
	buffer := make([]byte, 0, 200)
	for _, email := range []string{"jane@b.a.example", "jane@example.org", "jane@example.com", "jane", "j.a.n.e@gmail.com", `"j"(x)@bücher.example`} {
		in := inputOf(email)
		in.Lookup, in.Exchanges = LookedUp|HasMX, [][]byte{[]byte("mx.b.example"), []byte("mx.c.example")}
		require.Zero(t, testing.AllocsPerRun(100, func() { buffer = AppendJSON(buffer[:0], p.Evaluate(&in, checker)) }), email)
	}
}

// tenRules is a policy of ten rules, of which none applies to a usual address.
const tenRules = `{"allow":{"domains":["partner.example","*.corp.example"]},"block":{"domains":["spam.example"],"reasons":["disposable","gibberish>=0.8","no_mail"]},
	"review":{"reasons":["role","relay","typo","unknown_tld"]}}`

func manyDomains(n int) string {
	return `{"allow":{"domains":[` + domainsOf(n/2, 0, "*.customer-N.example") + `]},"block":{"domains":[` + domainsOf(n-n/2, n/2, "spam-N.example") +
		`],"reasons":["disposable","gibberish>=0.8","no_mail"]},"review":{"reasons":["role","relay","typo","unknown_tld"]}}`
}

// BenchmarkVerdict compares a verdict with the check before it, with its JSON.
func BenchmarkVerdict(b *testing.B) {
	for _, email := range []string{"jane.doe@example.org", "hans.mueller@stadtwerke-muenchen.de", "user1234@yahoo.co.uk"} {
		checker, line := core.New(lists.Default()), []byte(nil)
		b.Run(email+"/check", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				facts := checker.Check([]byte(email))
				line, _ = core.AppendJSON(line[:0], &facts, false)
			}
		})
		facts := checker.Check([]byte(email))
		in := Of(&facts, checker.Form(&facts))
		in.Lookup = LookedUp | HasMX
		for name, document := range map[string]string{"ten rules": tenRules, "10,000 domains": manyDomains(10_000)} {
			p := mustParse(b, document)
			b.Run(email+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					line = AppendJSON(line[:0], p.Evaluate(&in, checker))
				}
			})
		}
	}
}

func BenchmarkParse(b *testing.B) {
	for name, document := range map[string]string{"ten rules": tenRules, "10,000 domains": manyDomains(10_000)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse([]byte(document), checker); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
