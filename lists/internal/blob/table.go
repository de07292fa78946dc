package blob

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/addrspec/addrspec/lists/internal/format"
)

// writer collects the columns of a table.
type writer struct {
	suffixIDs map[string]byte

	buckets, blocks, lengths, suffixes, texts []byte

	values []int
}

// number is a type of the values of a table.
type number interface{ ~uint8 | ~int }

// packTable encodes a table that maps names to values.
func packTable[V number](names map[string]V) ([]byte, error) {
	buckets, err := sortIntoBuckets(names)
	if err != nil {
		return nil, err
	}
	suffixes := chooseSuffixes(slices.Concat(buckets[:]...))
	w := &writer{suffixIDs: map[string]byte{}}
	for id, suffix := range suffixes {
		w.suffixIDs[suffix] = byte(id)
	}
	for _, bucket := range buckets {
		addBucket(w, bucket, names)
	}
	return w.table(suffixes)
}

// sortIntoBuckets returns the sorted names of each bucket.
func sortIntoBuckets[V number](names map[string]V) (buckets [format.Buckets][]string, err error) {
	for name, value := range names {
		bucket, ok := format.Bucket([]byte(name))
		if !ok || len(name) > format.MaxName || strings.Trim(name, format.Alphabet) != "" {
			return buckets, fmt.Errorf("%q cannot be packed: want 2 to 255 of the characters %s", name, format.Alphabet)
		}
		if value == 0 {
			return buckets, fmt.Errorf("%q cannot be packed: its value 0 means that it is not in the table", name)
		}
		buckets[bucket] = append(buckets[bucket], name)
	}
	for _, names := range buckets {
		slices.Sort(names)
	}
	return buckets, nil
}

// addBucket appends the entries of one bucket.
func addBucket[V number](w *writer, names []string, values map[string]V) {
	w.buckets = binary.LittleEndian.AppendUint16(w.buckets, uint16(len(w.lengths)))
	previous := ""
	for _, name := range names {
		if len(w.lengths)%format.BlockEntries == 0 {
			w.blocks = format.AppendUint24(w.blocks, len(w.texts))
			previous = ""
		}
		stem, suffix := w.cutSuffix(name[format.BucketBytes:])
		w.addText(stem, commonPrefix(stem, previous))
		w.suffixes, w.values = append(w.suffixes, suffix), append(w.values, int(values[name]))
		previous = stem
	}
}

// addText appends the lengths and the text of an entry: stem without its first
// prefix bytes.
func (w *writer) addText(stem string, prefix int) {
	text := stem[prefix:]
	w.lengths = append(w.lengths, byte(prefix<<4|min(len(text), format.LongText)))
	if len(text) >= format.LongText {
		w.texts = append(w.texts, byte(len(text)))
	}
	w.texts = append(w.texts, text...)
}

// commonPrefix returns the length of the longest common prefix of a and b, at
// most format.MaxPrefix.
func commonPrefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b), format.MaxPrefix) && a[n] == b[n] {
		n++
	}
	return n
}

// cutSuffix splits rest before the longest of the table's suffixes.
func (w *writer) cutSuffix(rest string) (stem string, suffix byte) {
	for at := range rest {
		if id, ok := w.suffixIDs[rest[at:]]; ok {
			return rest[:at], id
		}
	}
	return rest, 0
}

// valueColumns returns the size of the values and their bytes: the low ones, then
// the high ones if any value needs two.
func (w *writer) valueColumns() (size byte, columns []byte) {
	high := make([]byte, len(w.values))
	for e, v := range w.values {
		columns, high[e] = append(columns, byte(v)), byte(v>>8)
	}
	if len(w.values) == 0 || slices.Max(high) == 0 {
		return 1, columns
	}
	return 2, append(columns, high...)
}

// table concatenates the columns.
func (w *writer) table(suffixes []string) ([]byte, error) {
	if len(w.lengths) > 0xffff || len(w.texts) >= 1<<24 {
		return nil, fmt.Errorf("%d entries with %d bytes do not fit 16 and 24 bits", len(w.lengths), len(w.texts))
	}
	size, values := w.valueColumns()
	header := []byte{byte(len(suffixes) - 1)}
	header = append(binary.LittleEndian.AppendUint16(header, uint16(len(w.lengths))), size)
	for _, suffix := range suffixes {
		header = append(append(header, byte(len(suffix))), suffix...)
	}
	w.buckets = binary.LittleEndian.AppendUint16(w.buckets, uint16(len(w.lengths)))
	return slices.Concat(header, w.buckets, w.blocks, w.lengths, w.suffixes, values, w.texts), nil
}

// chooseSuffixes returns the suffixes for a table of names: the empty one, then
// those beginning with a dot that save the most bytes. It ignores the first two
// characters of a name, which its bucket implies.
func chooseSuffixes(names []string) []string {
	count := countSuffixes(names)
	candidates := make([]string, 0, len(count))
	for suffix := range count {
		candidates = append(candidates, suffix)
	}
	saved := func(suffix string) int { return (len(suffix) - savedByLastLabel(suffix, count)) * count[suffix] }
	sort.Slice(candidates, func(i, j int) bool {
		a, b := candidates[i], candidates[j]
		if saved(a) != saved(b) {
			return saved(a) > saved(b)
		}
		return a < b
	})
	return append([]string{""}, candidates[:min(format.MaxSuffixes-1, len(candidates))]...)
}

// countSuffixes counts the names that end with each possible suffix.
func countSuffixes(names []string) map[string]int {
	count := map[string]int{}
	for _, name := range names {
		for rest := name[format.BucketBytes:]; rest != ""; rest = rest[1:] {
			if rest[0] == '.' && len(rest) <= format.MaxSuffix {
				count[rest]++
			}
		}
	}
	return count
}

// savedByLastLabel returns how many bytes of suffix its last label would save
// without it, if that label is frequent enough to be a suffix too.
func savedByLastLabel(suffix string, count map[string]int) int {
	last := suffix[strings.LastIndexByte(suffix, '.'):]
	if last == suffix || count[last] < 20 {
		return 0
	}
	return len(last)
}
