package model

// The weights lie in one table. A feature is an index into it: a sequence of
// symbols, or a fact about the whole name.
const (
	threes    = 0                                // each sequence of three has its own
	Fours     = threes + symbols*symbols*symbols // sequences of four share buckets
	fives     = Fours + 1<<bucketBits            // and those of five
	Sequences = fives + 1<<bucketBits

	bucketBits = 14
)

// Facts about the whole name, each a small table.
const (
	factCounts    = Sequences                // letters by digits
	factSwitches  = factCounts + 16*8        // changes between letters and digits by how it ends
	factConsonant = factSwitches + 8*8       // longest run of consonants by letters
	factVowels    = factConsonant + 8*16     // vowels by letters
	factStretch   = factVowels + 8*16        // way of the fingers on a keyboard by letters
	factHands     = factStretch + 16*16      // pairs of letters typed by one hand by letters
	factRepeats   = factHands + 8*16         // repeated chunks by letters
	factEncoding  = factRepeats + 8*16       // hex or base32 by length
	factDistinct  = factEncoding + 4*16      // distinct letters by letters
	factShape     = factDistinct + 16*16     // lengths of the runs of letters and digits
	factLeet      = factShape + shapeBuckets // digits read as letters
	TableSize     = factLeet + 8

	shapeBuckets = 1024
)

// features takes in the indexes of what a name has, each as often as it
// occurs: it adds up their weights, or lists them where there is a list.
type features struct {
	weights string
	sum     int
	list    *[]uint16
}

func (f *features) add(i int) {
	if f.list != nil {
		*f.list = append(*f.list, uint16(i))
		return
	}
	f.sum += int(int8(f.weights[i]))
}

// collect takes in the features of t, of whose digits leet were read as letters.
func (f *features) collect(t *Text, leet int) {
	f.sequences(t)
	f.facts(t, leet)
}

// sequences adds every sequence of three, four and five symbols that ends
// within a run. Shorter ones at its start are padded with edges.
func (f *features) sequences(t *Text) {
	var history uint32 // the symbols before, five bits each
	depth := 0
	for _, s := range t.symbol[:t.n] {
		history = history<<5 | uint32(s)
		f.add(threes + int((history>>10&31*symbols+history>>5&31)*symbols+uint32(s)))
		if depth >= 2 {
			f.add(Fours + int(history&0xFFFFF*0x9E3779B1>>(32-bucketBits)))
		}
		if depth >= 3 {
			f.add(fives + int(history&0x1FFFFFF*0x85EBCA77>>(32-bucketBits)))
		}
		if depth++; s == edge {
			history, depth = 0, 0
		}
	}
}

// Sequences adds one feature of each fact.
func (f *features) facts(t *Text, leet int) {
	var v view
	v.walk(t)
	letters := min(t.letters, 15)
	f.add(factCounts + letters*8 + lengthClass(t.digits))
	f.add(factSwitches + int(min(v.switches, 7))*8 + t.tail())
	f.add(factConsonant + int(min(v.consonants, 7))*16 + letters)
	f.add(factVowels + int(min(v.vowels, 7))*16 + letters)
	f.add(factStretch + int(v.stretch)*16 + letters)
	f.add(factHands + int(min(v.oneHanded, 7))*16 + letters)
	f.add(factRepeats + int(min(v.repeats, 7))*16 + letters)
	f.add(factEncoding + t.encoding(v.seen)*16 + min((t.letters+t.digits)/2, 15))
	f.add(factDistinct + int(min(v.distinct, 15))*16 + letters)
	f.add(factShape + int(v.shape>>16&(shapeBuckets-1)))
	f.add(factLeet + min(leet, 7))
}
