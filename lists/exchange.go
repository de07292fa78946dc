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

// ExchangeClasses are the classes of an exchange: it belongs to a mailbox provider, to a
// suite that companies use, to a gateway that filters mail for other hosts, to a
// hosting company, to a service that forwards, to one that hides the mailbox to which it
// forwards, to throw-away mailboxes, or to parked domains.
var ExchangeClasses = []string{"mailbox", "suite", "gateway", "host", "forward", "relay", TemporaryExchange, "parked"}

// Exchange returns the row for the exchange with that name, which must be lower case and
// in A-label form, and the suffix that the row has, a part of the name. A row covers its
// own name and all below it, and the most specific row decides. Without a row it
// returns nil.
func (l *Lists) Exchange(name []byte) (e *Exchange, suffix []byte) {
	for suffix = name; suffix != nil; suffix = parentOf(suffix) {
		if number := l.exchanges.find(suffix); number != 0 {
			return &l.operators[number-1], suffix
		}
	}
	return nil, nil
}

// parseOperators parses the lines of the part about the operators of exchanges.
func parseOperators(part []byte) (operators []Exchange, err error) {
	err = eachLine(part, format.OperatorFields, func(f [][]byte) bool {
		operators = append(operators, Exchange{Class: string(f[0]), Provider: string(f[1])})
		return slices.Contains(ExchangeClasses, string(f[0])) && len(f[1]) > 0 && len(operators) <= format.MaxRules
	})
	if err != nil {
		return nil, &DamagedError{"a line of its exchanges' operators is malformed"}
	}
	return operators, nil
}
