// Package blob writes the packed form of lists; lists/format.go describes it.
package blob

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// Content is what a blob holds.
type Content struct {
	Date    string          // when the sources were read, "2026.11.20"
	Domains map[string]byte // name -> lists.Class, with lists.Below
	Words   map[string]byte // role word -> category
	Targets []byte          // typo targets, one a line
	Tops    []byte          // top-level domains, one a line, in byte order
}

// Pack encodes c. The same content gives the same bytes.
func Pack(c Content) ([]byte, error) {
	if len(c.Date) != len("2026.11.20") {
		return nil, fmt.Errorf("date %q is not of the form 2026.11.20", c.Date)
	}
	body := []byte(c.Date)
	for _, names := range []map[string]byte{c.Domains, c.Words} {
		t, err := packTable(names)
		if err != nil {
			return nil, err
		}
		body = appendPart(body, t)
	}
	body = appendPart(appendPart(body, c.Targets), c.Tops)
	head := append([]byte("addrspec"), 1)
	head = binary.LittleEndian.AppendUint32(head, crc32.ChecksumIEEE(body))
	return append(head, body...), nil
}

func appendPart(dst, part []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(dst, uint32(len(part))), part...)
}
