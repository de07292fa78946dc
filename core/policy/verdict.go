package policy

import (
	"math"
	"strconv"

	"github.com/addrspec/addrspec/core"
)

// Input is what a policy needs to know about an address, in the form in which hosts of the
// module pass it (wasm/ABI.md).
type Input struct {
	Facts  uint32 // word 0 of the report, with what the host knows about disposable
	More   uint32 // word 1 of the report
	Lookup Lookup
	Host   []byte // the domain in A-label form; empty for an address literal

	// Address is the address as it was given or normalized, for a policy with addresses.
	Address []byte
	// Exchanges are those of Host if the host has looked them up, in A-label form and any case,
	// for a policy with exchanges. "*" in place of a name means that there are others.
	Exchanges [][]byte
}

// Lookup is what a host found in DNS. Zero means that it looked up nothing.
type Lookup uint32

const (
	LookedUp        Lookup = 1 << iota // the MX records were looked up
	HasMX                              // and there are some
	AddressLookedUp                    // it is known whether the domain has an address record to which mail goes
	HasAddress                         // and it has
)

// The bits of word 0 of the report.
const (
	wordValid = 1 << iota
	wordAlias
	wordASCII
	wordRole
	wordGibberish
	wordDisposable
	wordPublic
	wordRelay
	wordTypo
	wordClassed
)

// The places of the parts of word 1 of the report.
const (
	scoreMask = 0x7F
	roleAt    = 8
	roleMask  = 0xF
	formAt    = 16
	formMask  = 0x3FF
)

// Of returns the input for the facts of an address and its form, which Checker.Form
// returns. The host adds what it looks up.
func Of(f *core.Facts, form core.Form) Input {
	return Input{Facts: Facts(f), More: More(f, form), Host: f.Host, Address: f.Email}
}

// Facts returns word 0 of the report on f: the boolean facts, in the order of the
// contract, and Classed.
func Facts(f *core.Facts) uint32 {
	return bit(f.Valid, wordValid) | bit(f.Alias, wordAlias) | bit(f.ASCII, wordASCII) | bit(f.Role != core.NoRole, wordRole) |
		bit(f.Gibberish >= core.Gibberish, wordGibberish) | bit(f.Disposable, wordDisposable) | bit(f.Public, wordPublic) |
		bit(f.Relay, wordRelay) | bit(f.Typo != nil, wordTypo) | bit(f.Classed, wordClassed)
}

// More returns word 1 of the report on f: the score of gibberish, the role, and the form.
func More(f *core.Facts, form core.Form) uint32 {
	return uint32(f.Gibberish) | uint32(f.Role)<<roleAt | uint32(form)<<formAt
}

func bit(fact bool, bit uint32) uint32 {
	if fact {
		return bit
	}
	return 0
}

// reasons returns the reasons that are true of an address without an entry, and its
// score of gibberish.
func (in *Input) reasons() (set reasonSet, score uint8) {
	set = reasonSet(in.Facts>>5&0xF) | reasonSet(in.Facts>>1&1)<<4 | reasonSet(in.Facts>>3&3)<<5
	if in.Facts&wordASCII == 0 {
		set |= nonASCII
	}
	set |= reasonSet(in.More>>formAt&formMask) << firstForm
	if number := in.More >> roleAt & roleMask; number > 0 {
		set |= 1 << (firstRole + number)
	}
	switch l := in.Lookup; {
	case len(in.Host) == 0: // an address literal, to which mail goes without DNS (RFC 5321 section 5.1)
		set |= noMX
	case l&(LookedUp|HasMX) != LookedUp:
	case l&(AddressLookedUp|HasAddress) == AddressLookedUp:
		set |= noMX | noMail
	default:
		set |= noMX
	}
	return set, uint8(in.More & scoreMask)
}

// Action is what a policy decides.
type Action uint8

const (
	Allow Action = iota
	Block
	Review
)

// String returns "allow", "block" or "review".
func (a Action) String() string { return listNames[a] }

