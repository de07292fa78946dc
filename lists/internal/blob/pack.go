// Package blob packs the lists, and unpacks them; package format describes the bytes.
package blob

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/lists/internal/format"
)

// Content is the content of a blob.
type Content struct {
	Date      string                // when the sources were last checked, in format.DateForm
	Domains   map[string]Kind       // by domain
	Sources   []lists.Source        // at most format.MaxSources
	Roles     map[string]lists.Word // by word of roles.txt
	Targets   []byte                // typo targets, one per line
	TopLevels []byte                // top-level domains and endings of two labels, one per line, in byte order
	Providers map[string]int        // provider's domain -> number of its rule, from 1
	Rules     []lists.Rule          // at most format.MaxRules
	Exchanges map[string]int        // suffix of mail exchanges -> number of its operator, from 1
	Operators []lists.Exchange      // at most format.MaxRules
	Mailboxes []lists.MailboxRule   // at most format.MaxRules
}

// Kind is the content of a domain's entry. A table stores its number, since tens of
// thousands of entries share about a hundred kinds.
type Kind struct {
	Class      lists.Class
	Subdomains bool   // the entry covers every name below its own
	Carriers   uint32 // bit i: the entry is on source i
	Mailboxes  uint8  // number of the rule for the names of its mailboxes, from 1; 0 if there is none
}

// Pack encodes c. It returns an error for a date, name or value that the format
// cannot express. The same content gives the same bytes.
func Pack(c Content) ([]byte, error) {
	if _, err := time.Parse(format.DateForm, c.Date); err != nil {
		return nil, fmt.Errorf("date %q is not of the form 2026.11.20", c.Date)
	}
	roles := make(map[string]lists.Word, len(c.Roles))
	for word, w := range c.Roles {
		roles[string(format.AppendName(nil, []byte(word)))] = w
	}
	var sources, rules, operators, mailboxes [][]string
	for _, s := range c.Sources {
		sources = append(sources, []string{s.Name, s.Version, s.Licence, s.Day, s.Domains})
	}
	for _, r := range c.Rules {
		options := ""
		if r.Tags {
			options += string(format.OptionTags)
		}
		if r.Subdomains {
			options += string(format.OptionSubdomains)
		}
		rules = append(rules, []string{r.Name, options, r.Ignored, r.Domain})
	}
	for _, o := range c.Operators {
		operators = append(operators, []string{o.Class, o.Provider})
	}
	for _, m := range c.Mailboxes {
		mailboxes = append(mailboxes, []string{m.Name, m.Characters, m.First, strconv.Itoa(m.Least), strconv.Itoa(m.Most)})
	}
	kinds, numbers := numberKinds(c.Domains)

	body := []byte(c.Date)
	var failed error
	add := func(part []byte, err error) {
		body = append(binary.LittleEndian.AppendUint32(body, uint32(len(part))), part...)
		failed = errors.Join(failed, err)
	}
	add(packTable(numbers))
	add(kinds, nil)
	add(packLines("sources", format.MaxSources, sources))
	add(packTable(roles))
	add(c.Targets, nil)
	add(c.TopLevels, nil)
	add(packTable(c.Providers))
	add(packLines("rules", format.MaxRules, rules))
	add(packTable(c.Exchanges))
	add(packLines("operators of exchanges", format.MaxRules, operators))
	add(packLines("mailboxes", format.MaxRules, mailboxes))
	if failed != nil {
		return nil, failed
	}
	blob := append([]byte(format.Magic), format.Version)
	blob = binary.LittleEndian.AppendUint32(blob, crc32.ChecksumIEEE(body))
	return append(blob, body...), nil
}

// Unpack returns the content of a blob that [lists.Open] has verified. Packed again, it
// gives the same bytes.
func Unpack(l *lists.Lists) Content {
	date, _, _ := strings.Cut(l.Version(), "-")
	c := Content{
		Date: date, Domains: map[string]Kind{}, Sources: l.Sources(), Roles: map[string]lists.Word{},
		Targets: bytes.Clone(l.TypoTargets()), TopLevels: bytes.Clone(l.TopLevels()),
		Providers: map[string]int{}, Rules: l.Rules(), Exchanges: map[string]int{}, Operators: l.Operators(),
		Mailboxes: l.MailboxRules(),
	}
	l.EachDomain(func(m lists.Match) {
		k := Kind{Class: m.Class, Subdomains: m.Subdomains, Mailboxes: m.Mailboxes}
		for i := range c.Sources {
			if m.CarriedBy(i) {
				k.Carriers |= 1 << i
			}
		}
		c.Domains[string(m.Entry)] = k
	})
	l.EachWord(func(word []byte, w lists.Word) { c.Roles[string(word)] = w })
	l.EachProvider(func(domain []byte, rule int) { c.Providers[string(domain)] = rule })
	l.EachExchange(func(suffix []byte, operator int) { c.Exchanges[string(suffix)] = operator })
	return c
}

