package typo

import "bytes"

// topLevels are the top-level domains of the root zone, one a line in byte
// order, and where each line starts.
type topLevels struct {
	lines  []byte
	starts []uint16
}

func newTopLevels(lines []byte) topLevels {
	t := topLevels{lines: lines}
	for at := 0; at < len(lines); at += len(t.line(at)) + 1 {
		t.starts = append(t.starts, uint16(at))
	}
	return t
}

func (t *topLevels) line(at int) []byte {
	line, _, _ := bytes.Cut(t.lines[at:], []byte{'\n'})
	return line
}

// isTopLevel reports whether label is a top-level domain.
func (x *Index) isTopLevel(label []byte) bool {
	low, high := 0, len(x.tops.starts)
	for low < high {
		middle := (low + high) / 2
		switch order := bytes.Compare(x.tops.line(int(x.tops.starts[middle])), label); {
		case order == 0:
			return true
		case order < 0:
			low = middle + 1
		default:
			high = middle
		}
	}
	return false
}
