package model

// The indexes of the weights. A feature is an n-gram of symbols or a statistic
// of the whole name; each occurrence counts.
const (
	trigrams  = 0                                     // a weight each
	FourGrams = trigrams + alphabet*alphabet*alphabet // hashed into buckets
	fiveGrams = FourGrams + 1<<bucketBits             // hashed into buckets
	Stats     = fiveGrams + 1<<bucketBits             // the tables below

	bucketBits = 14
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

// collector sums the trained weights of a name's features or, if list is set,
// lists their indexes.
type collector struct {
	sum  int
	list *[]uint16
}

func (c *collector) add(i int) {
	if c.list != nil {
		*c.list = append(*c.list, uint16(i))
		return
	}
	c.sum += int(int8(Trained[i]))
}

// collect adds the features of n; leet is how many of its digits were read as
// letters.
func (c *collector) collect(n *Name, leet int) {
	c.ngrams(n)
	c.stats(n, leet)
}

// ngrams adds the n-grams of each run with its final edge. Before the run there
// are two edges for a trigram, one for a 4-gram or a 5-gram.
func (c *collector) ngrams(n *Name) {
	var history uint32 // the symbols so far, five bits each
	depth := 0
	for _, s := range n.symbol[:n.length] {
		history = history<<5 | uint32(s)
		c.add(trigrams + int((history>>10&31*alphabet+history>>5&31)*alphabet+uint32(s)))
		if depth >= 2 {
			c.add(FourGrams + int(history&0xFFFFF*0x9E3779B1>>(32-bucketBits)))
		}
		if depth >= 3 {
			c.add(fiveGrams + int(history&0x1FFFFFF*0x85EBCA77>>(32-bucketBits)))
		}
		if depth++; s == edge {
			history, depth = 0, 0
		}
	}
}

// stats adds one feature from each table of statistics.
func (c *collector) stats(n *Name, leet int) {
	var s stats
	s.scan(n)
	letters := min(n.letters, 15)
	c.add(statCounts + letters*8 + lengthClass(n.digits))
	c.add(statSwitches + int(min(s.switches, 7))*8 + n.ending())
	c.add(statCluster + int(min(s.longestCluster, 7))*16 + letters)
	c.add(statVowels + int(min(s.vowels, 7))*16 + letters)
	c.add(statDistance + int(s.distance)*16 + letters)
	c.add(statOneHanded + int(min(s.oneHanded, 7))*16 + letters)
	c.add(statRepeats + int(min(s.repeats, 7))*16 + letters)
	c.add(statEncoding + n.encoding(&s)*16 + min((n.letters+n.digits)/2, 15))
	c.add(statDistinct + int(min(s.distinct, 15))*16 + letters)
	c.add(statShape + int(s.shape>>16&(shapeBuckets-1)))
	c.add(statLeet + min(leet, 7))
	c.add(statRuns + int(min(s.runs, 7))*16 + letters)
	c.add(statSyllables + int(min(s.sounds, 7))*16 + int(min(s.longestWord, 15)))
	c.add(statRows + int(min(s.offRow, 3))*16 + letters)
	if n.digits > 0 {
		c.numbers(n)
	}
}

// numbers adds one feature for each segment of digits.
func (c *collector) numbers(n *Name) {
	for i := 0; i < n.length; i++ {
		if n.symbol[i] != digit {
			continue
		}
		end := i + 1
		for n.symbol[end] == digit {
			end++
		}
		place := 0
		if i > 0 && n.symbol[i-1] != edge {
			place = 1
		}
		if n.symbol[end] != edge {
			place |= 2
		}
		c.add(statNumbers + (place*8+min(lengthClass(end-i), 7))*8 + n.numberKind(i, end))
		i = end
	}
}

// lengthClass maps a length to 0 to 7.
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
