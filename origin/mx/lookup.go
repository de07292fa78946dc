package mx

import "github.com/addrspec/addrspec/wasm/host"

// Lookup returns r as the module takes it. A Result of [Resolver.Lookup] counts as one without
// an address record; a caller that needs the record calls [Resolver.LookupAddress].
func (r Result) Lookup() host.Lookup {
	l := host.Lookup{MX: r.MX, Exchanges: r.Exchanges}
	switch {
	case r.AddressRecord:
		l.AddressRecord = host.AddressPresent
	case !r.AddressUnknown:
		l.AddressRecord = host.AddressAbsent
	}
	return l
}
