package blob

import (
	"encoding/binary"
	"fmt"
	"sort"
	"strings"
)

const (
	alphabet = "abcdefghijklmnopqrstuvwxyz0123456789-."
	shelves  = len(alphabet) * len(alphabet)
	perBlock = 12 // entries of a block, on average: more is smaller, fewer is faster
)

// writer collects the columns of a table.
type writer struct {
	kinds  map[byte]byte // value -> kind
	values []byte
	tails  map[string]byte // ending -> its number

	shelfCol, blockCol, headCol, tailCol, textCol []byte
	blocks                                        int
}

// packTable encodes names as a table.
func packTable(names map[string]byte) ([]byte, error) {
	byShelf, err := sortShelves(names)
	if err != nil {
		return nil, err
	}
	endings := chooseEndings(names)
	w := &writer{kinds: map[byte]byte{}, tails: map[string]byte{}}
	for i, e := range endings {
		w.tails[e] = byte(i)
	}
	for _, shelf := range byShelf {
		if err := w.addShelf(shelf, names); err != nil {
			return nil, err
		}
	}
	return w.table(endings)
}

// sortShelves shares names out by their first two characters.
func sortShelves(names map[string]byte) ([shelves][]string, error) {
	var byShelf [shelves][]string
	for name := range names {
		if len(name) < 2 || len(name) > 255 || strings.Trim(name, alphabet) != "" {
			return byShelf, fmt.Errorf("%q cannot be packed: want 2 to 255 of the characters %s", name, alphabet)
		}
		s := len(alphabet)*strings.IndexByte(alphabet, name[0]) + strings.IndexByte(alphabet, name[1])
		byShelf[s] = append(byShelf[s], name)
	}
	for _, names := range byShelf {
		sort.Strings(names)
	}
	return byShelf, nil
}

// addShelf writes the blocks of one shelf.
func (w *writer) addShelf(names []string, values map[string]byte) error {
	w.shelfCol = binary.LittleEndian.AppendUint16(w.shelfCol, uint16(w.blocks))
	blocks := make([][]string, (len(names)+perBlock-1)/perBlock)
	for _, name := range names {
		b := blockOf(name, len(blocks))
		blocks[b] = append(blocks[b], name)
	}
	for _, block := range blocks {
		if err := w.addBlock(block, values); err != nil {
			return err
		}
	}
	if w.blocks > 0xffff {
		return fmt.Errorf("%d blocks do not fit 16 bits: raise perBlock", w.blocks)
	}
	return nil
}

// addBlock writes the entries of one block.
func (w *writer) addBlock(names []string, values map[string]byte) error {
	w.blockCol = appendUint24(w.blockCol, len(w.headCol))
	w.blockCol = appendUint24(w.blockCol, len(w.textCol))
	w.blocks++
	for _, name := range names {
		kind, err := w.kind(values[name])
		if err != nil {
			return err
		}
		text, tail := w.split(name[2:])
		w.headCol = append(w.headCol, kind<<4|byte(min(len(text), 15)))
		if len(text) >= 15 {
			w.textCol = append(w.textCol, byte(len(text)))
		}
		w.textCol = append(w.textCol, text...)
		w.tailCol = append(w.tailCol, tail)
	}
	return nil
}

// kind numbers the values in order of appearance.
func (w *writer) kind(value byte) (byte, error) {
	if kind, ok := w.kinds[value]; ok {
		return kind, nil
	}
	kind := byte(len(w.values))
	if kind == 16 {
		return 0, fmt.Errorf("more than 16 values in one table")
	}
	w.kinds[value], w.values = kind, append(w.values, value)
	return kind, nil
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
	if len(w.headCol) >= 1<<24 || len(w.textCol) >= 1<<24 {
		return nil, fmt.Errorf("%d entries with %d bytes do not fit 24 bits", len(w.headCol), len(w.textCol))
	}
	out := []byte{byte(len(endings) - 1)}
	out = binary.LittleEndian.AppendUint16(out, uint16(w.blocks))
	out = appendUint24(out, len(w.headCol))
	out = append(out, w.values...)
	out = append(out, make([]byte, 16-len(w.values))...)
	for _, e := range endings {
		out = append(append(out, byte(len(e))), e...)
	}
	w.shelfCol = binary.LittleEndian.AppendUint16(w.shelfCol, uint16(w.blocks))
	w.blockCol = appendUint24(w.blockCol, len(w.headCol))
	w.blockCol = appendUint24(w.blockCol, len(w.textCol))
	for _, column := range [][]byte{w.shelfCol, w.blockCol, w.headCol, w.tailCol, w.textCol} {
		out = append(out, column...)
	}
	return out, nil
}

func appendUint24(dst []byte, n int) []byte {
	return append(dst, byte(n), byte(n>>8), byte(n>>16))
}

// blockOf says which of n blocks name lies in.
func blockOf(name string, n int) int {
	h := uint32(2166136261)
	for i := len(name) - 1; i >= 0; i-- {
		h = (h ^ uint32(name[i])) * 16777619
	}
	h ^= h >> 15
	h *= 0x2c1b3c6d
	h ^= h >> 12
	return int(uint64(h) * uint64(n) >> 32)
}
