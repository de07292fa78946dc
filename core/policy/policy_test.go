package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
)

// The document of the contract, and the smallest ones.
func TestParse(t *testing.T) {
	for _, document := range []string{
		`{}`, " {\n}\t\r\n", `{"allow":{}}`, `{"block":{"domains":[],"reasons":[]},"review":{},"allow":{"domains":[]}}`,
		`{
		  "allow":  {"domains": ["partner.example", "*.corp.example"]},
		  "block":  {"domains": ["spam.example"], "reasons": ["disposable", "gibberish", "no_mx"]},
		  "review": {"reasons": ["role", "relay", "typo", "unknown_tld"]}
		}`,
		`{"block":{"domains":["*.ru","localhost","xn--bcher-kva.example","b\u00fccher.example","B\u00DCCHER.example","a\u3002example","\ud840\udc0b.example"]}}`,
		`{"\u0062lock":{"reasons":["dis\u0070osable","role:noreply","role:it","gibberish>=0.8","gibberish>=0.01","gibberish>=1","gibberish>=1.00"]}}`,
	} {
		_, err := Parse([]byte(document), checker)
		require.NoError(t, err, document)
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ document, want string }{
		// The syntax.
		{``, `line 1, column 1: the document ends where an object is expected`},
		{" \n ", `line 2, column 2: the document ends where an object is expected`},
		{"\uFEFF{}", `line 1, column 1: the document begins with a byte order mark; save it as UTF-8 without one`},
		{`[]`, `line 1, column 1: an object is expected here`},
		{`null`, `line 1, column 1: an object is expected here`},
		{`{} {}`, `line 1, column 4: text follows the end of the document; remove it`},
		{"{}\x00", `line 1, column 3: text follows the end of the document; remove it`},
		{"{\n  \"é\u0301\" 1}", `line 2, column 8: a colon is expected here`},
		{`{"block":{},}`, `line 1, column 13: the name of a member in double quotes is expected here`},
		{`{block:{}}`, `line 1, column 2: the name of a member in double quotes is expected here`},
		{`{"block":{}`, `line 1, column 12: the document ends where a comma or the end of the object is expected`},
		{`{"block":{} "allow":{}}`, `line 1, column 13: a comma or the end of the object is expected here`},
		{`{"block":{"domains":["a.example"`, `line 1, column 33: the document ends where a comma or the end of the array is expected`},
		{`{"block":{"domains":["a.example",]}}`, `line 1, column 34: a string is expected here`},
		{`{"block":{"domains":["a.example" "b.example"]}}`, `line 1, column 34: a comma or the end of the array is expected here`},
		{`{"block":{"domains":['a.example']}}`, `line 1, column 22: a string is expected here`},
		{`{"block":{"domains":["a.example]}}`, `line 1, column 22: the string that begins here has no end`},
		{`{"block" // why`, `line 1, column 10: a colon is expected here`},
		{"{\"bl\nock\":{}}", `line 1, column 5: a control character in a string; escape or remove it`},
		{"{\"bl\xffock\":{}}", `line 1, column 5: bytes that are not UTF-8; save the document as UTF-8`},
		{"{\"\xed\xa0\x80\":{}}", `line 1, column 3: bytes that are not UTF-8; save the document as UTF-8`},
		{`{"bl\ock":{}}`, `line 1, column 5: JSON has no such escape`},
		{`{"\u006":{}}`, `line 1, column 3: JSON has no such escape`},
		{`{"\u00g0":{}}`, `line 1, column 3: JSON has no such escape`},
		{`{"\`, `line 1, column 3: JSON has no such escape`},
		{`{"\ud800":{}}`, `line 1, column 3: half of a surrogate pair, which is no character`},
		{`{"\ud800\u0041":{}}`, `line 1, column 3: half of a surrogate pair, which is no character`},
		{`{"\udc00\udc00":{}}`, `line 1, column 3: half of a surrogate pair, which is no character`},
		{`{"\ud800\ue000":{}}`, `line 1, column 3: half of a surrogate pair, which is no character`},
		{"{\"\\u\x10041\":{}}", `line 1, column 3: JSON has no such escape`},
		{`{"\udc00\ud800":{}}`, `line 1, column 3: half of a surrogate pair, which is no character`},
		{`{"block":` + strings.Repeat("[", 60_000), `block: it is an array; an object is expected`},
		{strings.Repeat(`{"block":`, 7_000), `block: "block" is no member of block; write one of addresses, domains, exchanges, reasons`},
		// The members.
		{`{"blok":{}}`, `the document: "blok" is no member of a policy; did you mean "block"?`},
		{`{"Block":{}}`, `the document: "Block" is no member of a policy; did you mean "block"?`},
		{`{"":{}}`, `the document: "" is no member of a policy; write one of allow, block, review`},
		{`{"deny":{}}`, `the document: "deny" is no member of a policy; write one of allow, block, review`},
		{`{"a\u0000":{}}`, `the document: this is no member of a policy; write one of allow, block, review`},
		{`{"jane@example.org":{}}`, `the document: this is no member of a policy; write one of allow, block, review`},
		{`{"` + strings.Repeat("x", 41) + `":{}}`, `the document: this is no member of a policy; write one of allow, block, review`},
		{`{"block":{"jane@example.org":[]}}`, `block: this is no member of block; write one of addresses, domains, exchanges, reasons`},
		{`{"block":{"domain":[]}}`, `block: "domain" is no member of block; did you mean "domains"?`},
		{`{"block":{},"block":{}}`, `block: the member is there twice; join the two`},
		{`{"block":{},"review":{},"bloc\u006b":{}}`, `block: the member is there twice; join the two`},
		{`{"block":{"domains":[],"domains":[]}}`, `block.domains: the member is there twice; join the two`},
		{`{"allow":{"reasons":["role"]}}`, `allow.reasons: only block and review have reasons; allow has domains, addresses and exchanges`},
		// The types.
		{`{"block":[]}`, `block: it is an array; an object is expected`},
		{`{"block":null}`, `block: it is null; an object is expected`},
		{`{"block":nul}`, `line 1, column 10: an object is expected here`},
		{`{"block":{"domains":{}}}`, `block.domains: it is an object; an array of domains is expected`},
		{`{"block":{"domains":"a.example"}}`, `block.domains: it is a string; an array of domains is expected`},
		{`{"block":{"reasons":true}}`, `block.reasons: it is true or false; an array of reasons is expected`},
		{`{"block":{"reasons":["role",-1]}}`, `block.reasons[1]: it is a number; a string is expected`},
		{`{"block":{"reasons":[["role"]]}}`, `block.reasons[0]: it is an array; a string is expected`},
		// The reasons.
		{`{"block":{"reasons":["role","typo","disposible"]}}`, `block.reasons[2]: "disposible" is no reason; did you mean "disposable"?`},
		{`{"block":{"reasons":["no-mx"]}}`, `block.reasons[0]: "no-mx" is no reason; did you mean "no_mx"?`},
		{`{"review":{"reasons":["PUBLIC"]}}`, `review.reasons[0]: "PUBLIC" is no reason; did you mean "public"?`},
		{`{"review":{"reasons":["role:NoReply"]}}`, `review.reasons[0]: "role:NoReply" is no reason; did you mean "role:noreply"?`},
		{`{"review":{"reasons":["role:ceo"]}}`, `review.reasons[0]: "role:ceo" is no reason; write one of role:admin, role:support, role:sales, ` +
			`role:marketing, role:general, role:noreply, role:billing, role:legal, role:it, role:hr`},
		{`{"review":{"reasons":["spam"]}}`, `review.reasons[0]: "spam" is no reason; write one of disposable, public, relay, typo, alias, role, ` +
			`gibberish, non_ascii, no_mx, no_mail, quoted, comment, literal, single_label, unknown_tld, special_use, ` +
			`generated, odd_character, looks_disposable, mailbox_form`},
		{`{"block":{"reasons":["jane@example.org"]}}`, `block.reasons[0]: this is no reason; write one of ` + strings.Join(reasonNames, ", ")},
		{`{"review":{"reasons":["gibberish>0.8"]}}`, `review.reasons[0]: "gibberish>0.8" is no reason; a threshold is from 0.01 to 1, as in "gibberish>=0.8"`},
		{`{"review":{"reasons":["invalid"]}}`, `review.reasons[0]: "invalid" is no reason; an address that is not valid is always blocked`},
		// The addresses, which an error never repeats.
		{`{"block":{"addresses":["jane@example.org","jane..doe@example.org"]}}`, `block.addresses[1]: the local part has two dots in a row; remove one`},
		{`{"allow":{"addresses":[""]}}`, `allow.addresses[0]: the address is empty; write it as name@domain`},
		{`{"allow":{"addresses":["example.org"]}}`, `allow.addresses[0]: the address has no @; write it as name@domain`},
		{`{"review":{"addresses":["*@example.org"]}}`, `review.addresses[0]: an asterisk is no pattern in an address; write the domain to domains`},
		{`{"review":{"addresses":[7]}}`, `review.addresses[0]: it is a number; a string is expected`},
		{`{"review":{"addresses":"jane@example.org"}}`, `review.addresses: it is a string; an array of addresses is expected`},
		{`{"review":{"adresses":[]}}`, `review: "adresses" is no member of review; did you mean "addresses"?`},
		// The exchanges.
		{`{"block":{"exchanges":["mx.example",""]}}`, `block.exchanges[1]: the domain is empty; remove it`},
		{`{"block":{"exchanges":["192.0.2.1"]}}`, `block.exchanges[0]: it is an IP address; a policy knows domains alone`},
		{`{"block":{"exchanges":["mx.*.example"]}}`, `block.exchanges[0]: an asterisk is possible only before the first dot, as in "*.example.com"`},
		{`{"block":{"exchanges":[],"domains":[],"addresses":[],"reasons":[],"reasons":[]}}`, `block.reasons: the member is there twice; join the two`},
		// The domains.
		{`{"block":{"domains":["a.example",""]}}`, `block.domains[1]: the domain is empty; remove it`},
		{`{"block":{"domains":["*"]}}`, `block.domains[0]: an asterisk is possible only before the first dot, as in "*.example.com"`},
		{`{"block":{"domains":["*."]}}`, `block.domains[0]: the domain is empty; remove it`},
		{`{"block":{"domains":["a.*.example"]}}`, `block.domains[0]: an asterisk is possible only before the first dot, as in "*.example.com"`},
		{`{"block":{"domains":["*.*.example"]}}`, `block.domains[0]: an asterisk is possible only before the first dot, as in "*.example.com"`},
		{`{"block":{"domains":["*example.com"]}}`, `block.domains[0]: an asterisk is possible only before the first dot, as in "*.example.com"`},
		{`{"block":{"domains":[".example.com"]}}`, `block.domains[0]: the domain starts with a dot; write "*.example.com" for a domain and what is below it`},
		{`{"block":{"domains":["example.com."]}}`, `block.domains[0]: the domain ends with a dot; remove it`},
		{`{"block":{"domains":["a..example"]}}`, `block.domains[0]: the domain has two dots in a row; remove one`},
		{`{"block":{"domains":["jane@example.com"]}}`, `block.domains[0]: it has an @; give the domain alone, without a local part`},
		{`{"block":{"domains":["@example.com"]}}`, `block.domains[0]: it has an @; give the domain alone, without a local part`},
		{`{"block":{"domains":["192.0.2.1"]}}`, `block.domains[0]: it is an IP address; a policy knows domains alone`},
		{`{"block":{"domains":["１９２.0.2.1"]}}`, `block.domains[0]: it is an IP address; a policy knows domains alone`},
		{`{"block":{"domains":["[192.0.2.1]"]}}`, `block.domains[0]: it is an address literal; a policy knows domains alone`},
		{`{"block":{"domains":["2001:db8::1"]}}`, `block.domains[0]: the domain has ":"; use letters, digits, hyphens and dots alone`},
		{`{"block":{"domains":[" a.example"]}}`, `block.domains[0]: the domain has a space inside; remove it`},
		{`{"block":{"domains":["a.example\n"]}}`, `block.domains[0]: a line feed has no carriage return before it; remove it`},
		{`{"block":{"domains":["a_b.example"]}}`, `block.domains[0]: the domain has "_"; use letters, digits, hyphens and dots alone`},
		{`{"block":{"domains":["https://a.example/"]}}`, `block.domains[0]: the domain has ":"; use letters, digits, hyphens and dots alone`},
		{`{"block":{"domains":["xn--a.example"]}}`, `block.domains[0]: a part of the domain begins with xn-- yet encodes no international name; check its spelling`},
		{`{"block":{"domains":["` + strings.Repeat("a", 64) + `.example"]}}`, `block.domains[0]: a part of the domain between dots is 1 byte too long; at most 63 fit`},
		{`{"block":{"domains":["` + strings.Repeat("a.", 127) + `a"]}}`, `block.domains[0]: the domain is 2 bytes too long; at most 253 fit`},
	} {
		_, err := Parse([]byte(c.document), checker)
		if assert := c.want; err == nil || err.Error() != assert {
			t.Errorf("%.100q:\n got %v\nwant %s", c.document, err, c.want)
		}
	}
}

// A threshold has a form of its own, which no other text has.
func TestThresholds(t *testing.T) {
	for text, want := range map[string]uint8{"1": 100, "1.0": 100, "1.00": 100, "0.8": 80, "0.80": 80, "0.08": 8, "0.01": 1} {
		got, ok := parseThreshold(text)
		require.True(t, ok, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "0", "0.0", "0.00", "1.01", "1.1", "2", "0.801", "0.8000", "0.", "1.", ".8", "00.8", "0,8", "0.8 ", "0.-1", "0.x", "0.1x", "x.11", "-0.8", "+1", "8e-1", "80"} {
		_, ok := parseThreshold(text)
		require.False(t, ok, text)
	}
}

// The offset of an error is that of what it is about.
func TestParseErrorOffsets(t *testing.T) {
	for _, c := range []struct{ before, wrong, after string }{
		{``, `7`, ``},
		{`{"block": {"reasons": ["role",  `, `"spam"`, ` ]}}`},
		{`{"block": {"reasons": ["role",  `, `7`, ` ]}}`},
		{`{"block": {"reasons": `, `{}`, `}}`},
		{`{"block": {"domains": ["a.example", `, `"*"`, `]}}`},
		{`{"block": {"domains": ["a.example", "`, `\x`, `"]}}`},
		{`{"block": {}, `, `"block"`, `: {}}`},
		{`{"allow": {`, `"reasons"`, `: {}}}`},
		{`{"block": {}`, `:`, ` {}}`},
		{`{"block": {}}`, `{}`, ` `},
	} {
		_, err := Parse([]byte(c.before+c.wrong+c.after), checker)
		var parsed *Error
		require.ErrorAs(t, err, &parsed)
		require.Equal(t, len(c.before), parsed.Offset, "%s: %v", c.wrong, err)
	}
}

// domainsOf returns n different domains as the inside of an array.
func domainsOf(n, from int, format string) string {
	var list strings.Builder
	for i := range n {
		if i > 0 {
			list.WriteString(",\n      ")
		}
		list.WriteString(`"` + strings.Replace(format, "N", strconv.Itoa(from+i), 1) + `"`)
	}
	return list.String()
}

func TestParseLimits(t *testing.T) {
	longest := strings.Repeat("a", 63) + "." + strings.Repeat("b", 63) + "." + strings.Repeat("c", 63) + "." // and 61 more
	for _, c := range []struct{ name, document, want string }{
		{"10,000 domains, indented", `{"allow": {"domains": [` + domainsOf(4_000, 0, "N.example") + `]}, "block": {"domains": [` +
			domainsOf(6_000, 4_000, "N.example") + `]}}`, ""},
		{"10,001 domains", `{"allow": {"domains": [` + domainsOf(4_000, 0, "N.example") + `]}, "block": {"domains": [` +
			domainsOf(6_001, 4_000, "N.example") + `]}}`, "block.domains[6000]: the document has more than 10000 domains, addresses and exchanges"},
		{"10,000 entries of three kinds", `{"allow": {"domains": [` + domainsOf(4_000, 0, "N.example") + `]}, "block": {"exchanges": [` +
			domainsOf(3_000, 0, "N.example") + `], "addresses": [` + domainsOf(3_000, 0, "N@a.example") + `]}}`, ""},
		{"10,001 entries of three kinds", `{"allow": {"domains": [` + domainsOf(4_000, 0, "N.example") + `]}, "block": {"exchanges": [` +
			domainsOf(3_000, 0, "N.example") + `], "addresses": [` + domainsOf(3_001, 0, "N@a.example") + `]}}`,
			"block.addresses[3000]: the document has more than 10000 domains, addresses and exchanges"},
		{"addresses of the greatest length", `{"block": {"addresses": [` + strings.ReplaceAll(domainsOf(10_000, 10_000, "N"+strings.Repeat("d", 57)+"@"+longest[:191]), "\n      ", "") + `]}}`, ""},
		{"10,001 times the same domain", `{"block": {"domains": [` + domainsOf(10_001, 0, "a.example") + `]}}`,
			"block.domains[10000]: the document has more than 10000 domains, addresses and exchanges"},
		{"domains of the greatest length", `{"block": {"domains": [` + strings.ReplaceAll(domainsOf(10_000, 10_000, longest+"N"+strings.Repeat("d", 54)), "\n      ", "") + `]}}`, ""},
		{"64 KiB of rules", `{"block": {"reasons": ["role"` + strings.Repeat(` `, MaxRest-32) + `]}}`, ""},
		{"64 KiB of rules, and domains", `{"block": {"reasons": ["role"` + strings.Repeat(` `, MaxRest-43) + `],"domains":["a.example"]}}`, ""},
		{"a byte over 64 KiB", `{"block": {"reasons": ["role"` + strings.Repeat(` `, MaxRest-31) + `]}}`,
			"the document: it has more than 65536 bytes outside its arrays of domains, addresses and exchanges"},
		{"65 KiB of reasons", `{"block": {"reasons": ["role"` + strings.Repeat(`,"role"`, 65<<10/7) + `]}}`,
			"the document: it has more than 65536 bytes outside its arrays of domains, addresses and exchanges"},
		{"white space among domains", `{"block": {"domains": [` + strings.Repeat(" ", MaxDocument) + `]}}`, "the document: it has more than 2665536 bytes"},
		{"the longest document", `{"block": {"domains": [` + strings.Repeat(" ", MaxDocument-27) + `]}}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse([]byte(c.document), checker)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, c.want)
		})
	}
}

