package ndjson

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
)

// Uncompressed returns the text of an export that may be compressed. It recognises gzip by its first two bytes (RFC 1952 section 2.3.1).
func Uncompressed(r io.Reader) (io.Reader, error) {
	in := bufio.NewReader(r)
	start, err := in.Peek(2)
	if err == nil && start[0] == 0x1f && start[1] == 0x8b {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, fmt.Errorf("line 1: %w: %w", err, ErrDamaged)
		}
		return z, nil
	}
	return in, nil
}