// numberKinds returns the packed kinds and the number of each domain's kind. The
// most frequent kind is the first.
func numberKinds(domains map[string]Kind) (packed []byte, numbers map[string]int) {
	pack := func(k Kind) []byte {
		class := byte(k.Class)
		if k.Subdomains {
			class |= format.Subdomains
		}
		return append(binary.LittleEndian.AppendUint32([]byte{class}, k.Carriers), k.Mailboxes)
	}
	frequency := map[Kind]int{}
	for _, k := range domains {
		frequency[k]++
	}
	kinds := slices.SortedFunc(maps.Keys(frequency), func(a, b Kind) int {
		return cmp.Or(frequency[b]-frequency[a], slices.Compare(pack(a), pack(b)))
	})
	number := map[Kind]int{}
	for i, k := range kinds {
		packed, number[k] = append(packed, pack(k)...), i+1
	}
	numbers = make(map[string]int, len(domains))
	for name, k := range domains {
		numbers[name] = number[k]
	}
	return packed, numbers
}

func packLines(what string, most int, lines [][]string) (packed []byte, err error) {
	if len(lines) > most {
		return nil, fmt.Errorf("%d %s do not fit: at most %d do", len(lines), what, most)
	}
	escaped := func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }
	for _, fields := range lines {
		line := strings.Join(fields, "\t")
		if fields[0] == "" || len(line) > format.MaxLine || strings.ContainsFunc(strings.Join(fields, ""), escaped) {
			return nil, fmt.Errorf("%q cannot be packed: want a name, printable ASCII without quotes and backslashes, at most %d bytes", fields, format.MaxLine)
		}
		packed = append(append(packed, line...), '\n')
	}
	return packed, nil
}

func packTable[V ~uint8 | ~int](names map[string]V) ([]byte, error) {
	var sorted [format.Buckets][]string
	for name, value := range names {
		bucket, ok := format.Bucket([]byte(name))
		if !ok || len(name) > format.MaxName || strings.Trim(name, format.Alphabet) != "" {
			return nil, fmt.Errorf("%q cannot be packed: want 2 to 255 of the characters %s", name, format.Alphabet)
		}
		if value == 0 {
			return nil, fmt.Errorf("%q cannot be packed: its value 0 means that it is not in the table", name)
		}
		sorted[bucket] = append(sorted[bucket], name)
	}
	for _, bucket := range sorted {
		slices.Sort(bucket)
	}
	suffixes, ids := chooseSuffixes(slices.Concat(sorted[:]...)), map[string]byte{}
	for id, suffix := range suffixes {
		ids[suffix] = byte(id)
	}
	var buckets, blocks, lengths, suffixIDs, low, high, texts []byte
	for _, bucket := range sorted {
		buckets = binary.LittleEndian.AppendUint16(buckets, uint16(len(lengths)))
		previous := ""
		for _, name := range bucket {
			if len(lengths)%format.BlockEntries == 0 {
				blocks = format.AppendUint24(blocks, len(texts))
				previous = ""
			}
			stem, suffix := name[format.BucketBytes:], byte(0)
			for at := range stem { // the longest of the suffixes
				if id, ok := ids[stem[at:]]; ok {
					stem, suffix = stem[:at], id
					break
				}
			}
			prefix := 0
			for prefix < min(len(stem), len(previous), format.MaxPrefix) && stem[prefix] == previous[prefix] {
				prefix++
			}
			text := stem[prefix:]
			lengths = append(lengths, byte(prefix<<4|min(len(text), format.LongText)))
			if len(text) >= format.LongText {
				texts = append(texts, byte(len(text)))
			}
			texts, suffixIDs = append(texts, text...), append(suffixIDs, suffix)
			low, high = append(low, byte(names[name])), append(high, byte(int(names[name])>>8))
			previous = stem
		}
	}
	if len(lengths) > 0xffff || len(texts) >= 1<<24 {
		return nil, fmt.Errorf("%d entries with %d bytes do not fit 16 and 24 bits", len(lengths), len(texts))
	}
	size := byte(2)
	if !slices.ContainsFunc(high, func(b byte) bool { return b != 0 }) {
		size, high = 1, nil
	}
	header := binary.LittleEndian.AppendUint16([]byte{byte(len(suffixes) - 1)}, uint16(len(lengths)))
	header = append(header, size)
	for _, suffix := range suffixes {
		header = append(append(header, byte(len(suffix))), suffix...)
	}
	buckets = binary.LittleEndian.AppendUint16(buckets, uint16(len(lengths)))
	return slices.Concat(header, buckets, blocks, lengths, suffixIDs, low, high, texts), nil
}

// chooseSuffixes returns the suffixes for a table of names: the empty one, then
// those beginning with a dot that save the most bytes. It ignores the first two
// characters of a name, which its bucket implies.
func chooseSuffixes(names []string) []string {
	count := map[string]int{} // of the names with the suffix
	for _, name := range names {
		for rest := name[format.BucketBytes:]; rest != ""; rest = rest[1:] {
			if rest[0] == '.' && len(rest) <= format.MaxSuffix {
				count[rest]++
			}
		}
	}
	saved := func(suffix string) int {
		bytes, last := len(suffix), suffix[strings.LastIndexByte(suffix, '.'):]
		if last != suffix && count[last] >= 20 { // a suffix too, which would save its own bytes without this one
			bytes -= len(last)
		}
		return bytes * count[suffix]
	}
	best := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(saved(b)-saved(a), strings.Compare(a, b))
	})
	return append([]string{""}, best[:min(format.MaxSuffixes-1, len(best))]...)
}
