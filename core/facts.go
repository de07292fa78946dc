package core

// Facts is what the offline checks say about one address: the fields of the
// contract but mx, which needs DNS. Slices point into the input and into the
// Checker and hold until its next Check.
type Facts struct {
	Email      []byte // as given
	Valid      bool
	Normalized []byte // nil unless valid
	LocalPart  []byte // nil unless valid
	Alias      bool
	ASCII      bool
	Role       Role
	Gibberish  Score
	Domain     []byte // nil unless valid
	Disposable bool
	Public     bool
	Relay      bool
	Typo       []byte // the domain suggested; nil when there is none

	// Host is the domain in A-label form, the name to ask DNS for; empty for
	// an address literal.
	Host []byte
	// Refusal says why an address is not valid.
	Refusal Refusal
}

// Score is the probability that a local part is gibberish, in hundredths.
type Score uint8

// Gibberish is the score from which on a local part is called gibberish.
const Gibberish Score = 50
