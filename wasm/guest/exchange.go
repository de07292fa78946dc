//go:build wasip1

package main

import "github.com/addrspec/addrspec/core"

// Flags of exportExchanges.
const (
	flagAddressRecord  = 1 // the host has an A or AAAA record
	flagAddressUnknown = 2 // it is not known whether it has; flagAddressRecord does not count
)

// exchanges says what the lists know about the exchanges of a host. The input is a
// sequence of lengths, each followed by a name: the host, then its exchanges. The output
// is a word whose bit 0 says that all of them belong to throw-away services, and the value
// of exchange in details.
func exchanges(input []byte, flags int32) int32 {
	if len(input) == 0 || !framed(input) {
		return errFraming
	}
	host := first(input)
	x := checker.Exchanges(host)
	for rest := input[prefix+len(host):]; len(rest) > 0; {
		name := first(rest)
		x.Add(name)
		rest = rest[prefix+len(name):]
	}
	record := core.AddressAbsent
	switch {
	case flags&flagAddressUnknown != 0:
		record = core.AddressUnknown
	case flags&flagAddressRecord != 0:
		record = core.AddressPresent
	}
	json := x.AppendJSON(out[prefix:prefix], record)
	if len(json) > outCap-prefix {
		return errPanic // append has reallocated the output
	}
	*word(out[:]) = bit(0, x.Disposable())
	return int32(prefix + len(json))
}
