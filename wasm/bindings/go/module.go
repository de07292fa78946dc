package main

import (
	"bufio"
	"context"
	"errors"

	"github.com/addrspec/addrspec/wasm/host"
)

// module checks by the embedded module.
type module struct {
	engine *host.Engine
	flags  host.Flags
	many   bool
}

func openModule(o options) (*module, error) {
	engine, err := host.Default()
	if err != nil {
		return nil, err
	}
	m := &module{engine: engine, many: o.many}
	if o.details {
		m.flags = host.Details
	}
	if o.lists != nil {
		err = engine.SetLists(context.Background(), o.lists)
	}
	return m, err
}

func (m *module) check(addresses []string, out *bufio.Writer) error {
	if m.many {
		return m.checkMany(addresses, out)
	}
	var facts host.Facts
	for _, address := range addresses {
		var err error
		// Reuse the buffer of the previous result.
		facts, err = m.engine.Check(context.Background(), facts.JSON[:0], address, m.flags)
		if err != nil {
			return err
		}
		out.Write(append(facts.JSON, '\n'))
	}
	return nil
}

func (m *module) checkMany(addresses []string, out *bufio.Writer) error {
	return m.engine.View().CheckMany(context.Background(), addresses, m.flags, func(_ int, facts host.Facts) {
		out.Write(facts.JSON)
		out.WriteByte('\n')
	})
}

// verdict loads the policy at each call. A program loads each of its policies once.
func (m *module) verdict(document, email string, f found) string {
	ctx := context.Background()
	policy, err := m.engine.NewPolicy(ctx, document)
	if refused, ok := errors.AsType[*host.PolicyError](err); ok {
		return wrong(refused.Place, refused.Offset, err)
	}
	if err != nil {
		return err.Error()
	}
	facts, err := m.engine.Check(ctx, nil, email, 0)
	if err != nil {
		return err.Error()
	}
	if f.disposable {
		facts.Set |= host.Disposable
	}
	known := known(f.mx, host.LookedUp, host.HasMX) | known(f.addressRecord, host.AddressLookedUp, host.FoundAddressRecord)
	subject := host.Subject{Facts: &facts, Address: email, Found: known, Exchanges: f.exchanges}
	verdict, err := m.engine.View().Verdict(ctx, nil, policy, subject)
	if err != nil {
		return err.Error()
	}
	return string(verdict)
}

// known returns the bits of a fact: looked if it was looked up, and has if it is true.
func known[T ~uint32](fact *bool, looked, has T) T {
	switch {
	case fact == nil:
		return 0
	case *fact:
		return looked | has
	}
	return looked
}
