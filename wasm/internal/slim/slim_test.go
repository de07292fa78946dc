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
	r := &reader{from: file(cut.Code), end: int64(len(cut.Code))}
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
	require.True(t, bytes.HasPrefix(cut.Code, module()[:25]))
}

// viewOf returns parts of memory, as an instance does.
func viewOf(memory []byte) func(offset, size uint32) ([]byte, bool) {
	return func(offset, size uint32) ([]byte, bool) {
		if uint64(offset)+uint64(size) > uint64(len(memory)) {
			return nil, false
		}
		return memory[offset:][:size], true
	}
}

// withData returns module with a section of data, before its functions are marked.
func withData(segments string) []byte {
	return Mark(appendBytes(append(module(), data), []byte(segments)), make([]bool, 10))
}

// The data is not in the module, but copied to the memory in order.
func TestFill(t *testing.T) {
	cut, ok := Cut(file(withData("\x03" + "\x00\x41\x02\x0b\x03abc" + "\x00\x41\xc0\x00\x0b\x01d" + "\x00\x41\x04\x0b\x01e")))
	require.True(t, ok)
	require.NotContains(t, string(cut.Code), "abc")
	memory := make([]byte, 65)
	require.NoError(t, cut.Fill(viewOf(memory)))
	require.Equal(t, "\x00\x00abe"+string(make([]byte, 59))+"d", string(memory))
	require.ErrorIs(t, cut.Fill(viewOf(memory[:64])), errMemory)
}

// Data of another form is left to the engine.
func TestDataOfOtherForms(t *testing.T) {
	for name, segments := range map[string]string{
		"passive":              "\x01\x01\x01a",
		"memory with a number": "\x01\x02\x00\x41\x02\x0b\x01a",
		"global as offset":     "\x01\x00\x23\x00\x0b\x01a",
		"negative":             "\x01\x00\x41\x7f\x0b\x01a",
		"long number":          "\x01\x00\x41\x80\x80\x80\x80\x80\x00\x0b\x01a",
		"sum as offset":        "\x01\x00\x41\x02\x41\x02\x6a\x0b\x01a",
		"half a text":          "\x01\x00\x41\x02\x0b\x02a",
		"fewer than counted":   "\x02\x00\x41\x02\x0b\x01a",
		"more than counted":    "\x01\x00\x41\x02\x0b\x01ab",
		"nothing":              "",
	} {
		_, ok := Cut(file(withData(segments)))
		require.False(t, ok, name)
	}
	for _, id := range []byte{start, dataCount} {
		_, ok := Cut(file(append(withData("\x00"), id, 1, 1)))
		require.False(t, ok, id)
	}
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
	f.Add(withData("\x02\x00\x41\x02\x0b\x03abc\x00\x41\xc0\x00\x0b\x01d"))
	f.Fuzz(func(t *testing.T, wasm []byte) {
		if cut, ok := Cut(file(wasm)); ok {
			require.LessOrEqual(t, len(cut.Code), len(wasm)+binary.MaxVarintLen64)
			_, again := Cut(file(cut.Code))
			require.False(t, again, "a second cut must have nothing to do")
			memory := make([]byte, 1<<16)
			_ = cut.Fill(viewOf(memory))
		}
	})
}
