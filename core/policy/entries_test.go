package policy

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/lists/feed/feedtest"
)

// An entry for a mailbox matches every address of it, by its provider's rule, before a domain.
func TestAddressEntries(t *testing.T) {
	p := mustParse(t, `{
		"review": {"addresses": ["jane.doe@gmail.com", "both@iana.org", "\"a b\"@iana.org"], "domains": ["gmail.com"]},
		"block": {"addresses": ["Max.Muster+shop@GoogleMail.com", "both@iana.org", "x@[192.0.2.1]", "x(a name)@iana.org"], "domains": ["iana.org"]},
		"allow": {"addresses": ["both@iana.org", "jörg@bücher.example"]}
	}`)
	for _, c := range []struct{ email, want string }{
		{"jane.doe@gmail.com", verdict("review", "address", "review.addresses[0]")},
		{"JaneDoe+2@googlemail.com", verdict("review", "address", "review.addresses[0]")},
		{"janedoes@gmail.com", verdict("review", "domain", "review.domains[0]")},
		{"maxmuster@gmail.com", verdict("block", "address", "block.addresses[0]")},
		{"both@iana.org", verdict("allow", "address", "allow.addresses[0]")},
		{"BOTH(a comment)@IANA.org", verdict("allow", "address", "allow.addresses[0]")},
		{"both+tag@iana.org", verdict("block", "domain", "block.domains[0]")}, // no rule is known
		{`"a\ b"@iana.org`, verdict("review", "address", "review.addresses[2]")},
		{"x@[192.0.2.1]", verdict("block", "address", "block.addresses[2]")},
		{"X@iana.org", verdict("block", "address", "block.addresses[3]")},
		{"JÖRG@BÜCHER.example", verdict("allow", "address", "allow.addresses[1]")},
		{"jane.doe@gmail.com.example", verdict("allow", "", "")},
		{"jane..doe@gmail.com", verdict("block", "invalid", "")},
	} {
		require.Equal(t, c.want, verdictOn(p, c.email, 0), c.email)
	}
}

// A member decides by exchanges only if its entries cover each of them.
func TestExchangeEntries(t *testing.T) {
	p := mustParse(t, `{
		"block": {"exchanges": ["mail.burner.example", "*.tiny.example", "*.shared.example", "mx.both.example"], "domains": ["own.example"], "reasons": ["no_mx"]},
		"review": {"exchanges": ["*.burner.example", "*.google.example", "mx.shared.example", "mx.both.example"], "reasons": ["public"]},
		"allow": {"exchanges": ["*.google.example", "mx.both.example", "b\u00fccher.example"]}
	}`)
	for _, c := range []struct{ host, exchanges, want string }{
		{"a.example", "mail.burner.example", verdict("block", "exchange", "block.exchanges[0]")},
		{"a.example", "mail.burner.example mx.tiny.example", verdict("block", "exchange", "block.exchanges[0]")},
		{"a.example", "mx.tiny.example tiny.example", verdict("block", "exchange", "block.exchanges[1]")},
		{"a.example", "mail.burner.example mx.burner.example", verdict("review", "exchange", "review.exchanges[0]")},
		{"a.example", "mail.burner.example mx.a.example", verdict("allow", "", "")},
		{"a.example", "mail.burner.example *", verdict("allow", "", "")},
		{"a.example", "*", verdict("allow", "", "")},
		{"a.example", "", verdict("allow", "", "")},
		{"a.example", "mx.shared.example", verdict("review", "exchange", "review.exchanges[2]")},
		{"a.example", "mx.shared.example mx2.shared.example", verdict("block", "exchange", "block.exchanges[2]")},
		{"a.example", "mx.google.example", verdict("allow", "exchange", "allow.exchanges[0]")},
		{"a.example", "Mail.Burner.EXAMPLE. MX.tiny.example.", verdict("block", "exchange", "block.exchanges[0]")},
		{"a.example", ".", verdict("allow", "", "")},
		{"a.example", "mx.both.example", verdict("allow", "exchange", "allow.exchanges[1]")},
		{"a.example", "mx.google.example mail.burner.example", verdict("review", "exchange", "review.exchanges[0]")},
		{"a.example", "notburner.example", verdict("allow", "", "")},
		{"a.example", "xn--bcher-kva.example", verdict("allow", "exchange", "allow.exchanges[2]")},
		{"own.example", "mx.google.example", verdict("block", "domain", "block.domains[0]")},
	} {
		in := Input{Facts: wordValid | wordASCII | wordPublic, Host: []byte(c.host), Lookup: LookedUp | HasMX, Exchanges: bytes.Fields([]byte(c.exchanges))}
		if c.want == verdict("allow", "", "") {
			in.Facts &^= wordPublic // an exchange decides before a reason
		}
		require.Equal(t, c.want, string(AppendJSON(nil, p.Evaluate(&in, checker))), c)
	}
	none := Input{Facts: wordValid | wordASCII, Host: []byte("a.example"), Lookup: LookedUp}
	require.Equal(t, "block.reasons[0]", p.Evaluate(&none, checker).Rule(), "a domain without MX")
}

// Other lists have other rules of providers, and the addresses of a policy follow them.
func TestWithLists(t *testing.T) {
	p := mustParse(t, `{"block":{"addresses":["jane.doe+x@gmail.com","b@iana.org"]}}`)
	edited, err := lists.Open(feedtest.Edited(lists.Blob(), "gmail\t+\t.\t", "gmail\t+\t_\t"))
	require.NoError(t, err)
	others := core.New(edited)
	renewed := p.WithLists(others)
	rule := func(p *Policy, c *core.Checker, email string) string {
		return p.Evaluate(&Input{Facts: wordValid | wordASCII, Host: []byte("gmail.com"), Address: []byte(email)}, c).Rule()
	}
	for range 3 {
		require.Equal(t, "block.addresses[0]", rule(renewed, others, "jane._doe@gmail.com"))
		require.Empty(t, rule(renewed, others, "janedoe@gmail.com"))
		require.Equal(t, "block.addresses[1]", rule(renewed, others, "b@iana.org"))
		renewed = renewed.WithLists(checker)
		require.Equal(t, p, renewed)
		require.Equal(t, "block.addresses[0]", rule(renewed, checker, "janedoe@gmail.com"))
		require.Empty(t, rule(renewed, checker, "jane._doe@gmail.com"))
		renewed = renewed.WithLists(others)
	}
}

// An error about an entry does not repeat the address, which is a person's.
func TestErrorsDoNotRepeatAddresses(t *testing.T) {
	for _, address := range []string{"confidential", "confidential@", "confidential..doe@a.example", "con fidential@confidential.example", "<confidential@a.example>",
		`"confidential@a.example`, "confidential@a_confidential.example", "confidential@xn--a.example", "confidential@" + strings.Repeat("confidential.", 40) + "example",
		"confidential@a.example, confidential@b.example", "confidential@[confidential]", "Confidential Doe <confidential@a.example>", "confidential@a.example\n"} {
		document, err := json.Marshal(map[string]any{"block": map[string]any{"addresses": []string{"jane@a.example", address}}})
		require.NoError(t, err)
		_, err = Parse(document, checker)
		require.ErrorContains(t, err, "block.addresses[1]: ", address)
		require.NotContains(t, strings.ToLower(err.Error()), "confidential", address)
	}
}
