package host

import (
	"context"
	"errors"
)

// Flags change a check; they are bits of the interface.
type Flags uint32

// FullSuggestion makes typo_suggestion the whole corrected address instead of
// its domain.
const FullSuggestion Flags = 1

// Answer is what the module says about one address.
type Answer struct {
	// JSON is the object of 16 fields, mx false.
	JSON []byte
	// Email is the part of JSON that holds the address: a quoted JSON string.
	Email []byte
	// MXAt is where in JSON the five octets `false` of the mx value stand.
	MXAt int
	// Valid tells whether the address is valid; a Refusal goes with one that
	// is not.
	Valid   bool
	Refusal Refusal
	// Host is the domain to ask for MX, in A-label form; empty for an address
	// that is not valid and for an address literal.
	Host string
}

// Refusal is why an address is not valid.
type Refusal struct {
	Code     string // stable, such as "local_part_too_long"
	Section  string // the norm, such as "RFC 5321 section 4.5.3.1.1"
	Sentence string // what is wrong and how to mend it, without control characters
	Offset   int    // of the offending octet in the address
}

// The words of the report (ABI.md); a text is a place and a length.
const (
	wordValid    = 0
	wordEmailEnd = 1
	wordMXAt     = 2
	wordHost     = 3
	wordOffset   = 6 // 5 is the reason's number, which its code makes needless
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

// checkAddress runs one check and copies the answer out, behind dst.
func (i *instance) checkAddress(ctx context.Context, dst []byte, email string, flags Flags) (Answer, error) {
	if err := i.write(email); err != nil {
		return Answer{}, err
	}
	n, err := i.call(ctx, i.check, uint64(len(email)), uint64(flags))
	if err != nil {
		return Answer{}, err
	}
	words, err := i.reportWords()
	if err != nil {
		return Answer{}, err
	}
	return i.answer(dst, n, &words)
}

// answer builds the Answer of n octets of JSON and the report.
func (i *instance) answer(dst []byte, n uint32, words *[reportLen]uint32) (Answer, error) {
	view, ok := i.module.Memory().Read(i.out, i.outCap)
	if !ok || !plausible(n, i.outCap, words) {
		return Answer{}, &trap{errors.New("the report does not fit the output")}
	}
	start := len(dst)
	dst = append(dst, view[:n]...)
	a := Answer{JSON: dst[start:], MXAt: int(words[wordMXAt]), Valid: words[wordValid] == 1}
	a.Email = a.JSON[emailStart:words[wordEmailEnd]]
	text := func(word int) string { return string(view[words[word]:][:words[word+1]]) }
	a.Host = text(wordHost)
	if !a.Valid {
		a.Refusal = Refusal{text(wordCode), text(wordSection), text(wordSentence), int(words[wordOffset])}
	}
	return a, nil
}

// plausible guards the host's own memory against a module gone wrong.
func plausible(n, outCap uint32, words *[reportLen]uint32) bool {
	for _, word := range []int{wordHost, wordCode, wordSection, wordSentence} {
		if uint64(words[word])+uint64(words[word+1]) > uint64(outCap) {
			return false
		}
	}
	return n <= outCap && words[wordEmailEnd] <= n && words[wordEmailEnd] >= uint32(emailStart) &&
		uint64(words[wordMXAt])+uint64(len(mxFalse)) <= uint64(n)
}

// AppendResult appends the object with its mx value set, the answer complete.
func (a *Answer) AppendResult(dst []byte, mx bool) []byte {
	if !mx {
		return append(dst, a.JSON...)
	}
	dst = append(dst, a.JSON[:a.MXAt]...)
	dst = append(dst, mxTrue...)
	return append(dst, a.JSON[a.MXAt+len(mxFalse):]...)
}
