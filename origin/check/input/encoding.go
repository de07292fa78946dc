package input

import (
	"bufio"
	"bytes"
	"io"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// The byte order marks (Unicode 16, section 23.8).
const (
	markUTF8    = "\xef\xbb\xbf"
	markUTF16LE = "\xff\xfe"
	markUTF16BE = "\xfe\xff"
)

// decode returns in as UTF-8 without a byte order mark, decompressed, and whether
// it was UTF-16. It refuses what is no text.
func decode(in io.Reader) (text io.Reader, utf16 bool, err error) {
	raw := bufio.NewReaderSize(&final{in: in}, bufferSize)
	found := recognise(await(raw, decided))
	if found.magic == gzipMagic {
		raw = bufio.NewReaderSize(&gunzip{in: raw}, bufferSize)
		if found = recognise(await(raw, decided)); found.magic == gzipMagic {
			return nil, false, errTwice
		}
	}
	if found.err != nil {
		return nil, false, found.err
	}
	raw.Discard(len(found.magic)) // it has arrived
	return decodeAs(raw, found.magic)
}

// decodeAs decodes what follows a byte order mark; mark is "" if there is none.
func decodeAs(raw *bufio.Reader, mark string) (text io.Reader, utf16 bool, err error) {
	head := await(raw, hasLineEnd)
	if mark == "" {
		mark = guessUTF16(head)
	}
	switch {
	case mark == markUTF16LE:
		return newUTF16(raw, unicode.LittleEndian), true, nil
	case mark == markUTF16BE:
		return newUTF16(raw, unicode.BigEndian), true, nil
	case bytes.IndexByte(head, 0) >= 0:
		return nil, false, errNUL
	}
	return raw, false, nil
}

// await waits until what has arrived is enough, the buffer is full or nothing more
// comes. It returns what has arrived.
func await(in *bufio.Reader, enough func(head []byte) bool) []byte {
	var err error
	for {
		head, _ := in.Peek(in.Buffered())
		if err != nil || len(head) > 0 && enough(head) {
			return head
		}
		_, err = in.Peek(len(head) + 1)
	}
}

// hasLineEnd reports whether text has a line end. That of UTF-16 contains one of
// these bytes too.
func hasLineEnd(text []byte) bool { return bytes.ContainsAny(text, "\r\n") }

// guessUTF16 returns the byte order mark that UTF-16 without one should have, or
// "". The upper byte of an ASCII character is zero, and a lower byte rarely is:
// zeros are at even offsets or at odd ones.
func guessUTF16(head []byte) string {
	var zeros [2]int
	for n, c := range head {
		if c == 0 {
			zeros[n%2]++
		}
	}
	enough := max(1, len(head)/8) // every fourth character
	switch {
	case zeros[1] >= enough && zeros[1] > 4*zeros[0]:
		return markUTF16LE
	case zeros[0] >= enough && zeros[0] > 4*zeros[1]:
		return markUTF16BE
	}
	return ""
}

// A utf16Reader decodes UTF-16. Unlike transform.Reader it does not wait for the
// rest of a character while it has others.
type utf16Reader struct {
	in      io.Reader
	decoder transform.Transformer
	src     []byte // what was read and not decoded
	dst     []byte
	out     []byte // what was decoded and not returned
	err     error
}

func newUTF16(in io.Reader, order unicode.Endianness) io.Reader {
	return &utf16Reader{
		in:      in,
		decoder: unicode.UTF16(order, unicode.IgnoreBOM).NewDecoder().Transformer,
		src:     make([]byte, 0, bufferSize),
		dst:     make([]byte, 2*bufferSize), // two bytes become at most three
	}
}

// Read decodes what has arrived. An unpaired surrogate becomes U+FFFD.
func (u *utf16Reader) Read(p []byte) (int, error) {
	for len(u.out) == 0 {
		if u.err != nil {
			return 0, u.err
		}
		u.fill()
	}
	n := copy(p, u.out)
	u.out = u.out[n:]
	return n, nil
}

func (u *utf16Reader) fill() {
	n, err := u.in.Read(u.src[len(u.src):cap(u.src)])
	u.src, u.err = u.src[:len(u.src)+n], err
	written, used, _ := u.decoder.Transform(u.dst, u.src, err == io.EOF) // only asks for more
	u.out = u.dst[:written]
	u.src = append(u.src[:0], u.src[used:]...)
}

// A final reader does not read again after an error: a terminal would go on after
// its end of file.
type final struct {
	in  io.Reader
	err error
}

func (f *final) Read(p []byte) (n int, err error) {
	if f.err != nil {
		return 0, f.err
	}
	n, f.err = f.in.Read(p)
	return n, f.err
}
