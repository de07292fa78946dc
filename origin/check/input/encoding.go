package input

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"unicode/utf8"

	"github.com/addrspec/addrspec/origin/check/input/charset"
	"github.com/addrspec/addrspec/origin/check/input/workbook"
	"github.com/addrspec/addrspec/origin/check/pipeline"
)

// decode returns in as text without a byte order mark, decompressed. It refuses what is no text. The text is
// UTF-8, but for lines of a list that else is.
func (r *Reader) decode(in io.Reader) (io.Reader, error) {
	raw := bufio.NewReaderSize(&final{in: in}, bufferSize)
	head := await(raw)
	compressed := bytes.HasPrefix(head, []byte(gzipMagic))
	if compressed {
		plain, err := gunzip(raw)
		if err != nil {
			return nil, err
		}
		raw = bufio.NewReaderSize(plain, bufferSize)
		head = await(raw)
	}
	var found signature
	at := slices.IndexFunc(signatures, func(s signature) bool { return bytes.HasPrefix(head, []byte(s.magic)) })
	if at >= 0 {
		found = signatures[at]
	}
	switch {
	case found.magic == zipMagic && !compressed && r.options.File != nil:
		book, err := workbook.Open(r.options.File, r.options.Sheet, r.options.Unpack)
		if err != nil {
			return nil, err
		}
		r.book = book
		why := fmt.Sprintf("its sheet %q", book.Name)
		if len(book.Others) > 0 {
			why += fmt.Sprintf("; --sheet reads another one of %d, such as %q", 1+len(book.Others), book.Others[0])
		}
		r.reading.Store(&pipeline.Reading{Encoding: "xlsx", Why: why, Mark: true})
		return book, nil
	case r.options.Sheet != "":
		return nil, errors.New("--sheet is for Excel workbooks (.xlsx), and this is none")
	case found.err != nil:
		return nil, found.err
	}
	_, err := raw.Discard(len(found.magic)) // it has arrived
	if err != nil {
		return nil, err
	}
	return r.decodeAs(raw, found.encoding, compressed)
}

func (r *Reader) decodeAs(raw *bufio.Reader, marked string, compressed bool) (io.Reader, error) {
	head := await(raw)
	utf16 := guessUTF16(head)
	e := pipeline.Reading{Mark: marked != ""}
	switch given := r.options.Encoding; {
	case given != Auto:
		name, err := charset.Name(given)
		if err != nil {
			return nil, err
		}
		if marked != "" && marked != name {
			return nil, fmt.Errorf("the encoding %s was given, but the input begins with the byte order mark of %s",
				name, marked)
		}
		e.Encoding, e.Why = name, "it was given"
	case marked != "":
		e.Encoding, e.Why = marked, "it begins with a byte order mark"
	case utf16 != "":
		e.Encoding, e.Why = utf16, "every second byte is zero"
	case bytes.Count(head, []byte{0})*10 > len(head):
		return nil, errors.New("this is not text: it has many NUL bytes; save a spreadsheet as CSV UTF-8, " +
			"and UTF-16 with a byte order mark")
	case r.options.isJSON(head):
		e.Encoding, e.Why = charset.UTF8, "JSON is UTF-8 (RFC 8259 section 8.1)"
	case r.options.File == nil:
		r.reading.Store(&pipeline.Reading{Encoding: charset.UTF8, Why: "all of it is ASCII"})
		return &arriving{in: raw, found: &r.reading}, nil
	default:
		var err error
		whole := io.Reader(io.NewSectionReader(r.options.File, 0, 1<<62))
		if compressed {
			whole, err = gunzip(whole)
		}
		if err == nil {
			e.Encoding, e.Why, err = charset.Detect(whole, 1)
		}
		if err != nil {
			return nil, err
		}
		e.Guessed = e.Encoding != charset.UTF8
	}
	e.Mark = e.Mark || e.Encoding != charset.UTF8
	r.reading.Store(&e)
	return charset.NewReader(raw, e.Encoding), nil
}

