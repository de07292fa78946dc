package core

import (
	"bytes"

	"github.com/addrspec/addrspec/lists"
)

// Exchanges is what the lists say about the exchanges of a host, the names of its MX
// records in lower case and A-label form, by preference and then name.
//
// Throw-away services register new domains every day but keep their exchanges. An
// exchange at or below the host says nothing, since everybody's may be named so; nor do
// exchanges of which only some belong to such a service.
type Exchanges struct {
	checker *Checker
	host    []byte
	first   exchange
	mixed   bool // one of them does not belong to a throw-away service
}

// Exchanges returns the exchanges of host, without any.
func (c *Checker) Exchanges(host []byte) Exchanges { return Exchanges{checker: c, host: host} }

// Add adds the next exchange. x keeps name.
func (x *Exchanges) Add(name []byte) {
	e := exchange{name, isAtOrBelow(name, x.host), x.checker.lists.MatchExchange(name)}
	x.mixed = x.mixed || e.own || !e.Temporary
	if x.first.name == nil {
		x.first = e
	}
}

// Disposable reports whether all exchanges belong to throw-away services. Then an address
// at host is disposable too, unless its domain has a class of its own or is misspelled
// (Facts.Classed, Facts.Typo).
func (x *Exchanges) Disposable() bool { return x.first.name != nil && !x.mixed }

// AddressRecord is what is known about the A and AAAA records of a host. Without exchanges,
// mail would go there (RFC 5321 section 5.1).
type AddressRecord uint8

const (
	AddressUnknown AddressRecord = iota // not looked up, or the lookup failed
	AddressAbsent
	AddressPresent
)

// AppendJSON appends the value of exchange in details. address_record is null if it is
// unknown or there are exchanges.
func (x *Exchanges) AppendJSON(dst []byte, record AddressRecord) []byte {
	var row *lists.Exchange
	var entry []byte
	class := x.class()
	if class != ownExchange && class != unknownExchange {
		row, entry = x.first.Row, x.first.Entry
	}
	dst = appendText(appendText(dst, `{"class":"`), class)
	dst = appendText(dst, `","provider":`)
	if row == nil {
		dst = appendNull(dst)
	} else { // no name has a character to escape
		dst = append(appendText(append(dst, '"'), row.Provider), '"')
	}
	dst = appendNullable(appendText(dst, `,"entry":`), entry)
	dst = appendNullable(appendText(dst, `,"host":`), x.first.name)
	dst = appendText(dst, `,"address_record":`)
	if x.first.name != nil || record == AddressUnknown {
		return append(appendNull(dst), '}')
	}
	return append(appendBool(dst, record == AddressPresent), '}')
}

// The classes of an exchange that no row has.
const (
	ownExchange     = "own"     // at or below the domain itself
	unknownExchange = "unknown" // there is none, or the lists do not name it
)

// class returns the class of the first exchange. A throw-away one beside others is
// unknown: together they say nothing.
func (x *Exchanges) class() string {
	e := &x.first
	switch {
	case x.Disposable():
		return lists.TemporaryExchange
	case e.Row != nil && !e.Temporary:
		return e.Row.Class
	case e.own:
		return ownExchange
	}
	return unknownExchange
}

// exchange is one exchange and what the lists say about it.
type exchange struct {
	name []byte // nil if there is none
	own  bool   // it is the host itself or below it
	lists.ExchangeMatch
}

func isAtOrBelow(name, domain []byte) bool {
	rest, found := bytes.CutSuffix(name, domain)
	return found && (len(rest) == 0 || rest[len(rest)-1] == '.')
}
