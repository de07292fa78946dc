package gibberish

// What the trainer (package main in train) needs to know of the model.
const (
	TableSize = tableSize  // how many weights
	Unit      = unit       // steps of a weight in a factor of e
	Reach     = reach      // sums from -Reach to Reach-1 have a probability
	Grain     = grain      // sums that share one
	Digest    = digestSize // length of the version, and of the digest of the data
	Sequences = facts      // weights below are of sequences, the others of facts
	Fours     = fours      // weights from here to Sequences share buckets
)

// Model is the model in use: the weights, and behind them the probabilities.
func Model() string { return model }

// Readings appends to dst the features of name, one list for each way to read
// its digits: as they are, and as letters where some can be. Score takes the
// lower sum of the two. There is no reading of a name without Latin letters.
func Readings(dst [][]uint16, name []byte) [][]uint16 {
	var t text
	t.read(name)
	if t.letters == 0 {
		return dst
	}
	for leet := 0; ; {
		var list []uint16
		f := features{list: &list}
		f.collect(&t, leet)
		dst = append(dst, list)
		if leet > 0 {
			return dst
		}
		if leet = t.unleet(); leet == 0 {
			return dst
		}
	}
}