// However many reasons a document repeats, few are compared: those that differ.
func TestReasonsThatCannotDecide(t *testing.T) {
	p, err := Parse([]byte(`{"review":{"reasons":["role"]},"block":{"reasons":["role"`+strings.Repeat(`,"role","gibberish>=0.80","gibberish>=0.8"`, 1000)+`]}}`), checker)
	require.NoError(t, err)
	require.Len(t, p.reasons, 2)
	all := len(reasonNames) + len(roleNames()) + 100
	require.Less(t, all, 131)
	require.Equal(t, 10, len(roleNames()))
	require.Equal(t, lists.HR, lists.Role(len(roleNames())))
}

// accepted is the meaning of a document by encoding/json.
type accepted map[string]map[string][]string

// decode decodes a document by encoding/json, which does not notice members that repeat and
// bytes that are not characters, and returns whether it is a policy but for its texts.
func decode(document []byte) (accepted, bool) {
	var p accepted
	if !utf8.Valid(document) || json.Unmarshal(document, &p) != nil || p == nil || repeats(document) || isAltered(document) {
		return nil, false
	}
	for section, members := range p {
		if !slices.Contains([]string{"allow", "block", "review"}, section) || members == nil {
			return nil, false
		}
		for member, texts := range members {
			if !slices.Contains([]string{"addresses", "domains", "exchanges"}, member) && (member != "reasons" || section == "allow") || texts == nil {
				return nil, false
			}
		}
	}
	return p, true
}

