package model

import "math/bits"

// The indexes of the weights. A feature is an n-gram of symbols or a statistic
// of the whole name; each occurrence counts.
const (
	trigrams  = 0                                     // a weight each
	FourGrams = trigrams + alphabet*alphabet*alphabet // hashed into buckets
	fiveGrams = FourGrams + 1<<fourBits               // hashed into buckets
	Stats     = fiveGrams + 1<<fiveBits               // the tables below

	fourBits = 15
	fiveBits = 16
)

// The statistics of a name, each a small table.
const (
	statCounts    = Stats                    // letters, digits
	statSwitches  = statCounts + 16*8        // changes between letters and digits, ending
	statCluster   = statSwitches + 8*8       // longest consonant cluster, letters
	statVowels    = statCluster + 8*16       // vowels, letters
	statDistance  = statVowels + 8*16        // average distance on a keyboard, letters
	statOneHanded = statDistance + 16*16     // pairs of letters typed by one hand, letters
	statRepeats   = statOneHanded + 8*16     // repeated pairs, letters
	statEncoding  = statRepeats + 8*16       // hex or base32, length
	statDistinct  = statEncoding + 4*16      // distinct letters, letters
	statShape     = statDistinct + 16*16     // lengths of the segments of letters and digits
	statLeet      = statShape + shapeBuckets // digits read as letters
	statNumbers   = statLeet + 8             // each number: place, length, kind
	statRuns      = statNumbers + 4*8*8      // runs, letters
	statSyllables = statRuns + 8*16          // changes between vowels and consonants, longest segment of letters
	statRows      = statSyllables + 8*16     // letters that leave a keyboard row, letters
	TableSize     = statRows + 4*16

	shapeBuckets = 1024
)

// collector looks up the trained weights of a name's features. If list is set, it lists
// their indexes too.
//
// Sums are local variables: in memory, each addition waits for the one before.
type collector struct {
	list *[]uint32
}

func (c collector) weight(i int) int {
	if c.list != nil {
		*c.list = append(*c.list, uint32(i))
	}
	return int(int8(Trained[i]))
}

// sum returns the sum of the weights of the features of n; leet is how many of its
// digits were read as letters.
func (c collector) sum(n *Name, leet int) int { return c.ngrams(n) + c.stats(n, leet) }

// ngrams sums the n-grams of each run with its final edge. Before the run there
// are two edges for a trigram, one for a 4-gram or a 5-gram.
func (c collector) ngrams(n *Name) (sum int) {
	var r run
	if c.list != nil { // in a loop of its own, which the sum does not wait for
		for _, s := range n.symbol[:n.length] {
			r = r.add(s)
			indexes := [...]uint32{uint32(r.three), uint32(r.four()), uint32(r.five())}
			*c.list = append(*c.list, indexes[:max(1, min(r.length-1, 3))]...)
			if s == edge {
				r = run{}
			}
		}
	}
	trained := Trained
	for _, s := range n.symbol[:n.length] {
		r = r.add(s)
		sum += int(int8(trained[r.three]))
		if r.length > 2 {
			sum += int(int8(trained[r.four()]))
		}
		if r.length > 3 {
			sum += int(int8(trained[r.five()]))
		}
		if s == edge {
			r = run{}
		}
	}
	return sum
}

// run is a run of letters and digits as far as it is read. It is passed as a value,
// which stays in registers.
type run struct {
	history uint32 // its last symbols, five bits each
	pair    int    // the number of its last two symbols
	three   int    // the index of its last trigram
	length  int
}

func (r run) add(s uint8) run {
	return run{
		history: r.history<<5 | uint32(s),
		pair:    int(r.history&31)*alphabet + int(s),
		three:   trigrams + r.pair*alphabet + int(s),
		length:  r.length + 1,
	}
}

// four and five return the index of the last 4-gram and 5-gram.
func (r run) four() int { return FourGrams + int(r.history&0xFFFFF*0x9E3779B1>>(32-fourBits)) }
func (r run) five() int { return fiveGrams + int(r.history&0x1FFFFFF*0x85EBCA77>>(32-fiveBits)) }

// stats sums one feature from each table of statistics.
func (c collector) stats(n *Name, leet int) (sum int) {
	var s stats
	s.scan(n)
	letters := min(int(s.letters), 15)
	sum += c.weight(statCounts + letters*8 + lengthClass(int(s.digits)))
	sum += c.weight(statSwitches + int(min(s.switches, 7))*8 + n.ending())
	sum += c.weight(statCluster + int(min(s.longestCluster, 7))*16 + letters)
	sum += c.weight(statVowels + int(min(s.vowels, 7))*16 + letters)
	sum += c.weight(statDistance + int(s.distance)*16 + letters)
	sum += c.weight(statOneHanded + int(min(s.oneHanded, 7))*16 + letters)
	sum += c.weight(statRepeats + int(min(s.repeats, 7))*16 + letters)
	sum += c.weight(statEncoding + n.encoding(&s)*16 + min(int(s.letters+s.digits)/2, 15))
	sum += c.weight(statDistinct + int(min(s.distinct, 15))*16 + letters)
	sum += c.weight(statShape + int(s.shape>>16&(shapeBuckets-1)))
	sum += c.weight(statLeet + min(leet, 7))
	sum += c.weight(statRuns + int(min(s.runs, 7))*16 + letters)
	sum += c.weight(statSyllables + int(min(s.sounds, 7))*16 + int(min(s.longestWord, 15)))
	sum += c.weight(statRows + int(min(s.offRow, 3))*16 + letters)
	if n.digits != 0 {
		sum += c.numbers(n)
	}
	return sum
}

func (c collector) numbers(n *Name) (sum int) {
	for rest := n.digits; rest != 0; {
		i := bits.TrailingZeros64(rest)
		end := i + bits.TrailingZeros64(^(rest >> i))
		rest = rest >> end << end
		place := 0
		if i > 0 && n.symbol[i-1] != edge {
			place = 1
		}
		if n.symbol[end] != edge {
			place |= 2
		}
		sum += c.weight(statNumbers + (place*8+min(lengthClass(end-i), 7))*8 + n.numberKind(i, end))
	}
	return sum
}

func lengthClass(n int) int {
	switch {
	case n <= 4:
		return n
	case n <= 6:
		return 5
	case n <= 9:
		return 6
	}
	return 7
}
