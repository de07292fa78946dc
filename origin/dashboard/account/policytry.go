package account

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/addrspec/addrspec/origin/dashboard/page"
	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/result"
)

// SupposedLookups are what a test can suppose that DNS has, for no_mx, no_mail and exchanges. A lookup
// would have to be charged, since anybody could use the field to look up any domain.
var SupposedLookups = []Grace{{"", "nothing is looked up"}, {"mx", "the domain has MX records"},
	{"address", "no MX records, but an address record"}, {"none", "neither MX nor address record"}}

var foundBySupposed = map[string]host.Found{"": 0, "mx": host.LookedUp | host.HasMX,
	"address": host.LookedUp | host.AddressLookedUp | host.FoundAddressRecord,
	"none":    host.LookedUp | host.AddressLookedUp}

// testPolicy decides about an address by the module alone: it looks nothing up, asks the API
// nothing and costs nothing. The document is the one that was given, as it is in a form that
// is not saved, or else the stored one. Address and document are in the body of the request
// and of the response only.
func testPolicy(v *page.Visit) (*page.Outcome, error) {
	found, err := policyPage(v)
	if err != nil {
		return nil, err
	}
	test := &tested{Email: strings.TrimSpace(v.Form.Get("email")), Lookup: v.Form.Get("lookup"),
		Exchanges: strings.ToLower(strings.TrimSpace(v.Form.Get("exchanges")))}
	if test.Exchanges != "" {
		test.Lookup = "mx"
	}
	supposed, known := foundBySupposed[test.Lookup]
	switch {
	case !known:
		return nil, page.InputProblem("lookup", "The field \"lookup\" must be empty, mx, address or none.")
	case test.Email == "":
		return nil, page.InputProblem("email", "Give an address to try.")
	}
	document := found.Document
	if v.Form.Has("document") {
		document = lines(v.Form.Get("document"))
	}
	err = v.InTurn(v.Context(), func() error { return test.decide(v, document, supposed) })
	if err != nil {
		return found.refused(document, err)
	}
	found.Test = test
	return page.Show(found), nil
}

func (t *tested) decide(v *page.Visit, document string, supposed host.Found) error {
	ctx, view := v.Context(), v.Engine.View()
	p, err := v.Engine.NewPolicy(ctx, document)
	if err != nil {
		return err
	}
	facts, err := view.Check(ctx, nil, t.Email, 0)
	if err != nil {
		return err
	}
	verdict, err := view.Verdict(ctx, nil, p, host.Subject{Facts: &facts, Address: t.Email, Found: supposed, Exchanges: t.Exchanges})
	if err != nil {
		return err
	}
	if !facts.Valid {
		t.Refusal = result.Sentence(facts.Refusal.Sentence)
	}
	if err := json.Unmarshal(verdict, &t.Verdict); err != nil || t.Verdict.Rule == nil {
		return err
	}
	// The rule is a place such as block.reasons[1].
	var rules map[string]map[string][]string
	member, rest, _ := strings.Cut(*t.Verdict.Rule, "[")
	section, kind, _ := strings.Cut(member, ".")
	index, err := strconv.Atoi(strings.TrimSuffix(rest, "]"))
	known := err == nil && json.Unmarshal([]byte(document), &rules) == nil
	if list := rules[section][kind]; known && index >= 0 && index < len(list) {
		t.Entry = list[index]
	}
	return nil
}