// isAltered reports whether json.Unmarshal changes a value of document: null, which it takes
// for "", or half of a surrogate pair, for which it has U+FFFD. A string with that character
// is taken for one.
func isAltered(document []byte) bool {
	d := json.NewDecoder(bytes.NewReader(document))
	for {
		token, err := d.Token()
		if err != nil {
			return false
		}
		text, _ := token.(string)
		if token == nil || strings.ContainsRune(text, utf8.RuneError) {
			return true
		}
	}
}

// repeats reports whether an object in document has the same member twice.
func repeats(document []byte) bool {
	d := json.NewDecoder(bytes.NewReader(document))
	var value func() bool
	value = func() bool {
		token, err := d.Token()
		if err != nil {
			return false
		}
		seen := map[any]bool{}
		switch token {
		case json.Delim('{'):
			for d.More() {
				name, _ := d.Token()
				if seen[name] || value() {
					return true
				}
				seen[name] = true
			}
			d.Token()
		case json.Delim('['):
			for d.More() {
				if value() {
					return true
				}
			}
			d.Token()
		}
		return false
	}
	return value()
}

// domainOracle returns the host of an entry, by the check of an address at it.
func domainOracle(text string) (host string, below, ok bool) {
	name, below := strings.CutPrefix(text, "*.")
	facts := core.Check("a@" + name)
	host = string(facts.Host)
	four := strings.Count(host, ".") == 3 && strings.Trim(host, "0123456789.") == ""
	return host, below, facts.Valid && host != "" && !four && !strings.ContainsAny(name, "(@ \t\r\n")
}

