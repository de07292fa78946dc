// Package gibberish tells how likely a local part was typed or generated at
// random, rather than being a name, a word, a handle or an abbreviation.
//
// It adds up weights: of every sequence of three to five symbols, and of a
// few facts about the name as a whole. The weights were found by logistic
// regression (package main in train) on names and words of many languages
// against random strings of many makes. A table turns the sum into a
// probability. All of it is integer arithmetic on a constant table, so every
// host gives the same answer. MODEL.md tells the data, the errors and the limits.
package gibberish

import _ "embed"

// model is the table of weights; behind it lie the probabilities by sum, the
// version and the digest of the data it was trained on.
//
//go:embed model.bin
var model string

// A weight is a whole number of steps; unit of them make a factor of e in the
// odds. Sums beyond reach are as certain as can be; grain sums share a
// probability.
const (
	unit  = 5
	reach = 64
	grain = 1

	probabilities = tableSize
	version       = probabilities + 2*reach/grain
	dataDigest    = version + digestSize
	modelSize     = dataDigest + digestSize
	digestSize    = 8
)

// Version names the model: the start of the SHA-256 of its weights and
// probabilities, in hexadecimal.
func Version() string { return model[version:dataDigest] }

// Scorer scores names. It holds the space that they are read into, so that
// this is not cleared for each; one goroutine uses it at a time.
type Scorer struct{ text text }

// Score is the probability that name is gibberish, in hundredths. name is a
// local part without its tag.
func (s *Scorer) Score(name []byte) uint8 {
	t := &s.text
	t.read(name)
	if t.letters == 0 { // digits alone, another script
		return 0
	}
	sum := t.sum(0)
	if leet := t.unleet(); leet > 0 {
		sum = min(sum, t.sum(leet))
	}
	return probability(sum)
}

// Score is that of a Scorer of its own.
func Score(name []byte) uint8 {
	var s Scorer
	return s.Score(name)
}

// sum adds up the weights of t's features.
func (t *text) sum(leet int) int {
	var f features
	f.collect(t, leet)
	return f.sum
}

func probability(sum int) uint8 {
	sum = max(-reach, min(sum, reach-1))
	return model[probabilities+(sum+reach)/grain]
}
