package host

import (
	"context"
	"errors"
	"fmt"
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

// minorDetails is the minor version of the interface that added Details.
const minorDetails = 1

// Facts are the module's output for one address.
type Facts struct {
	// JSON is the result, an object of 16 fields, with mx false. The flag Details
	// adds one more member at its end.
	JSON []byte
	// Email is the part of JSON with the address, a quoted JSON string.
	Email []byte
	// MXAt is the offset in JSON of the mx value `false`.
	MXAt int
	// Valid reports whether the address is valid.
	Valid bool
	// Refusal is zero for a valid address.
	Refusal Refusal
	// Host is the domain to look up MX records for, in A-label form. It is empty
	// for an address that is not valid and for an address literal.
	Host string
}

// Refusal is the reason why an address is not valid.
type Refusal struct {
	Code     string // stable, such as "local_part_too_long"
	Section  string // of the standard, such as "RFC 5321 section 4.5.3.1.1"
	Sentence string // what is wrong and how to fix it; no control characters
	Offset   int    // of the offending byte in the address
}

// Words of the report (ABI.md). A text has two, its offset and its length.
const (
	wordValid    = 0
	wordEmailEnd = 1
	wordMXAt     = 2
	wordHost     = 3
	wordOffset   = 6 // word 5, the number of the reason, is not needed besides its code
	wordCode     = 7
	wordSection  = 9
	wordSentence = 11
	reportLen    = 13
)

const (
	emailStart = len(`{"email":`)
	mxFalse    = "false"
	mxTrue     = "true"
)

// checkAddress checks one address. It appends the result to dst.
func (i *instance) checkAddress(ctx context.Context, dst []byte, email string, flags Flags) (Facts, error) {
	if err := i.accepts(flags); err != nil {
		return Facts{}, err
	}
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

// accepts returns an error if the module's version of the interface lacks a flag.
func (i *instance) accepts(flags Flags) error {
	if flags&Details != 0 && i.minor < minorDetails {
		return fmt.Errorf("details need interface version %d.%d, the module has %d.%d; use both from one build: %w",
			abiMajor, minorDetails, abiMajor, i.minor, ErrFlags)
	}
	return nil
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
	f := Facts{JSON: output[:n:n], MXAt: int(words[wordMXAt]), Valid: words[wordValid] == 1}
	f.Email = f.JSON[emailStart:words[wordEmailEnd]]
	f.Host = text(wordHost)
	if !f.Valid {
		f.Refusal = Refusal{text(wordCode), text(wordSection), text(wordSentence), int(words[wordOffset])}
	}
	return f, nil
}

// plausible reports whether all offsets and lengths are within the output, so
// that a defective module cannot make the host panic.
func plausible(n, outCap uint32, words *[reportLen]uint32) bool {
	for _, word := range []int{wordHost, wordCode, wordSection, wordSentence} {
		if uint64(words[word])+uint64(words[word+1]) > uint64(outCap) {
			return false
		}
	}
	return n <= outCap && words[wordEmailEnd] <= n && words[wordEmailEnd] >= uint32(emailStart) &&
		uint64(words[wordMXAt])+uint64(len(mxFalse)) <= uint64(n)
}

// Result returns JSON with mx as its mx value, in the same memory.
func (f *Facts) Result(mx bool) []byte {
	if !mx {
		return f.JSON
	}
	rest := append(f.JSON[:f.MXAt], mxTrue...)
	return append(rest, f.JSON[f.MXAt+len(mxFalse):]...)
}

// AppendResult appends the result to dst, with mx as its mx value.
func (f *Facts) AppendResult(dst []byte, mx bool) []byte {
	if !mx {
		return append(dst, f.JSON...)
	}
	dst = append(dst, f.JSON[:f.MXAt]...)
	dst = append(dst, mxTrue...)
	return append(dst, f.JSON[f.MXAt+len(mxFalse):]...)
}
