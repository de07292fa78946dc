package main

import (
	"fmt"
	"math"

	"github.com/dustin/go-humanize"
)

// byteSize is a flag's number of bytes, such as 64MiB.
type byteSize int64

// UnmarshalText parses a number with a unit: B, KiB, MiB, GiB, or kB, MB, GB.
func (s *byteSize) UnmarshalText(text []byte) error {
	bytes, err := humanize.ParseBytes(string(text))
	if err != nil || bytes > math.MaxInt64 {
		return fmt.Errorf("%q is not a size; write it like 64MiB", text)
	}
	*s = byteSize(bytes)
	return nil
}

func (s byteSize) String() string { return humanize.IBytes(uint64(s)) }