// Verdict is a decision about an address.
type Verdict struct {
	Action Action
	reason *reason // of this file, or one of the document
	rule   rule    // noRule if the document has none for it
}

// The reasons of verdicts that are none of a document. Those without a JSON are of entries.
var (
	invalid    = reason{name: "invalid", json: `{"action":"block","reason":"invalid","rule":null}`}
	byAddress  = reason{name: "address", array: addressesMember}
	byDomain   = reason{name: "domain", array: domainsMember}
	byExchange = reason{name: "exchange", array: exchangesMember}
	unruled    = reason{json: `{"action":"allow","reason":null,"rule":null}`}
)

// Evaluate returns the verdict on an address. It allocates nothing. c has the lists by which p was
// parsed; it is used for a policy with addresses, and in.Address must not point into it.
func (p *Policy) Evaluate(in *Input, c *core.Checker) Verdict {
	if in.Facts&wordValid == 0 {
		return Verdict{Block, &invalid, noRule}
	}
	if p.HasAddresses() {
		own := p.findMailbox(in.Address, c)
		if own.list != noList {
			return Verdict{Action(own.list), &byAddress, own}
		}
	}
	own, _ := p.domains.find(in.Host)
	if own.list != noList {
		return Verdict{Action(own.list), &byDomain, own}
	}
	if p.hasExchanges && len(in.Exchanges) > 0 {
		own = p.findExchanges(in.Exchanges)
		if own.list != noList {
			return Verdict{Action(own.list), &byExchange, own}
		}
	}
	if set, score := in.reasons(); set&p.any != 0 || score >= p.least {
		for i := range p.reasons {
			if r := &p.reasons[i]; set&r.set != 0 || score >= r.least {
				return Verdict{Action(r.list), r, r.rule}
			}
		}
	}
	return Verdict{Allow, &unruled, noRule}
}

// findMailbox returns the rule for the mailbox of an address.
func (p *Policy) findMailbox(address []byte, c *core.Checker) rule {
	_, refusal := c.Normalize(address)
	if refusal.Reason != core.Accepted {
		return noRule
	}
	var buffer [math.MaxUint8]byte // no name in a table is longer
	own := p.addresses.named(c.AppendCanonical(buffer[:0]))
	if own == nil {
		return noRule
	}
	return own.alone
}

// findExchanges returns the most specific rule of the members whose entries cover all exchanges.
func (p *Policy) findExchanges(exchanges [][]byte) rule {
	found, most := noRule, 0
	for n := range p.exchanges {
		own, specific := p.exchanges[n].findEach(exchanges)
		if specific > most {
			found, most = own, specific
		}
	}
	return found
}

// Reason returns "invalid", "address", "domain", "exchange", a reason of the document, or "" if no rule applied.
func (v Verdict) Reason() string { return v.reason.name }

// Rule returns the place of the rule that decided, such as "block.reasons[1]", or "".
func (v Verdict) Rule() string {
	if v.rule.list == noList {
		return ""
	}
	return string(v.appendRule(nil))
}

func (v Verdict) appendRule(dst []byte) []byte {
	dst = append(dst, listNames[v.rule.list]...)
	dst = append(append(append(dst, '.'), v.reason.array...), '[')
	return append(strconv.AppendUint(dst, uint64(v.rule.index), 10), ']')
}

// AppendJSON appends {"action":…,"reason":…,"rule":…}.
func AppendJSON(dst []byte, v Verdict) []byte {
	if v.reason.json == "" {
		return v.appendJSON(dst)
	}
	return append(dst, v.reason.json...)
}

// appendJSON is AppendJSON for a verdict by a rule. No reason has a character to escape.
func (v Verdict) appendJSON(dst []byte) []byte {
	dst = append(append(dst, `{"action":"`...), v.Action.String()...)
	dst = append(append(dst, `","reason":"`...), v.reason.name...)
	return append(v.appendRule(append(dst, `","rule":"`...)), `"}`...)
}
