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

import "github.com/addrspec/addrspec/core/gibberish/internal/model"

// Version names the model: the start of the SHA-256 of its weights and
// probabilities, in hexadecimal.
func Version() string { return model.Version() }

// Scorer scores names. It holds the space that they are read into, so that
// this is not cleared for each; one goroutine uses it at a time.
type Scorer struct{ name model.Name }

// Score is the probability that name is gibberish, in hundredths. name is a
// local part without its tag.
func (s *Scorer) Score(name []byte) uint8 {
	sum, ok := s.name.Sum(model.Trained, name)
	if !ok { // digits alone, another script
		return 0
	}
	return model.Probability(sum)
}

// Score is that of a Scorer of its own.
func Score(name []byte) uint8 {
	var s Scorer
	return s.Score(name)
}
