package typo

import "bytes"

// topLevels are the top-level domains of the root zone, one a line in byte
// order, and where each line starts.
type topLevels struct {
	lines  []byte
	starts []uint16
}

func newTopLevels(lines []byte) topLevels {
	lines = lines[:min(len(lines), maxLines)]
	t := topLevels{lines: lines, starts: make([]uint16, 0, 1+bytes.Count(lines, newline))}
	for at := 0; at < len(lines); at += len(lineAt(lines, at)) + 1 {
		t.starts = append(t.starts, uint16(at))
	}
	return t
}

// isTopLevel reports whether label is a top-level domain.
func (x *Index) isTopLevel(label []byte) bool {
	low, high := 0, len(x.tops.starts)
	for low < high {
		middle := (low + high) / 2
		switch order := bytes.Compare(lineAt(x.tops.lines, int(x.tops.starts[middle])), label); {
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
