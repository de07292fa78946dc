package host

import (
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"sync"
)

// Lookup is what DNS has about a domain.
type Lookup struct {
	// MX reports whether the domain has an exchange.
	MX bool
	// Exchanges are their names in lower case and A-label form, by preference and then
	// name, separated by a space. "*" in place of a name means that others follow.
	Exchanges string
	// AddressRecord is that of a domain without MX.
	AddressRecord AddressRecord
}

// AddressRecord is what is known about the A and AAAA records of a domain. Without MX, mail
// would go there (RFC 5321 section 5.1).
type AddressRecord uint8

const (
	AddressUnknown AddressRecord = iota // not looked up, or the lookup failed
	AddressAbsent
	AddressPresent
)

// Exchange is what the lists know about the exchanges of a domain.
type Exchange struct {
	// Temporary reports whether all of them belong to throw-away services. Then an
	// address at the domain is disposable, unless the lists have an entry for the domain
	// or it is misspelled.
	Temporary bool
	// JSON is the value of exchange in the details.
	JSON string
}

// Resolve adds to facts of v what a lookup of their Host found: Result and AppendResult write
// mx and exchange, and the fact Disposable may become true.
func (v *View) Resolve(ctx context.Context, f *Facts, l Lookup) error {
	f.found.mx = l.MX
	if f.Host == "" {
		return nil
	}
	details, open := f.Exchange.Length > 0, !f.Has(Classed|Typo)
	if !details && (!open || !MayBeTemporary(f.Host, l.Exchanges)) {
		return nil
	}
	x, err := v.Exchange(ctx, f.Host, l)
	if err != nil {
		return err
	}
	if details {
		f.found.exchange = x.JSON
	}
	if open && x.Temporary {
		f.Set |= Disposable
	}
	return nil
}

// MayBeTemporary reports whether exchanges can make host disposable: there are some, and
// none is the host itself or below it.
func MayBeTemporary(host, exchanges string) bool {
	some := false
	for name := range strings.FieldsSeq(exchanges) {
		if rest, found := strings.CutSuffix(name, host); found && (rest == "" || rest[len(rest)-1] == '.') {
			return false
		}
		some = true
	}
	return some
}

// Exchange returns what the lists of v know about the exchanges of host. The last of them
// are remembered, since most domains have the exchanges of a few companies.
func (v *View) Exchange(ctx context.Context, host string, l Lookup) (x Exchange, err error) {
	known := MayBeTemporary(host, l.Exchanges) // for every host alike
	if known {
		if x, found := v.exchanges.get(l.Exchanges); found {
			return x, nil
		}
	}
	err = v.pool.lend(ctx, nil, func(i *instance) (err error) {
		x, err = i.exchange(ctx, host, l)
		return err
	})
	if err == nil && known {
		v.exchanges.set(l.Exchanges, x)
	}
	return x, err
}

// exchangeFlags are the flags for each AddressRecord.
var exchangeFlags = [...]uint64{AddressAbsent: 0, AddressPresent: 1, AddressUnknown: 2}

// temporaryBit is the bit of the first word of the output that is Exchange.Temporary.
const temporaryBit = 1

// exchange calls the module for the exchanges of host.
func (i *instance) exchange(ctx context.Context, host string, l Lookup) (x Exchange, err error) {
	size, err := i.writeNames(host, l.Exchanges)
	if err != nil {
		return x, err
	}
	n, err := i.call(ctx, i.exchanges, uint64(size), exchangeFlags[l.AddressRecord])
	if err != nil {
		return x, err
	}
	output, ok := i.module.Memory().Read(i.out, n)
	if !ok || n < 4 {
		return x, &trap{errors.New("the exchanges are outside the memory")}
	}
	return Exchange{Temporary: binary.LittleEndian.Uint32(output)&temporaryBit != 0, JSON: string(output[4:])}, nil
}

// writeNames writes the host and its exchanges to the input buffer, each after its length,
// and returns the number of bytes.
func (i *instance) writeNames(host, exchanges string) (size int, err error) {
	if recordPrefix+len(host)+namesSize(exchanges) > int(i.inCap) {
		return 0, ErrTooLong
	}
	in, ok := i.module.Memory().Read(i.in, i.inCap)
	if !ok {
		return 0, &trap{errors.New("the input buffer is outside the memory")}
	}
	return putNames(in, putRecord(in, 0, host), exchanges), nil
}

// namesSize is how many bytes putNames writes at most, since each name may be one character.
func namesSize(names string) int { return (recordPrefix + 1) * len(names) }

// putNames writes the names that spaces separate to in from at on, each after its length, and
// returns where they end.
func putNames(in []byte, at int, names string) int {
	for name := range strings.FieldsSeq(names) {
		at = putRecord(in, at, name)
	}
	return at
}

// putRecord writes a text after its length.
func putRecord(in []byte, at int, text string) int {
	binary.LittleEndian.PutUint32(in[at:], uint32(len(text)))
	return at + recordPrefix + copy(in[at+recordPrefix:], text)
}

// exchangeMemory remembers the exchanges of a View, which has the same lists for its life.
type exchangeMemory struct {
	mu    sync.RWMutex
	known map[string]Exchange
}

const (
	// maxExchanges is how many sets of exchanges a View remembers, and maxExchangesLength
	// how long they may be: together about 4 MB at most. When it is full, it forgets all.
	maxExchanges       = 4096
	maxExchangesLength = 256
)

func (m *exchangeMemory) get(exchanges string) (x Exchange, found bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	x, found = m.known[exchanges]
	return x, found
}

func (m *exchangeMemory) set(exchanges string, x Exchange) {
	if len(exchanges) > maxExchangesLength {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil || len(m.known) >= maxExchanges {
		m.known = make(map[string]Exchange)
	}
	m.known[strings.Clone(exchanges)] = x
}
