// Package blob packs the lists; package format describes the bytes.
package blob

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
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
}

// Pack encodes c. It returns an error for a date, name or value that the format
// cannot express. The same content gives the same bytes.
func Pack(c Content) ([]byte, error) {
	if _, err := time.Parse(format.DateForm, c.Date); err != nil {
		return nil, fmt.Errorf("date %q is not of the form 2026.11.20", c.Date)
	}
	parts, err := packParts(c)
	if err != nil {
		return nil, err
	}
	body := []byte(c.Date)
	for _, part := range parts {
		body = append(binary.LittleEndian.AppendUint32(body, uint32(len(part))), part...)
	}
	blob := append([]byte(format.Magic), format.Version)
	blob = binary.LittleEndian.AppendUint32(blob, crc32.ChecksumIEEE(body))
	return append(blob, body...), nil
}

// packParts encodes the parts of a blob, in order.
func packParts(c Content) ([][]byte, error) {
	kinds, numbers := numberKinds(c.Domains)
	domains, err := packTable(numbers)
	if err != nil {
		return nil, err
	}
	roles, err := packTable(wordNames(c.Roles))
	if err != nil {
		return nil, err
	}
	providers, err := packTable(c.Providers)
	if err != nil {
		return nil, err
	}
	sources, err := packSources(c.Sources)
	if err != nil {
		return nil, err
	}
	rules, err := packRules(c.Rules)
	if err != nil {
		return nil, err
	}
	exchanges, err := packTable(c.Exchanges)
	if err != nil {
		return nil, err
	}
	operators, err := packOperators(c.Operators)
	return [][]byte{domains, kinds, sources, roles, c.Targets, c.TopLevels, providers, rules, exchanges, operators}, err
}

// wordNames returns the values of words by their names in the table.
func wordNames(words map[string]lists.Word) map[string]lists.Word {
	names := make(map[string]lists.Word, len(words))
	for word, w := range words {
		names[string(format.AppendName(nil, []byte(word)))] = w
	}
	return names
}

// Kind is the content of a domain's entry. Tens of thousands of entries share
// about a hundred kinds, so a table stores the number of a kind.
type Kind struct {
	Class      lists.Class
	Subdomains bool   // the entry covers every name below its own
	Carriers   uint32 // bit i: the entry is on source i
}

// numberKinds returns the packed kinds and the number of each domain's kind. The
// most frequent kind is the first.
func numberKinds(domains map[string]Kind) (packed []byte, numbers map[string]int) {
	frequency := map[Kind]int{}
	for _, k := range domains {
		frequency[k]++
	}
	kinds := slices.SortedFunc(maps.Keys(frequency), func(a, b Kind) int {
		return cmp.Or(frequency[b]-frequency[a], slices.Compare(a.pack(), b.pack()))
	})
	number := map[Kind]int{}
	for i, k := range kinds {
		packed, number[k] = append(packed, k.pack()...), i+1
	}
	numbers = make(map[string]int, len(domains))
	for name, k := range domains {
		numbers[name] = number[k]
	}
	return packed, numbers
}

func (k Kind) pack() []byte {
	class := byte(k.Class)
	if k.Subdomains {
		class |= format.Subdomains
	}
	return binary.LittleEndian.AppendUint32([]byte{class}, k.Carriers)
}

// packSources encodes the sources, one per line.
func packSources(sources []lists.Source) (packed []byte, err error) {
	if len(sources) > format.MaxSources {
		return nil, fmt.Errorf("%d sources do not fit the %d bits of an entry's carriers", len(sources), format.MaxSources)
	}
	for _, s := range sources {
		if packed, err = appendLine(packed, s.Name, s.Version, s.Licence, s.Day, s.Domains); err != nil {
			return nil, err
		}
	}
	return packed, nil
}

// packRules encodes the rules, one per line.
func packRules(rules []lists.Rule) (packed []byte, err error) {
	if len(rules) > format.MaxRules {
		return nil, fmt.Errorf("%d rules do not fit one byte", len(rules))
	}
	for _, r := range rules {
		options := ""
		if r.Tags {
			options += string(format.OptionTags)
		}
		if r.Subdomains {
			options += string(format.OptionSubdomains)
		}
		if packed, err = appendLine(packed, r.Name, options, r.Ignored, r.Domain); err != nil {
			return nil, err
		}
	}
	return packed, nil
}

// packOperators encodes the operators of exchanges, one per line.
func packOperators(operators []lists.Exchange) (packed []byte, err error) {
	if len(operators) > format.MaxRules {
		return nil, fmt.Errorf("%d operators of exchanges do not fit one byte", len(operators))
	}
	for _, o := range operators {
		if packed, err = appendLine(packed, o.Class, o.Provider); err != nil {
			return nil, err
		}
	}
	return packed, nil
}

// appendLine appends a line of fields, of which the first is a name.
func appendLine(dst []byte, fields ...string) ([]byte, error) {
	line := strings.Join(fields, "\t")
	escaped := func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }
	if fields[0] == "" || len(line) > format.MaxLine || strings.ContainsFunc(strings.Join(fields, ""), escaped) {
		return nil, fmt.Errorf("%q cannot be packed: want a name, printable ASCII without quotes and backslashes, at most %d bytes", fields, format.MaxLine)
	}
	return append(append(dst, line...), '\n'), nil
}
