package typo

import "bytes"

// rootZone is the endings under which registries take names, one a line in byte
// order: the top-level domains of the root zone, and endings of two labels such
// as co.jp. It has the offset of each line and of the end.
type rootZone struct {
	lines  []byte
	starts []uint16
	from   [256]uint16 // from[b] is the first line that begins with b or a greater byte
}

func newRootZone(lines []byte) rootZone {
	lines = lines[:min(len(lines), maxLines-1)]
	z := rootZone{lines: lines, starts: make([]uint16, 0, 2+bytes.Count(lines, newline))}
	at := 0
	for at < len(lines) {
		z.starts = append(z.starts, uint16(at))
		at += len(lineAt(lines, at)) + 1
	}
	z.starts = append(z.starts, uint16(at))
	z.indexFirstBytes()
	return z
}

func (z *rootZone) indexFirstBytes() {
	n := 0
	for b := range z.from {
		for n < z.size() && (len(z.line(n)) == 0 || int(z.line(n)[0]) < b) {
			n++
		}
		z.from[b] = uint16(n)
	}
}

func (z *rootZone) size() int         { return len(z.starts) - 1 }
func (z *rootZone) line(i int) []byte { return z.lines[z.starts[i] : z.starts[i+1]-1] }

// contains reports whether registries take names under ending, by binary search.
func (z *rootZone) contains(ending []byte) bool {
	if len(ending) == 0 || ending[0] == 0xFF {
		return false
	}
	low, high := int(z.from[ending[0]]), int(z.from[ending[0]+1])
	for low < high {
		middle := (low + high) / 2
		switch c := bytes.Compare(z.line(middle), ending); {
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
