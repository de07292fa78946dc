// Package policy turns the facts about an address into a verdict: allow, review or
// block, with the rule that decided.
//
//	p, err := policy.Parse([]byte(`{"block": {"reasons": ["disposable", "gibberish>=0.8"]}}`), checker)
//	in := policy.Of(&facts, checker.Form(&facts)) // facts of checker, a core.Checker
//	verdict := p.Evaluate(&in, checker)
//	fmt.Println(verdict.Action, verdict.Reason(), verdict.Rule())
//
// A policy is a JSON document with the members allow, block and review. Each has addresses,
// domains and exchanges; block and review have reasons too:
//
//	{
//	  "allow":  {"domains": ["partner.example", "*.corp.example"], "addresses": ["jane@mail.example"]},
//	  "block":  {"exchanges": ["*.burner.example"], "reasons": ["disposable", "no_mx"]},
//	  "review": {"reasons": ["role", "relay", "unknown_tld"]}
//	}
//
// The first of these that applies decides:
//
//  1. an address that is not valid is blocked, with the reason "invalid";
//  2. an entry for its mailbox: an address with the same canonical (core.Checker.AppendCanonical).
//     If several members have one, it is allowed, else blocked, else reviewed;
//  3. the most specific domain entry over all three members: x covers x alone, *.x covers
//     x and every name below it, and x is more specific than *.x. If several members have
//     the same entry, it is allowed, else blocked, else reviewed;
//  4. the exchanges of the domain, if the host has looked them up: a member decides if its
//     entries cover all of them, so that one more MX record opens no door. Of several such
//     members it is the one with the most specific entry for any exchange: a name alone
//     before *.x, then the longer name; if these are equal, it is allowed, else blocked, else reviewed;
//  5. the reasons of block, then those of review, in their order;
//  6. the address is allowed.
//
// Package core imports nothing of this package. Like core it does no I/O, and evaluating
// allocates nothing. Start reading at Policy.Evaluate in verdict.go.
package policy

import (
	"slices"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/core/internal/ascii"
	"github.com/addrspec/addrspec/lists"
)

// The limits on a document.
const (
	// MaxEntries is how many domains, addresses and exchanges a document may have together.
	MaxEntries = 10_000
	// MaxRest is how many bytes a document may have outside its arrays of these.
	MaxRest = 64 << 10
	// MaxDocument is how many bytes a document may have: MaxRest, and 260 for each entry: "*." and
	// a name of 253 (RFC 1035 section 2.3.4), or an address of 254 (RFC 5321 section 4.5.3.1.3),
	// its quotes and a comma.
	MaxDocument = MaxRest + 260*MaxEntries
)

// Policy is a parsed document. It does not change, so any number of goroutines may
// evaluate it, each with a Checker of its own.
type Policy struct {
	addresses nameTable // by canonical
	mailboxes []entry   // the addresses, normalized; their text begins that of addresses
	domains   nameTable
	exchanges [noList]nameTable // of each member

	hasExchanges bool     // one of exchanges has an entry
	reasons      []reason // of block, then of review, without those that cannot decide
	any          reasonSet
	least        uint8 // the lowest threshold of reasons
}

// Error is why a document is not a policy.
type Error struct {
	Place   string // in the document: "block.reasons[2]", or "line 3, column 7" if it is no JSON; never with ": "
	Problem string // what is wrong and how to fix it, in printable ASCII
	Offset  int    // of Place in the document, in bytes
}

func (e *Error) Error() string { return e.Place + ": " + e.Problem }

// list is a member of the document that has rules. The order is that in which they
// decide between equal entries.
type list uint8

const (
	allowList list = iota
	blockList
	reviewList
	noList
)

var listNames = []string{allowList: "allow", blockList: "block", reviewList: "review"}

// rule is the place of a rule in the document: its list, and its index in the array.
type rule struct {
	list  list
	index uint16
}

