package pack

import (
	"encoding/binary"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// table is a memory with the table of one function: its stack sizes are the
// values 1 to 3, one note is at 4 to 6, and lines are at 7 to 9.
func table() []byte {
	const names, units, files, values, functions = 80, 84, 84, 88, 98
	memory := append([]byte("before"), "\xf1\xff\xff\xff\x00\x00\x01\x08"...)
	for _, word := range []uint64{1, 1, 0, names, units, files, values, functions} {
		memory = binary.LittleEndian.AppendUint64(memory, word)
	}
	memory = append(memory, "12345678"...)                // 72 to 80
	memory = append(memory, "nameFILE"...)                // names, files
	memory = append(memory, 0, 2, 1, 0, 2, 1, 0, 2, 1, 0) // values
	for _, word := range []uint32{0, 8, 0, 0, 0, 0, 1, 7, 7, 1, 0, 0, 0, 4} {
		memory = binary.LittleEndian.AppendUint32(memory, word)
	}
	return memory
}

func skipOnOtherReleases(t *testing.T) {
	if !strings.HasPrefix(runtime.Version(), layoutOf) {
		t.Skip("lines.go knows the layout of " + layoutOf + " alone; the module is a twelfth larger")
	}
}

func TestDropLinesLeavesWhatTheCollectorReads(t *testing.T) {
	skipOnOtherReleases(t)
	memory := table()
	require.True(t, dropLines(memory))
	require.Equal(t, "12345678\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x01\x00\x02\x01\x00\x00\x00\x00", string(memory[6+72:6+98]))
}

func TestDropLinesChangesNothingItDoesNotKnow(t *testing.T) {
	const header = 6
	for name, change := range map[string]func(m []byte) []byte{
		"no table":              func(m []byte) []byte { m[header] = 0; return m },
		"two tables":            func(m []byte) []byte { return append(m, m[header:header+8]...) },
		"a short header":        func(m []byte) []byte { return m[:header+20] },
		"no functions":          func(m []byte) []byte { m[header+8] = 0; return m },
		"too many functions":    func(m []byte) []byte { m[header+8] = 100; return m },
		"parts out of order":    func(m []byte) []byte { m[header+32] = 255; return m },
		"an entry outside":      func(m []byte) []byte { m[header+98+4] = 200; return m },
		"too many notes":        func(m []byte) []byte { m[header+98+8+noteCount] = 200; return m },
		"stack sizes outside":   func(m []byte) []byte { m[header+98+8+stackSizes] = 200; return m },
		"values without an end": func(m []byte) []byte { m[header+88+3], m[header+88+6], m[header+97] = 1, 1, 1; return m },
	} {
		t.Run(name, func(t *testing.T) {
			memory := change(table())
			before := string(memory)
			require.False(t, dropLines(memory))
			require.Equal(t, before, string(memory))
		})
	}
}

// FuzzDropLines asks that no table makes it stumble.
func FuzzDropLines(f *testing.F) {
	f.Add(table())                                    // a whole one
	f.Add(table()[:6+98])                             // none of the functions it counts
	f.Add([]byte("\xf1\xff\xff\xff\x00\x00\x01\x08")) // a header that ends at once
	f.Fuzz(func(t *testing.T, memory []byte) {
		before := string(memory)
		if !dropLines(memory) {
			require.Equal(t, before, string(memory))
		}
	})
}
