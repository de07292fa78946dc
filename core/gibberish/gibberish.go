// Package gibberish estimates the probability that a local part was typed or
// generated at random, as opposed to a name, a word, a handle or an
// abbreviation.
//
// The score is a sum of weights: one for each sequence of three to five symbols
// and one for each of a few statistics of the whole name. A table maps the sum
// to a probability. Only integers are added up, so every host gets the same
// score. The weights come from logistic regression on names and words of many
// languages against many kinds of random strings.
//
// The model is in internal/model, its training in train, a module of its own. MODEL.md describes
// the data, the measured errors and the limits.
package gibberish

import (
	"github.com/addrspec/addrspec/core/gibberish/internal/hangul"
	"github.com/addrspec/addrspec/core/gibberish/internal/model"
)

// Version returns the version of the model: the first hexadecimal digits of the
// SHA-256 of its weights and probabilities.
func Version() string { return model.Version() }

// Scorer scores names. It reuses one buffer, which is too large to clear for
// every name, so only one goroutine may use it at a time.
type Scorer struct{ name model.Name }

// Score returns the probability, in hundredths, that name is gibberish. name is
// a local part without its tag, preferably in lower case. The score is 0 if name has no
// Latin letter.
func (s *Scorer) Score(name []byte) uint8 {
	sum, ok := s.name.Sum(name)
	if !ok {
		return 0
	}
	score := model.Probability(sum)
	if score > mostOfHangul && hangul.IsTyped(name) {
		return mostOfHangul
	}
	return score
}

// mostOfHangul is the highest score of a name that types Hangul. Among what the weights
// take for random, people with such names are about as frequent as strings that happen to
// decode.
const mostOfHangul = 49

// Score scores name with a new Scorer.
func Score(name []byte) uint8 {
	var s Scorer
	return s.Score(name)
}
