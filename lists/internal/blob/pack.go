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
	Date      string                // when the sources were fetched, in format.DateForm
	Domains   map[string]byte       // domain -> lists.Class, with format.Subdomains
	Roles     map[string]lists.Role // by role word
	Targets   []byte                // typo targets, one per line
	TopLevels []byte                // top-level domains, one per line, in byte order
}

// Pack encodes c. It returns an error for a date, name or value that the format
// cannot express. The same content gives the same bytes.
func Pack(c Content) ([]byte, error) {
	if _, err := time.Parse(format.DateForm, c.Date); err != nil {
		return nil, fmt.Errorf("date %q is not of the form 2026.11.20", c.Date)
	}
	domains, err := packTable(c.Domains)
	if err != nil {
		return nil, err
	}
	roles, err := packTable(c.Roles)
	if err != nil {
		return nil, err
	}
	body := []byte(c.Date)
	for _, part := range [][]byte{domains, roles, c.Targets, c.TopLevels} {
		body = append(binary.LittleEndian.AppendUint32(body, uint32(len(part))), part...)
	}
	blob := append([]byte(format.Magic), format.Version)
	blob = binary.LittleEndian.AppendUint32(blob, crc32.ChecksumIEEE(body))
	return append(blob, body...), nil
}
