package charset

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

const (
	maxWord = 64 << 10 // bytes of a word
	maxSeen = 1 << 16  // different words that are remembered, so that each is judged once
	maxKept = 200      // words from which an error has samples
)

// Detect reads a list, from a line of it to its end, and returns its encoding and why it is this one. The error names
// those that may be it, or is that of in.
func Detect(in io.Reader, line int64) (name, why string, err error) {
	j, word := newJudge(line), make([]byte, 0, maxWord)
	for bytewise, ascii := bufio.NewReaderSize(in, maxWord), true; ; {
		c, err := bytewise.ReadByte()
		switch {
		case err != nil && err != io.EOF:
			return "", "", err
		case err == nil && !separates(c):
			word, ascii = append(word, c), ascii && c < utf8.RuneSelf
			if len(word) >= maxWord {
				return "", "", fmt.Errorf("line %d is not text: more than %d KiB without a space or a sign", j.line, maxWord>>10)
			}
			continue
		case !ascii:
			j.add(word)
		}
		if err == io.EOF {
			return j.decide()
		}
		if c == '\n' {
			j.line++
		}
		word, ascii = word[:0], true
	}
}

type judge struct {
	line int64 // that was reached, from 1
	seen map[string]struct{}

	valid, invalid int   // different words that are UTF-8 or not
	firstInvalid   int64 // the line of the first that is not
	kept           []string

	western, cyrillic, mac letterJudge // Mac Cyrillic has the small letters of Windows-1251
}

func newJudge(line int64) *judge {
	of := func(name, common string, languages []language, odd func(part string) bool) letterJudge {
		return letterJudge{name: name, common: common, languages: languages, odd: odd, letters: map[rune]bool{}}
	}
	return &judge{line: line, seen: map[string]struct{}{}, western: of("windows-1252", anywhere, western, oddWestern),
		cyrillic: of("windows-1251", "", alphabets, oddCyrillic), mac: of("x-mac-cyrillic", "", alphabets, oddCyrillic)}
}

// separates reports whether a byte ends a word. No character of several bytes has it, in any encoding.
func separates(c byte) bool { return c < '0' || c >= ':' && c <= '?' }

func (j *judge) add(word []byte) {
	if _, known := j.seen[string(word)]; known {
		return
	}
	raw := string(word)
	if len(j.seen) < maxSeen {
		j.seen[raw] = struct{}{}
	}
	if utf8.Valid(word) {
		j.valid++
	} else {
		j.invalid++
		j.firstInvalid = cmp.Or(j.firstInvalid, j.line)
	}
	if len(j.kept) < maxKept {
		j.kept = append(j.kept, raw)
	}
	j.western.add(raw)
	j.cyrillic.add(raw)
	j.mac.add(raw)
}

// parts splits a decoded word at the signs of ASCII and at no-break spaces.
func parts(word string) []string {
	return strings.FieldsFunc(word, func(r rune) bool {
		return r == '\u00A0' || r < utf8.RuneSelf && !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9')
	})
}

func (j *judge) decide() (name, why string, err error) {
	switch {
	case j.valid+j.invalid == 0:
		return UTF8, "all of it is ASCII", nil
	case j.invalid == 0:
		return UTF8, "all of it is UTF-8", nil
	case j.valid > 4*j.invalid:
		return UTF8, "most of its words that are not ASCII are", nil
	}
	why = fmt.Sprintf("line %d is not UTF-8, and all words fit", j.firstInvalid)
	switch {
	case j.western.fits():
		return "windows-1252", why, nil
	case j.cyrillic.fits() && !j.mac.fits():
		return "windows-1251", why, nil
	}
	return "", "", undecided(j.kept)
}
