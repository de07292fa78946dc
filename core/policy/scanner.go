package policy

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// scanner reads the tokens of JSON (RFC 8259) that a policy has. encoding/json would make
// the module a third larger, accepts names that repeat, and gives no place.
type scanner struct {
	text    []byte
	at      int // offset of the next byte
	start   int // offset of the last string or value of another type
	decoded []byte
}

func (s *scanner) malformed(at int, problem string) error {
	before := s.text[:at]
	line := bytes.Count(before, []byte{'\n'}) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return &Error{"line " + strconv.Itoa(line) + ", column " + strconv.Itoa(column), problem, at}
}

func (s *scanner) unexpected(expected string) error {
	if s.at == len(s.text) {
		return s.malformed(s.at, "the document ends where "+expected+" is expected")
	}
	return s.malformed(s.at, expected+" is expected here")
}

func (s *scanner) peek() byte {
	if s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

func (s *scanner) skip(c byte) bool {
	if s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		return true
	}
	return false
}

func (s *scanner) skipSpace() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			s.start = s.at
			return
		}
	}
	s.start = s.at
}

func (s *scanner) kind() string {
	switch c := s.peek(); {
	case c == '{':
		return "an object"
	case c == '[':
		return "an array"
	case c == '"':
		return "a string"
	case c == '-' || '0' <= c && c <= '9':
		return "a number"
	case bytes.HasPrefix(s.text[s.at:], []byte("true")), bytes.HasPrefix(s.text[s.at:], []byte("false")):
		return "true or false"
	case bytes.HasPrefix(s.text[s.at:], []byte("null")):
		return "null"
	}
	return ""
}

// string reads the string that begins at the next byte (section 7). Its text is valid until
// the next string.
func (s *scanner) string() ([]byte, error) {
	s.start = s.at
	s.at++
	s.decoded = s.decoded[:0]
	for {
		rest, n := s.text[s.at:], 0 // n characters mean themselves
		for n < len(rest) && rest[n] >= ' ' && rest[n] != '"' && rest[n] != '\\' && rest[n] < utf8.RuneSelf {
			n++
		}
		s.decoded = append(s.decoded, rest[:n]...)
		s.at += n
		if s.at == len(s.text) {
			return nil, s.malformed(s.start, "the string that begins here has no end")
		}
		switch c := s.text[s.at]; {
		case c == '"':
			s.at++
			return s.decoded, nil
		case c == '\\':
			if err := s.escape(); err != nil {
				return nil, err
			}
		case c < ' ':
			return nil, s.malformed(s.at, "a control character in a string; escape or remove it")
		default:
			r, size := utf8.DecodeRune(s.text[s.at:])
			if r == utf8.RuneError && size == 1 {
				return nil, s.malformed(s.at, "bytes that are not UTF-8; save the document as UTF-8")
			}
			s.decoded = append(s.decoded, s.text[s.at:s.at+size]...)
			s.at += size
		}
	}
}

// escapes has each character with an escape of two characters after what it means.
const escapes = "\"\"\\\\//\bb\ff\nn\rr\tt"

func (s *scanner) escape() error {
	start := s.at
	s.at++
	c := s.peek()
	for i := 0; i < len(escapes); i += 2 {
		if escapes[i+1] == c {
			s.decoded = append(s.decoded, escapes[i])
			s.at++
			return nil
		}
	}
	unit, ok := s.unit(start)
	if !ok {
		return s.malformed(start, "JSON has no such escape")
	}
	s.at = start + unitLength
	if 0xD800 <= unit && unit < 0xE000 {
		low, ok := s.unit(s.at)
		if unit >= 0xDC00 || !ok || low < 0xDC00 || low >= 0xE000 {
			return s.malformed(start, "half of a surrogate pair, which is no character")
		}
		unit = 0x10000 + (unit-0xD800)<<10 + low - 0xDC00
		s.at += unitLength
	}
	s.decoded = utf8.AppendRune(s.decoded, unit)
	return nil
}

const unitLength = len(`\u0000`)

func (s *scanner) unit(at int) (unit rune, ok bool) {
	text := s.text[at:]
	if len(text) < unitLength || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	for _, c := range text[2:unitLength] {
		digit := bytes.IndexByte([]byte("0123456789abcdef"), c|0x20)
		if digit < 0 || c < '0' {
			return 0, false
		}
		unit = unit<<4 | rune(digit)
	}
	return unit, true
}