// isReason reports whether text is a reason, by their list in the contract.
func isReason(text string) bool {
	if score, ok := strings.CutPrefix(text, "gibberish>="); ok {
		value, err := strconv.ParseFloat(score, 64)
		whole, _, _ := strings.Cut(score, ".")
		return err == nil && value >= 0.01 && value <= 1 && len(score) <= 4 && len(whole) == 1 && !strings.HasSuffix(score, ".") &&
			strings.Trim(score, "0123456789.") == ""
	}
	role, ok := strings.CutPrefix(text, "role:")
	if ok {
		return slices.Contains(strings.Fields("admin support sales marketing general noreply billing legal it hr"), role)
	}
	return slices.Contains(strings.Fields("disposable public relay typo alias role gibberish no_mx no_mail non_ascii "+
		"quoted comment literal single_label unknown_tld special_use generated odd_character looks_disposable mailbox_form"), text)
}

// isPolicy reports whether a document is a policy, by encoding/json and package core. It is
// not for documents near the limits.
func isPolicy(document []byte) bool {
	p, ok := decode(document)
	for _, members := range p {
		for _, text := range members["addresses"] {
			ok = ok && core.Check(text).Valid && !strings.HasPrefix(text, "*@")
		}
		for _, text := range slices.Concat(members["domains"], members["exchanges"]) {
			_, _, is := domainOracle(text)
			ok = ok && is
		}
		for _, text := range members["reasons"] {
			ok = ok && isReason(text)
		}
	}
	return ok
}

