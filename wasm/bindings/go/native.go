package main

import (
	"bufio"
	"errors"
	"strings"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/core/policy"
	"github.com/addrspec/addrspec/lists"
)

// native checks by package core.
type native struct {
	checker *core.Checker // nil for the functions of core, with its own lists
	details bool
}

func openNative(o options) (*native, error) {
	n := &native{details: o.details}
	if o.lists == nil {
		return n, nil
	}
	opened, err := lists.Open(o.lists)
	if err != nil {
		return nil, err
	}
	n.checker = core.New(opened)
	return n, nil
}

func (n *native) check(addresses []string, out *bufio.Writer) error {
	for _, address := range addresses {
		out.Write(append(n.result(address), '\n'))
	}
	return nil
}

// result returns the result for one address.
func (n *native) result(address string) []byte {
	switch {
	case n.checker == nil && n.details:
		return core.Explain(address)
	case n.checker == nil:
		facts := core.Check(address)
		return facts.JSON()
	}
	facts := n.checker.Check([]byte(address))
	if n.details {
		return n.checker.AppendDetails(facts.JSON(), &facts)
	}
	return facts.JSON()
}

// verdict parses the policy at each call. A program parses each of its policies once.
func (n *native) verdict(document, email string, f found) string {
	checker := n.checker
	if checker == nil {
		checker = core.New(lists.Default())
	}
	parsed, err := policy.Parse([]byte(document), checker)
	if refused, ok := errors.AsType[*policy.Error](err); ok {
		return wrong(refused.Place, refused.Offset, err)
	}
	facts := checker.Check([]byte(email))
	facts.Disposable = facts.Disposable || f.disposable
	in := policy.Of(&facts, checker.Form(&facts))
	in.Lookup = known(f.mx, policy.LookedUp, policy.HasMX) | known(f.addressRecord, policy.AddressLookedUp, policy.HasAddress)
	for name := range strings.FieldsSeq(f.exchanges) {
		in.Exchanges = append(in.Exchanges, []byte(name))
	}
	return string(policy.AppendJSON(nil, parsed.Evaluate(&in, checker)))
}
