package input

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// The byte order marks (Unicode 16, section 23.8).
const (
	markUTF8    = "\xef\xbb\xbf"
	markUTF16LE = "\xff\xfe"
	markUTF16BE = "\xfe\xff"
)

// marks are the encodings that a byte order mark names.
var marks = map[string]string{markUTF8: UTF8, markUTF16LE: UTF16LE, markUTF16BE: UTF16BE}

// decode returns in as text without a byte order mark, decompressed. It refuses what
// is no text. The text is UTF-8, but for lines in another encoding than those before.
func (r *Reader) decode(in io.Reader) (text io.Reader, err error) {
	raw := bufio.NewReaderSize(&final{in: in}, bufferSize)
	head := await(raw, decided)
	found := recognise(head)
	if found.magic == gzipMagic {
		raw = bufio.NewReaderSize(&gunzip{in: raw}, bufferSize)
		head = await(raw, decided)
		found = recognise(head)
		if found.magic == gzipMagic {
			return nil, errTwice
		}
	}
	switch {
	case found.magic == zipMagic:
		return nil, zipped(head)
	case found.err != nil:
		return nil, found.err
	}
	raw.Discard(len(found.magic)) // it has arrived
	return r.decodeAs(raw, marks[found.magic])
}

// decodeAs decodes what follows a byte order mark, if marked names an encoding.
func (r *Reader) decodeAs(raw *bufio.Reader, marked string) (io.Reader, error) {
	head := await(raw, hasLineEnd)
	e := Encoding{r.options.Encoding, "it was given", false}
	switch given := e.Name != "" && e.Name != Auto; {
	case given && marked != "" && marked != e.Name:
		return nil, fmt.Errorf("the encoding %s was given, but the input begins with the byte order mark of %s", e.Name, marked)
	case given:
	case marked != "":
		e = Encoding{marked, "it begins with a byte order mark", false}
	default:
		e = Encoding{guessUTF16(head), "every second byte is zero", false}
	}
	r.encoding.Store(&e)
	switch e.Name {
	case UTF16LE:
		return newDecoded(raw, unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)), nil
	case UTF16BE:
		return newDecoded(raw, unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)), nil
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return nil, errNUL
	}
	if e.Name == "" && r.options.isJSON(head) {
		e = Encoding{UTF8, "JSON is UTF-8 (RFC 8259 section 8.1)", false}
		r.encoding.Store(&e)
	}
	switch e.Name {
	case UTF8:
		return raw, nil
	case Windows1252:
		return newDecoded(raw, charmap.Windows1252), nil
	}
	r.encoding.Store(&Encoding{UTF8, "all of it is ASCII", false})
	return &ascii{in: raw, found: &r.encoding}, nil
}

// An ascii reader reads bytes of an unknown encoding as long as they are ASCII, which
// is the same in UTF-8 and in Windows-1252. The first line that is not decides about
// the rest, so that an encoding is known without reading ahead. Text in Windows-1252
// is hardly ever UTF-8: a byte of a letter would have to precede one of a symbol.
type ascii struct {
	in      io.Reader
	found   *atomic.Pointer[Encoding]
	lines   int64     // LF that were read
	decided io.Reader // of the rest; nil while all is ASCII
}

// Read reads ASCII, and from the first other byte on what its line decided.
func (a *ascii) Read(p []byte) (int, error) {
	if a.decided != nil {
		return a.decided.Read(p)
	}
	n, err := a.in.Read(p)
	other := slices.IndexFunc(p[:n], func(c byte) bool { return c >= utf8.RuneSelf })
	if other < 0 {
		a.lines += lineFeeds(p[:n])
		return n, err
	}
	a.lines += lineFeeds(p[:other])
	a.decide(bufio.NewReaderSize(io.MultiReader(bytes.NewReader(slices.Clone(p[other:n])), a.in), bufferSize)) // which returns err again
	n, err = a.decided.Read(p[other:])                                                                         // which has arrived, but for an error
	if other > 0 && err == io.EOF {
		err = nil // it comes again
	}
	return other + n, err
}

