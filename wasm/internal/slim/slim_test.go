package slim

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// module is a module of ten functions, each `i32.const n; drop`, with a custom section
// and one of data.
func module() []byte {
	wasm := []byte("\x00asm\x01\x00\x00\x00" + "\x01\x04\x01\x60\x00\x00" + "\x03\x0b\x0a" + string(make([]byte, 10)))
	bodies := []byte{10}
	for n := range byte(10) {
		bodies = append(bodies, body(n)...)
	}
	wasm = appendBytes(append(wasm, code), bodies)
	return append(wasm, "\x00\x03\x02abX"[:5]...)
}

func file(wasm []byte) *io.SectionReader {
	return io.NewSectionReader(bytes.NewReader(wasm), 0, int64(len(wasm)))
}

func body(n byte) []byte { return []byte{5, 0, 0x41, n, 0x1a, 0x0b} }

// Every function that is not called becomes a trap, and nothing else changes.
func TestCut(t *testing.T) {
	called := make([]bool, 10)
	called[0], called[3], called[9] = true, true, true
	cut, ok := Cut(file(Mark(module(), called)))
	require.True(t, ok)
	r := &reader{from: file(cut), end: int64(len(cut))}
	list := r.sections()
	require.Len(t, list, 3, "types, functions, code")
	want := []byte{10}
	for n := range byte(10) {
		if called[n] {
			want = append(want, body(n)...)
		} else {
			want = append(want, 3, 0, 0x00, 0x0b)
		}
	}
	require.Equal(t, want, r.append(nil, list[2].contents))
	require.NoError(t, r.err)
	require.True(t, bytes.HasPrefix(cut, module()[:25]))
}

// A module without the section, or with one for another number of functions, is loaded
// whole.
func TestCutRefuses(t *testing.T) {
	marked := Mark(module(), make([]bool, 10))
	for name, wasm := range map[string][]byte{
		"nothing":               nil,
		"no section":            module(),
		"fewer functions":       Mark(module(), make([]bool, 8)),
		"more functions":        Mark(module(), make([]bool, 17)),
		"half a section":        marked[:len(marked)-1],
		"half a module":         marked[:30],
		"bytes after the code":  bytes.Replace(marked, []byte("\x3d\x0a"), []byte("\x3d\x09"), 1),
		"more code than bodies": bytes.Replace(marked, []byte("\x3d\x0a"), []byte("\x3d\x0b"), 1),
	} {
		_, ok := Cut(file(wasm))
		require.False(t, ok, name)
	}
}

// FuzzCut cuts any bytes: never a panic, and never more than there was.
func FuzzCut(f *testing.F) {
	f.Add(Mark(module(), make([]bool, 10)))
	f.Add(Mark(module(), make([]bool, 3)))
	f.Add(module())
	f.Fuzz(func(t *testing.T, wasm []byte) {
		if cut, ok := Cut(file(wasm)); ok {
			require.LessOrEqual(t, len(cut), len(wasm)+binary.MaxVarintLen64)
			_, again := Cut(file(cut))
			require.False(t, again, "a second cut must have nothing to do")
		}
	})
}
