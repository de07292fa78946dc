package input

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

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

// A signature is how files of a format begin.
type signature struct {
	magic string
	err   error // why such a file is not read; nil if it is
}

// signatures are the formats that are recognised before their encoding. Addresses
// do not begin with any of them whole.
var signatures = append([]signature{
	{gzipMagic, nil},
	{markUTF8, nil},
	{markUTF16LE, nil},
	{markUTF16BE, nil},
	{"\xff\xfe\x00\x00", errUTF32},
	{"\x00\x00\xfe\xff", errUTF32},
	{"\x28\xb5\x2f\xfd", compressed("Zstandard", "zstd -dc")},
	{"\xfd7zXZ\x00", compressed("xz", "xz -dc")},
	{"\x04\x22\x4d\x18", compressed("LZ4", "lz4 -dc")},
	{"7z\xbc\xaf\x27\x1c", compressed("7-Zip", "7z x -so")},
	{"PK\x03\x04", errors.New("this is a ZIP archive or a spreadsheet (.xlsx, .ods): unpack the archive, or save the sheet as CSV UTF-8")},
	{"PK\x05\x06", errors.New("this is an empty ZIP archive")},
	{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", errors.New("this is an old Office document (.xls): open it and save the sheet as CSV UTF-8")},
	{"%PDF-", errors.New("this is a PDF document: take the list from where it was made, as CSV or text")},
}, bzip2()...)

// bzip2 returns the signatures of bzip2 with a whole block header, since an address
// may begin with BZh9.
func bzip2() (all []signature) {
	for _, level := range "123456789" {
		all = append(all, signature{"BZh" + string(level) + "\x31\x41\x59\x26\x53\x59", compressed("bzip2", "bzip2 -dc")})
	}
	return all
}

var (
	errUTF32 = errors.New("this is UTF-32: convert it, as with iconv -f UTF-32 -t UTF-8")
	errTwice = errors.New("this is compressed twice with gzip: decompress it once, as with gzip -dc FILE | addrspec check -")
	errNUL   = errors.New("this is not text: it has a NUL byte; save a spreadsheet as CSV UTF-8, and UTF-16 with a byte order mark")
)

func compressed(name, command string) error {
	return errors.New("this is compressed with " + name + ", and only gzip is read: decompress it, as with " + command + " FILE | addrspec check -")
}

// decided reports whether the first bytes that arrived are enough for recognise:
// no more bytes could make them the beginning of another signature.
func decided(head []byte) bool {
	for _, s := range signatures {
		if len(head) < len(s.magic) && strings.HasPrefix(s.magic, string(head)) {
			return false
		}
	}
	return true
}

// recognise returns the signature of the first bytes that arrived, or the zero
// value.
func recognise(head []byte) (found signature) {
	for _, s := range signatures {
		if len(s.magic) > len(found.magic) && bytes.HasPrefix(head, []byte(s.magic)) {
			found = s
		}
	}
	return found
}

const gzipMagic = "\x1f\x8b"

// A gunzip decompresses gzip (RFC 1952), which may have several members. It does
// not wait for the next member while it has bytes of the one before, as
// gzip.Reader does.
type gunzip struct {
	in     *bufio.Reader
	member *gzip.Reader // nil before the first one
	within bool         // the member has not ended
	err    error
}

// Read decompresses what has arrived. It may return no bytes without an error.
func (g *gunzip) Read(p []byte) (n int, err error) {
	if g.err == nil && !g.within {
		g.err = g.begin()
	}
	if g.err != nil {
		return 0, g.err
	}
	if n, err = g.member.Read(p); err == io.EOF {
		g.within = false
	} else if err != nil {
		g.err = damaged(err)
	}
	return n, nil
}

// begin reads the header of the next member. Zeros may follow the last one: tapes
// and disk images pad with them.
func (g *gunzip) begin() (err error) {
	if g.member == nil {
		g.member, err = gzip.NewReader(g.in)
	} else if err = g.skipZeros(); err == nil {
		err = g.member.Reset(g.in)
	}
	if err == io.EOF {
		return err
	}
	if err != nil {
		return damaged(err)
	}
	g.member.Multistream(false)
	g.within = true
	return nil
}

func (g *gunzip) skipZeros() error {
	for {
		c, err := g.in.ReadByte()
		if err != nil {
			return err
		}
		if c != 0 {
			return g.in.UnreadByte()
		}
	}
}

// damaged explains an error of compress/gzip.
func damaged(err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the gzip data ends too early: the file was cut off; get it again")
	case errors.Is(err, gzip.ErrHeader):
		return errors.New("bytes that are not gzip follow the gzip data; get the file again")
	}
	return fmt.Errorf("the gzip data cannot be read: %w; get the file again", err)
}
