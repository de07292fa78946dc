package main

import (
	"bufio"
	"context"

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
		if facts, err = m.engine.Check(context.Background(), facts.JSON[:0], address, m.flags); err != nil {
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