// Parse parses a document. Its addresses are compared by the lists of c. The error, if any,
// is an *Error.
func Parse(document []byte, c *core.Checker) (*Policy, error) {
	r := &reader{scanner: scanner{text: document}, checker: c, section: noList, index: -1}
	err := r.readDocument()
	if err != nil {
		return nil, err
	}
	p := &Policy{
		addresses: newMailboxTable(string(r.addresses.text), r.addresses.list, c),
		mailboxes: r.addresses.list,
		domains:   newNameTable(string(r.domains.text), r.domains.list),
		least:     never,
	}
	for n, own := range r.exchanges {
		p.exchanges[n] = newNameTable(string(own.text), own.list)
		p.hasExchanges = p.hasExchanges || len(own.list) > 0
	}
	for _, added := range append(r.reasons[blockList], r.reasons[reviewList]...) {
		same := func(r reason) bool { return r.set == added.set && r.least == added.least }
		if slices.ContainsFunc(p.reasons, same) { // an earlier one decides whenever this would
			continue
		}
		added.array = reasonsMember
		added.json = string(Verdict{Action(added.list), &added, added.rule}.appendJSON(nil))
		p.reasons = append(p.reasons, added)
		p.any |= added.set
		p.least = min(p.least, added.least)
	}
	return p, nil
}

// WithLists returns p with the addresses compared by the lists of c, whose rules of providers may
// differ from those by which p was parsed.
func (p *Policy) WithLists(c *core.Checker) *Policy {
	if !p.HasAddresses() {
		return p
	}
	own, last := *p, p.mailboxes[len(p.mailboxes)-1]
	own.addresses = newMailboxTable(p.addresses.text[:last.at+uint32(last.length)], p.mailboxes, c)
	return &own
}

// HasAddresses reports whether p has addresses, for which Evaluate needs Input.Address.
func (p *Policy) HasAddresses() bool { return len(p.addresses.names) > 0 }

// HasExchanges reports whether p has exchanges, for which Evaluate needs Input.Exchanges.
func (p *Policy) HasExchanges() bool { return p.hasExchanges }

// reasonSet is a set of facts that a reason can be about, a bit each: those of
// reasonNames in their order, then the roles from lists.Admin on.
type reasonSet uint32

// reasonNames are the reasons without a role and a threshold. The last ten are the forms
// of an address in the order of word 1 of the report (wasm/ABI.md).
var reasonNames = []string{"disposable", "public", "relay", "typo", "alias", "role", "gibberish", "non_ascii", "no_mx", "no_mail",
	"quoted", "comment", "literal", "single_label", "unknown_tld", "special_use",
	"generated", "odd_character", "looks_disposable", "mailbox_form"}

// The bits of a reasonSet that Input.reasons computes.
const (
	nonASCII reasonSet = 1 << 7
	noMX     reasonSet = 1 << 8
	noMail   reasonSet = 1 << 9

	firstForm = 10 // the bit of quoted
	firstRole = 19 // the bit before that of lists.Admin
)

// reason is a rule that applies if one of set is true, or if the score of gibberish is
// least or more.
type reason struct {
	set   reasonSet
	least uint8  // in percent
	name  string // as in the document
	array string // the member of rule.list that has it
	json  string // of the verdict
	rule
}

// never is a threshold that no score reaches: word 1 of the report has seven bits for it.
const never = 255

const (
	rolePrefix      = "role:"
	thresholdPrefix = "gibberish>="
)

func parseReason(text string) (r reason, ok bool) {
	r = reason{least: never, name: text}
	if n := slices.Index(reasonNames, text); n >= 0 {
		r.set = 1 << n
		return r, true
	}
	if n := slices.Index(roleNames(), text); n >= 0 {
		r.set = 1 << (firstRole + 1 + n)
		return r, true
	}
	if len(text) > len(thresholdPrefix) && text[:len(thresholdPrefix)] == thresholdPrefix {
		r.least, ok = parseThreshold(text[len(thresholdPrefix):])
	}
	return r, ok
}

// roleNames returns the reasons for one role each, such as "role:noreply".
func roleNames() (names []string) {
	for r := lists.Admin; r.IsRole(); r++ {
		names = append(names, string(ascii.AppendLower([]byte(rolePrefix), []byte(r.String()))))
	}
	return names
}

// parseThreshold parses a score above 0 with at most two decimals, as scores have, and
// returns it in percent. A score of 0 or more would be true of every address.
func parseThreshold(text string) (percent uint8, ok bool) {
	if len(text) == 0 || len(text) == 2 || len(text) > 4 || text[0] != '0' && text[0] != '1' || len(text) > 1 && text[1] != '.' {
		return never, false
	}
	digits := [3]byte{text[0], '0', '0'}
	copy(digits[1:], text[min(2, len(text)):])
	for _, d := range digits {
		if d < '0' || d > '9' {
			return never, false
		}
		percent = 10*percent + d - '0'
	}
	return percent, 1 <= percent && percent <= 100
}