// An arriving reader reads bytes of an unknown encoding as long as they are ASCII. The first line that is not
// decides if it is UTF-8, so that an encoding is known without reading ahead. Else what follows is looked at
// whole, as a file is: no line alone proves another encoding.
type arriving struct {
	in      *bufio.Reader
	found   *atomic.Pointer[pipeline.Reading]
	lines   int64     // LF that were read
	decided io.Reader // of the rest; nil while all is ASCII
	err     error     // why the encoding is not known
}

// maxAhead is how much of a pipe that is not UTF-8 is looked at before it is read, in bytes.
const maxAhead = 16 << 20

func (a *arriving) Read(p []byte) (int, error) {
	if a.decided == nil && a.err == nil {
		_, err := a.in.Peek(1)
		if err != nil {
			return 0, err
		}
		head, _ := a.in.Peek(min(a.in.Buffered(), len(p)))
		other := slices.IndexFunc(head, func(c byte) bool { return c >= utf8.RuneSelf })
		if other < 0 {
			other = len(head)
		}
		if other > 0 {
			a.lines += int64(bytes.Count(head[:other], []byte("\n")))
			return a.in.Read(p[:other])
		}
		a.decided, a.err = a.decide()
	}
	if a.err != nil {
		return 0, a.err
	}
	return a.decided.Read(p)
}

func (a *arriving) decide() (io.Reader, error) {
	line := await(a.in)
	if end := bytes.IndexAny(line, "\r\n"); end >= 0 {
		line = line[:end]
	}
	if utf8.Valid(line) {
		why := fmt.Sprintf("line %d, the first that is not ASCII, is UTF-8", a.lines+1)
		a.found.Store(&pipeline.Reading{Encoding: charset.UTF8, Why: why})
		return a.in, nil
	}
	ahead, _ := io.ReadAll(io.LimitReader(a.in, maxAhead+1)) // an error comes again
	if len(ahead) > maxAhead {
		return nil, fmt.Errorf("line %d is not UTF-8, and a pipe of more than %d MiB is not searched for its "+
			"encoding: give the file by its name, or the encoding with --encoding", a.lines+1, maxAhead>>20)
	}
	name, why, err := charset.Detect(bytes.NewReader(ahead), a.lines+1)
	if err != nil {
		return nil, err
	}
	a.found.Store(&pipeline.Reading{Encoding: name, Why: why, Guessed: name != charset.UTF8, Mark: name != charset.UTF8})
	return charset.NewReader(io.MultiReader(bytes.NewReader(ahead), a.in), name), nil
}

// await waits until a line or the beginning of gzip has arrived, the buffer is full or nothing more comes. It
// returns what has arrived.
func await(in *bufio.Reader) []byte {
	var err error
	for {
		head, _ := in.Peek(in.Buffered())
		if err != nil || hasLineEnd(head) || bytes.HasPrefix(head, []byte(gzipMagic)) {
			return head
		}
		_, err = in.Peek(len(head) + 1)
	}
}

// hasLineEnd reports whether text has a line end. That of UTF-16 contains one of these bytes too.
func hasLineEnd(text []byte) bool { return bytes.ContainsAny(text, "\r\n") }

// guessUTF16 returns the encoding of UTF-16 without a byte order mark, or "". The upper byte of an ASCII
// character is zero, and a lower byte rarely is: zeros are at even offsets or at odd ones.
func guessUTF16(head []byte) string {
	var zeros [2]int
	for n, c := range head {
		if c == 0 {
			zeros[n%2]++
		}
	}
	switch {
	case zeros[1]*8 >= len(head) && zeros[1] > 4*zeros[0]:
		return charset.UTF16LE
	case zeros[0]*8 >= len(head) && zeros[0] > 4*zeros[1]:
		return charset.UTF16BE
	}
	return ""
}

// A final reader does not read again after an error: a terminal would go on after its end of file.
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

func gunzip(in io.Reader) (io.Reader, error) {
	zipped, err := gzip.NewReader(in)
	return unzipped{zipped}, damaged(err)
}

type unzipped struct{ *gzip.Reader }

func (g unzipped) Read(p []byte) (int, error) {
	n, err := g.Reader.Read(p)
	return n, damaged(err)
}

func damaged(err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	return fmt.Errorf("the gzip data cannot be read: %w; get the file again", err)
}
