package typo

import "bytes"

// rootZone is the top-level domains of the root zone, one a line in byte
// order, and the offset of each line.
type rootZone struct {
	lines  []byte
	starts []uint16
}

func newRootZone(lines []byte) rootZone {
	lines = lines[:min(len(lines), maxLines)]
	z := rootZone{lines: lines, starts: make([]uint16, 0, 1+bytes.Count(lines, newline))}
	for at := 0; at < len(lines); at += len(lineAt(lines, at)) + 1 {
		z.starts = append(z.starts, uint16(at))
	}
	return z
}

// contains reports whether label is a top-level domain, by binary search.
func (z *rootZone) contains(label []byte) bool {
	low, high := 0, len(z.starts)
	for low < high {
		middle := (low + high) / 2
		switch c := bytes.Compare(lineAt(z.lines, int(z.starts[middle])), label); {
		case c == 0:
			return true
		case c < 0:
			low = middle + 1
		default:
			high = middle
		}
	}
	return false
}
