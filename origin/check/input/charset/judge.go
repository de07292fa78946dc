package charset

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wlynxg/chardet"
)

const (
	maxWord  = 64 << 10 // bytes of a word
	maxSeen  = 1 << 16  // different words that are remembered, so that each is judged once
	maxBytes = 64 << 10 // of the words that chardet gets
	maxKept  = 200      // words from which an error has samples
)

// Detect reads a list, from a line of it to its end, and returns its encoding and why it is this one. The error is
// *Undecided, or that of in.
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
	sample         []byte

	western, cyrillic, mac letterJudge // Mac Cyrillic has the small letters of Windows-1251
	asian                  []*asianJudge
}

func newJudge(line int64) *judge {
	of := func(name, common string, languages []language, odd func(part string) bool) letterJudge {
		return letterJudge{name: name, common: common, languages: languages, odd: odd, letters: map[rune]bool{}}
	}
	return &judge{line: line, seen: map[string]struct{}{}, western: of("windows-1252", anywhere, western, oddWestern),
		cyrillic: of(cyrillic, "", alphabets, oddCyrillic), mac: of("x-mac-cyrillic", "", alphabets, oddCyrillic),
		asian: asianJudges()}
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
	if len(j.sample)+len(raw) < maxBytes {
		j.sample = append(append(j.sample, raw...), ' ')
	}
	j.western.add(raw)
	j.cyrillic.add(raw)
	j.mac.add(raw)
	for _, a := range j.asian {
		a.add(raw)
	}
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
	if j.western.fits() {
		return "windows-1252", why, nil
	}
	// Of the encodings of two bytes, the first ones have narrower rules: others fit what they fit.
	asian := slices.IndexFunc(j.asian, func(a *asianJudge) bool { return a.fits() })
	if asian == 0 {
		return "shift_jis", why, nil // whose names chardet does not know
	}
	// What chardet says of Latin letters is no use; what it says first of others is.
	all := chardet.DetectAll(j.sample)
	at := slices.IndexFunc(all, func(found chardet.Result) bool { return !latin[found.Encoding] })
	if at >= 0 {
		found := all[at]
		name := detected[found.Encoding]
		clear := found.Confidence > 0.8 || found.Confidence > 0.4 && len(j.sample) >= 96
		if name == cyrillic && j.cyrillic.fits() && !j.mac.fits() || asian >= 0 && name == j.asian[asian].name && clear {
			return name, why, nil
		}
	}
	return "", "", undecided(j.kept)
}

const cyrillic = "windows-1251"

// detected are the encodings for the names of chardet that may be right.
var detected = map[string]string{"Windows-1251": cyrillic, "MacCyrillic": cyrillic, "GB2312": "gb18030", "Big5": "big5",
	"EUC-KR": "euc-kr", "CP949": "euc-kr"}

var latin = map[string]bool{"ISO-8859-1": true, "Windows-1252": true, "MacRoman": true}
