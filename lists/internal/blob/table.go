package blob

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

const (
	alphabet = "abcdefghijklmnopqrstuvwxyz0123456789-."
	shelves  = len(alphabet) * len(alphabet)
	perBlock = 16
	most     = 15 // what four bits of a head hold
)

// writer collects the columns of a table.
type writer struct {
	tails map[string]byte // ending -> its number

	shelfCol, blockCol, headCol, tailCol, valueCol, textCol []byte
}

// packTable encodes names as a table.
func packTable(names map[string]byte) ([]byte, error) {
	byShelf, err := sortShelves(names)
	if err != nil {
		return nil, err
	}
	endings := chooseEndings(names)
	w := &writer{tails: map[string]byte{}}
	for i, e := range endings {
		w.tails[e] = byte(i)
	}
	for _, shelf := range byShelf {
		w.addShelf(shelf, names)
	}
	return w.table(endings)
}

// sortShelves shares names out by their first two characters.
func sortShelves(names map[string]byte) ([shelves][]string, error) {
	var byShelf [shelves][]string
	for name, value := range names {
		if len(name) < 2 || len(name) > 255 || strings.Trim(name, alphabet) != "" {
			return byShelf, fmt.Errorf("%q cannot be packed: want 2 to 255 of the characters %s", name, alphabet)
		}
		if value == 0 {
			return byShelf, fmt.Errorf("%q cannot be packed: its value 0 means that it is not there", name)
		}
		s := len(alphabet)*strings.IndexByte(alphabet, name[0]) + strings.IndexByte(alphabet, name[1])
		byShelf[s] = append(byShelf[s], name)
	}
	for _, names := range byShelf {
		slices.Sort(names)
	}
	return byShelf, nil
}

// addShelf writes the entries of one shelf.
func (w *writer) addShelf(names []string, values map[string]byte) {
	w.shelfCol = binary.LittleEndian.AppendUint16(w.shelfCol, uint16(len(w.headCol)))
	before := ""
	for _, name := range names {
		if len(w.headCol)%perBlock == 0 {
			w.blockCol = appendUint24(w.blockCol, len(w.textCol))
			before = ""
		}
		text, tail := w.split(name[2:])
		w.addText(text, shared(text, before))
		w.tailCol, w.valueCol = append(w.tailCol, tail), append(w.valueCol, values[name])
		before = text
	}
}

// addText writes the head and the own letters of an entry.
func (w *writer) addText(text string, shared int) {
	own := text[shared:]
	w.headCol = append(w.headCol, byte(shared<<4|min(len(own), most)))
	if len(own) >= most {
		w.textCol = append(w.textCol, byte(len(own)))
	}
	w.textCol = append(w.textCol, own...)
}

// shared returns how many letters a and b begin with alike, as far as a head
// can tell.
func shared(a, b string) int {
	n := 0
	for n < min(len(a), len(b), most) && a[n] == b[n] {
		n++
	}
	return n
}

// split cuts the longest ending off rest.
func (w *writer) split(rest string) (text string, tail byte) {
	for at := range rest {
		if tail, ok := w.tails[rest[at:]]; ok {
			return rest[:at], tail
		}
	}
	return rest, 0
}

// table puts the columns together.
func (w *writer) table(endings []string) ([]byte, error) {
	if len(w.headCol) > 0xffff || len(w.textCol) >= 1<<24 {
		return nil, fmt.Errorf("%d entries with %d bytes do not fit 16 and 24 bits", len(w.headCol), len(w.textCol))
	}
	out := []byte{byte(len(endings) - 1)}
	out = binary.LittleEndian.AppendUint16(out, uint16(len(w.headCol)))
	for _, e := range endings {
		out = append(append(out, byte(len(e))), e...)
	}
	w.shelfCol = binary.LittleEndian.AppendUint16(w.shelfCol, uint16(len(w.headCol)))
	return slices.Concat(out, w.shelfCol, w.blockCol, w.headCol, w.tailCol, w.valueCol, w.textCol), nil
}

func appendUint24(dst []byte, n int) []byte {
	return append(dst, byte(n), byte(n>>8), byte(n>>16))
}
