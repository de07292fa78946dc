package host

import (
	"context"
	"errors"
	"slices"
)

// Flags are options of a check, as bits of the interface (ABI.md).
type Flags uint32

const (
	// FullSuggestion makes typo_suggestion the whole corrected address instead of
	// its domain.
	FullSuggestion Flags = 1
	// Details adds the member details to the result: the evidence for it.
	Details Flags = 2
)

// Facts are the module's output for one address.
type Facts struct {
	// JSON is the result, an object of 16 fields, with mx null, or false if Host is
	// empty. The flag Details adds one more member at its end.
	JSON []byte
	// Email is the part of JSON with the address, a quoted JSON string.
	Email []byte
	// MX, Disposable and Exchange are the places in JSON of the values that a lookup
	// decides. Exchange is in the details; without them, and without a Host, it is zero.
	MX, Disposable, Exchange Place
	// Valid reports whether the address is valid.
	Valid bool
	// Set are the facts that are true.
	Set Fact
	// Refusal is zero for a valid address.
	Refusal Refusal
	// Host is the domain to look up MX records for, in A-label form. It is empty
	// for an address that is not valid and for an address literal.
	Host string

	found found  // by the lookup of Host
	more  uint32 // word 1 of the report, which a policy needs
}

// found is what a lookup found.
type found struct {
	mx       bool
	exchange string // the value of exchange; "" leaves null
}

// Place is where a value begins, and its length in bytes.
type Place struct{ At, Length int }

// Fact is a set of boolean facts, as bits of the interface (ABI.md).
type Fact uint32

// The boolean facts.
const (
	Valid Fact = 1 << iota
	Alias
	ASCII
	HasRole // role is not null
	Gibberish
	Disposable // by the lists or, once resolved, by its exchanges
	Public
	Relay
	Typo
	Classed // the lists have an entry for the domain, of any class
)

// Has reports whether a fact is true.
func (f *Facts) Has(fact Fact) bool { return f.Set&fact != 0 }

// Keep returns f with its JSON appended to dst, for use after the function that
// CheckMany called with f.
func (f Facts) Keep(dst []byte) Facts {
	quoted, start := len(f.Email), len(dst)
	dst = append(dst, f.JSON...)
	f.JSON = dst[start:]
	f.Email = f.JSON[emailStart:][:quoted]
	return f
}

// Refusal is the reason why an address is not valid.
type Refusal struct {
	Code     string // stable, such as "local_part_too_long"
	Section  string // of the standard, such as "RFC 5321 section 4.5.3.1.1"
	Sentence string // what is wrong and how to fix it; no control characters
	Offset   int    // of the offending byte in the address
}

// Words of the report (ABI.md). A place has two, its offset and its length.
const (
	wordFacts      = 0
	wordMore       = 1
	wordEmailEnd   = 2
	wordMX         = 3
	wordDisposable = 5
	wordExchange   = 7
	wordHost       = 9
	wordOffset     = 12 // word 11, the number of the reason, is not needed besides its code
	wordCode       = 13
	wordSection    = 15
	wordSentence   = 17
	reportLen      = 24
)

const emailStart = len(`{"email":`)

// checkAddress checks one address. It appends the result to dst.
func (i *instance) checkAddress(ctx context.Context, dst []byte, email string, flags Flags) (Facts, error) {
	if err := i.write(email); err != nil {
		return Facts{}, err
	}
	n, err := i.call(ctx, i.check, uint64(len(email)), uint64(flags))
	if err != nil {
		return Facts{}, err
	}
	words, err := i.reportWords()
	if err != nil {
		return Facts{}, err
	}
	return i.facts(dst, n, &words)
}

// facts returns the Facts from n bytes of JSON and the report. It appends the JSON to
// dst.
func (i *instance) facts(dst []byte, n uint32, words *[reportLen]uint32) (Facts, error) {
	view, ok := i.module.Memory().Read(i.out, i.outCap)
	if !ok {
		return Facts{}, &trap{errors.New("the output is outside the memory")}
	}
	f, err := factsIn(view, n, words)
	if err != nil {
		return Facts{}, err
	}
	return f.Keep(dst), nil
}

// factsIn returns the Facts from output, which begins with n bytes of JSON, and the
// report. Their slices are parts of output.
func factsIn(output []byte, n uint32, words *[reportLen]uint32) (Facts, error) {
	if !plausible(n, uint32(len(output)), words) {
		return Facts{}, &trap{errors.New("the report does not fit the output")}
	}
	text := func(word int) string { return string(output[words[word]:][:words[word+1]]) }
	place := func(word int) Place { return Place{int(words[word]), int(words[word+1])} }
	f := Facts{JSON: output[:n:n], MX: place(wordMX), Disposable: place(wordDisposable), Exchange: place(wordExchange), Set: Fact(words[wordFacts]), more: words[wordMore]}
	f.Valid = f.Has(Valid)
	f.Email = f.JSON[emailStart:words[wordEmailEnd]]
	f.Host = text(wordHost)
	if !f.Valid {
		f.Refusal = Refusal{text(wordCode), text(wordSection), text(wordSentence), int(words[wordOffset])}
	}
	return f, nil
}

// plausible reports whether all offsets and lengths are within the output, and those of
// values in order, so that a defective module cannot make the host panic.
func plausible(n, outCap uint32, words *[reportLen]uint32) bool {
	for _, word := range []int{wordHost, wordCode, wordSection, wordSentence} {
		if uint64(words[word])+uint64(words[word+1]) > uint64(outCap) {
			return false
		}
	}
	end := uint64(words[wordEmailEnd])
	for _, word := range []int{wordMX, wordDisposable, wordExchange} {
		at, length := uint64(words[word]), uint64(words[word+1])
		if word == wordExchange && at|length == 0 {
			continue // without details there is none
		}
		if at < end {
			return false
		}
		end = at + length
	}
	return n <= outCap && words[wordEmailEnd] >= uint32(emailStart) && end <= uint64(n)
}

// Result returns the result with what the lookup found, in the memory of JSON if it fits.
func (f *Facts) Result() []byte {
	const same = "true" // as long as null
	if !f.found.mx || f.MX.Length != len(same) || f.changesMore() {
		return f.AppendResult(nil)
	}
	copy(f.JSON[f.MX.At:], same)
	return f.JSON
}

// changesMore reports whether the lookup changes another value than mx.
func (f *Facts) changesMore() bool {
	return f.found.exchange != "" || f.Has(Disposable) && f.JSON[f.Disposable.At] == 'f'
}

// AppendResult appends the result to dst, with what the lookup found. Without one, mx is
// false.
func (f *Facts) AppendResult(dst []byte) []byte {
	dst = slices.Grow(dst, len(f.JSON)+1+len(f.found.exchange)) // false may take the place of null
	at := 0
	dst, at = f.appendValue(dst, at, f.MX, boolean(f.found.mx))
	if f.changesMore() {
		dst, at = f.appendValue(dst, at, f.Disposable, boolean(f.Has(Disposable)))
	}
	if f.found.exchange != "" && f.Exchange.Length > 0 {
		dst, at = f.appendValue(dst, at, f.Exchange, f.found.exchange)
	}
	return append(dst, f.JSON[at:]...)
}

// appendValue appends the JSON from offset at on, with value at its place, and returns the
// offset after it.
func (f *Facts) appendValue(dst []byte, at int, place Place, value string) ([]byte, int) {
	return append(append(dst, f.JSON[at:place.At]...), value...), place.At + place.Length
}

func boolean(b bool) string {
	if b {
		return "true"
	}
	return "false"
}
