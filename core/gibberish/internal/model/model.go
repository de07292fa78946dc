// Package model is the gibberish model: the features of a name, their trained
// weights, and the layout of model.bin. Package gibberish scores with it and the
// command in train writes it, so both see the same features.
//
// Start with name.go, which reads a name, then features.go.
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

// Sum returns the sum of the trained weights of name's features, and false if
// name has no Latin letter. If some digits can be read as letters, it returns
// the lower sum of the two readings.
//
// The trainer sums other weights over Readings: taking the weights as an
// argument here makes a check in the module 3 % slower.
func (n *Name) Sum(name []byte) (sum int, ok bool) {
	n.read(name)
	if n.letters == 0 {
		return 0, false
	}
	sum = collector{}.sum(n, 0)
	if leet := n.unleet(); leet > 0 {
		sum = min(sum, collector{}.sum(n, leet))
	}
	return sum, true
}

// Readings appends to dst the features of each reading of name: its digits as
// they are and, if some can be read as letters, as letters. It appends nothing
// if name has no Latin letter.
func Readings(dst [][]uint32, name []byte) [][]uint32 {
	var n Name
	n.read(name)
	if n.letters == 0 {
		return dst
	}
	dst = append(dst, n.list(0))
	if leet := n.unleet(); leet > 0 {
		dst = append(dst, n.list(leet))
	}
	return dst
}

func (n *Name) list(leet int) (indexes []uint32) {
	collector{&indexes}.sum(n, leet)
	return indexes
}
