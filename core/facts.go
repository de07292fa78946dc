package core

// Facts are the results of the offline checks of one address: the fields of the
// result but mx, which needs DNS. Slices point into the input and into the
// Checker and are valid until its next Check.
type Facts struct {
	Email      []byte // the input
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
	Typo       []byte // the suggested domain; nil if there is none

	// Host is the domain in A-labels, the name to look up in DNS. It is empty
	// for an address literal.
	Host []byte
	// Refusal is set unless the address is valid.
	Refusal Refusal
}

// Score is the probability, in percent, that a local part is gibberish.
type Score uint8

// Gibberish is the lowest score of a local part that counts as gibberish.
const Gibberish Score = 50
