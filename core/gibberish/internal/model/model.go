// Package model is the gibberish model: the features of a name, their trained
// weights, and the layout of model.bin. Package gibberish scores with it and the
// command in train writes it, so both see the same features.
//
// Start with alphabet.go, which reads a name, then features.go.
package model

import _ "embed"

// Trained is the model in use: a signed byte for each weight, then the
// probabilities by sum, the version, and the digest of the training data.
//
//go:embed model.bin
var Trained string

// A weight is a whole number of steps; Unit steps multiply the odds by e. The
// table of probabilities covers sums from -Reach to Reach-1, with one entry for
// Grain sums. A sum outside that range gets the nearest entry.
const (
	Unit  = 8
	Reach = 128
	Grain = 1

	DigestSize = 8 // bytes of the version, and of the digest of the data

	probabilities = TableSize
	version       = probabilities + 2*Reach/Grain
	dataDigest    = version + DigestSize
	size          = dataDigest + DigestSize
)

// Version returns the version of the trained model: the first hexadecimal
// digits of the SHA-256 of its weights and probabilities.
func Version() string { return Trained[version:dataDigest] }

// Probability returns the probability, in hundredths, that a name with the
// given sum of weights is random.
func Probability(sum int) uint8 {
	sum = max(-Reach, min(sum, Reach-1))
	return Trained[probabilities+(sum+Reach)/Grain]
}