var seeds = []string{
	`{}`, ` `, `{"allow":{"domains":["a.example","*.b\u00fc.example"]},"block":{"domains":[],"reasons":["role:hr","gibberish>=0.75"]},"review":{"reasons":["no_mx"]}}`,
	`{"block: ":{}}`, `{"block":{"a: b":{}}}`, `{"block":{"reasons":["a: b"]}}`, `{"block":{"reasons":["role",null]}}`, `{"block":null}`, `null`, `{"block":{"reasons":["\ud83d\ude00","\ud83d"]}}`,
	`{"block":{},"block":{}}`, `{"block":{"domains":["a@b","(c)b","a b","1.2.3.4","[1.2.3.4]"]}}`, "\uFEFF{}", `{"block":{"reasons":[1e5]}}`,
	`{"allow":{"addresses":["j.doe@gmail.com","\"a b\"@x.example","*@b.example","a@","\u00e9@x.example"]}}`, `{"review":{"exchanges":["*.mx.example","mx.b.example"],"addresses":["doe+1@gmail.com"]}}`, `{"block":{"exchanges":["a@b","1.2.3.4"]}}`,
	`{"block":{"reasons":["gibberish>=0.8","gibberish>=1.00"],"domains":["*.com","x","xn--bcher-kva.example"]}}`, `{"block":{"reasons":["gibberish>=0."]}}`, `{"allow":{"reasons":[]}}`, `{"block":{"domains":[null]}}`,
}

// Parse accepts what encoding/json accepts, if it has known members and texts, and no other
// document. It never panics, and every error is short and has no control characters.
func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		p, err := Parse(document, checker)
		if near := len(document) > MaxRest; !near {
			require.Equal(t, isPolicy(document), err == nil, "%q: %v", document, err)
		}
		if err == nil {
			p.Evaluate(&Input{Facts: 1, Host: []byte("a.example")}, checker)
			return
		}
		var parsed *Error
		require.True(t, errors.As(err, &parsed))
		require.LessOrEqual(t, parsed.Offset, len(document))
		place, _, _ := strings.Cut(err.Error(), ": ")
		require.Equal(t, parsed.Place, place, "hosts read the place so")
		require.Less(t, len(err.Error()), 512)
		for _, c := range []byte(err.Error()) {
			require.GreaterOrEqual(t, c, byte(' '))
		}
	})
}
