// Package blob packs the lists; package format describes the bytes.
package blob

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
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
	roles, err := packTable(c.Roles)
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
	return [][]byte{domains, kinds, sources, roles, c.Targets, c.TopLevels, providers, rules}, err
}