// decide looks at the rest of the present line, as far as a buffer has room for it.
func (a *ascii) decide(rest *bufio.Reader) {
	line := await(rest, hasLineEnd)
	if end := bytes.IndexAny(line, "\r\n"); end >= 0 {
		line = line[:end]
	} else if len(line) == bufferSize {
		line = beforeCut(line)
	}
	if utf8.Valid(line) {
		a.decided = rest
		a.found.Store(&Encoding{UTF8, fmt.Sprintf("line %d, the first that is not ASCII, is UTF-8", a.lines+1), false})
		return
	}
	a.decided = newDecoded(rest, charmap.Windows1252)
	a.found.Store(&Encoding{Windows1252, fmt.Sprintf("line %d is not UTF-8", a.lines+1), true})
}

// beforeCut returns text without the part of a character at its end.
func beforeCut(text []byte) []byte {
	for n := len(text) - 1; n >= max(0, len(text)-utf8.UTFMax); n-- {
		if utf8.RuneStart(text[n]) && !utf8.FullRune(text[n:]) {
			return text[:n]
		}
	}
	return text
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

// guessUTF16 returns the encoding of UTF-16 without a byte order mark, or "". The
// upper byte of an ASCII character is zero, and a lower byte rarely is: zeros are at
// even offsets or at odd ones.
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
		return UTF16LE
	case zeros[0] >= enough && zeros[0] > 4*zeros[1]:
		return UTF16BE
	}
	return ""
}

// A decoded reader decodes text. Unlike transform.Reader it does not wait for the rest
// of a character while it has others.
type decoded struct {
	in      io.Reader
	decoder transform.Transformer
	src     []byte // what was read and not decoded
	dst     []byte
	out     []byte // what was decoded and not returned
	err     error
}

func newDecoded(in io.Reader, from encoding.Encoding) io.Reader {
	return &decoded{
		in:      in,
		decoder: from.NewDecoder().Transformer,
		src:     make([]byte, 0, bufferSize),
		dst:     make([]byte, utf8.UTFMax*bufferSize),
	}
}

// Read decodes what has arrived. An unpaired surrogate becomes U+FFFD.
func (d *decoded) Read(p []byte) (int, error) {
	for len(d.out) == 0 {
		if d.err != nil {
			return 0, d.err
		}
		d.fill()
	}
	n := copy(p, d.out)
	d.out = d.out[n:]
	return n, nil
}

func (d *decoded) fill() {
	n, err := d.in.Read(d.src[len(d.src):cap(d.src)])
	d.src, d.err = d.src[:len(d.src)+n], err
	written, used, _ := d.decoder.Transform(d.dst, d.src, err == io.EOF) // only asks for more
	d.out = d.dst[:written]
	d.src = append(d.src[:0], d.src[used:]...)
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
	{zipMagic, nil}, // zipped has the error
	{"PK\x05\x06", errors.New("this is an empty ZIP archive")},
	{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", errors.New("this is an Excel workbook of the old format (.xls), or another old Office document, and not text: " + saveSheet)},
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

const (
	gzipMagic = "\x1f\x8b"
	zipMagic  = "PK\x03\x04"
	saveSheet = "open it and save the sheet as CSV UTF-8"
)

// zipped returns the error of a ZIP archive by the names in its beginning. That of
// OpenDocument begins with its media type (OpenDocument 1.3 part 2, section 3.3).
func zipped(head []byte) error {
	switch {
	case bytes.Contains(head, []byte("opendocument.spreadsheet")):
		return errors.New("this is an OpenDocument spreadsheet (.ods) and not text: " + saveSheet)
	case bytes.Contains(head, []byte("xl/")):
		return errors.New("this is an Excel workbook (.xlsx) and not text: " + saveSheet)
	}
	return errors.New("this is a ZIP archive or a spreadsheet (.xlsx, .ods), and not text: unpack an archive; of a spreadsheet, " + saveSheet)
}

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
