// Package charset reads lists in the encodings of the WHATWG Encoding Standard, and finds out
// which one a list has that is no UTF-8.
//
// No letter is read wrongly in silence: an encoding is found only if every different word of the
// list that is not ASCII fits it, and no other one as well. Else the error has the encodings in
// which the words are words at all, with samples, and the user chooses. The rules are
// in western.go and judge.go.
package charset

import (
	"fmt"
	"io"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
)

// The encodings that others name.
const (
	UTF8    = "utf-8"
	UTF16LE = "utf-16le"
	UTF16BE = "utf-16be"
)

// Name returns the name of the encoding with a label of the WHATWG Encoding Standard, such as
// windows-1252 for latin1.
func Name(label string) (string, error) {
	e, err := htmlindex.Get(label)
	if err != nil {
		return "", fmt.Errorf("there is no encoding %q: use auto or a label of the WHATWG Encoding Standard "+
			"(https://encoding.spec.whatwg.org/#names-and-labels), such as utf-8, windows-1250, iso-8859-2, "+
			"windows-1254, koi8-r, macintosh, shift_jis, euc-jp, gb18030, big5 or euc-kr", label)
	}
	name, err := htmlindex.Name(e)
	if name == "replacement" || name == "x-user-defined" || err != nil {
		return "", fmt.Errorf("the encoding %q has no text", label)
	}
	return name, nil
}

// NewReader decodes what is in an encoding that Name returned. What is no character becomes
// U+FFFD.
func NewReader(in io.Reader, name string) io.Reader {
	switch name {
	case UTF8:
		return in
	case UTF16LE:
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewDecoder().Reader(in)
	case UTF16BE:
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewDecoder().Reader(in)
	}
	return get(name).NewDecoder().Reader(in)
}

func get(name string) encoding.Encoding {
	e, err := htmlindex.Get(name)
	if err != nil {
		panic(err) // Name did not return it
	}
	return e
}

func decode(name, raw string) string {
	text, err := get(name).NewDecoder().String(raw)
	if err != nil {
		return "\uFFFD"
	}
	return text
}
