package main

import (
	"fmt"
	"math"

	"github.com/dustin/go-humanize"
)

// size is a number of bytes on the command line, such as 64MiB.
type size int64

// UnmarshalText reads a number with a unit: B, KiB, MiB, GiB, or kB, MB, GB.
func (s *size) UnmarshalText(text []byte) error {
	bytes, err := humanize.ParseBytes(string(text))
	if err != nil || bytes > math.MaxInt64 {
		return fmt.Errorf("%q is not a size; write it as 64MiB", text)
	}
	*s = size(bytes)
	return nil
}

func (s size) String() string { return humanize.IBytes(uint64(s)) }
