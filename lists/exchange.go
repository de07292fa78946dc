package lists

import (
	"slices"

	"github.com/addrspec/addrspec/lists/internal/format"
)

// Exchange is what the table of mail exchanges (exchanges.txt) says about a host that
// takes mail for domains.
type Exchange struct {
	Class    string // one of ExchangeClasses
	Provider string // who runs it, such as "Google Workspace"
}

// TemporaryExchange is the class of an exchange that only a throw-away service uses.
const TemporaryExchange = "temporary"

// ExchangeClasses are the classes of an exchange, which exchanges.txt explains.
var ExchangeClasses = []string{"mailbox", "suite", "gateway", "host", "forward", "relay", TemporaryExchange, "parked"}

// ExchangeMatch is what the lists say about one exchange.
type ExchangeMatch struct {
	Row       *Exchange // of the table; nil if an entry of the domains decides, or nothing
	Entry     []byte    // the suffix of Row, or the domain that is disposable; a part of the name
	Temporary bool      // it belongs to a throw-away service
}

// MatchExchange returns what decides about the exchange with that name, which must be
// lower case and in A-label form: its row, or an entry for it or a parent that is
// disposable, whichever is more specific. An entry of another class that is no less specific
// than a row of class temporary takes its place: so an operator's rows can correct the table.
func (l *Lists) MatchExchange(name []byte) (e ExchangeMatch) {
	e.Row, e.Entry = l.Exchange(name)
	e.Temporary = e.Row != nil && e.Row.Class == TemporaryExchange
	switch m := l.Match(name); {
	case m.Class == Disposable && len(m.Entry) > len(e.Entry):
		return ExchangeMatch{Entry: m.Entry, Temporary: true}
	case e.Temporary && m.Class&(Disposable|Unproven) == 0 && len(m.Entry) >= len(e.Entry):
		return ExchangeMatch{}
	}
	return e
}

// Exchange returns the row for the exchange with that name or nil, and the suffix that the
// row has, a part of the name. The most specific row decides.
func (l *Lists) Exchange(name []byte) (e *Exchange, suffix []byte) {
	for suffix = name; suffix != nil; suffix = parentOf(suffix) {
		if number := l.exchanges.find(suffix); number != 0 {
			return &l.operators[number-1], suffix
		}
	}
	return nil, nil
}

func (l *Lists) parseOperators(part []byte) bool {
	return eachLine(part, format.OperatorFields, func(f [][]byte) bool {
		l.operators = append(l.operators, Exchange{Class: string(f[0]), Provider: string(f[1])})
		return slices.Contains(ExchangeClasses, string(f[0])) && len(f[1]) > 0 && len(l.operators) <= format.MaxRules
	})
}
