package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/addrspec/addrspec/wasm/host"
)

// byteOrderMark may precede the JSON text; a parser may ignore it (RFC 8259
// section 8.1).
const byteOrderMark = "\uFEFF"

// uniqueAddresses has the distinct addresses of a batch in the order of their
// first positions, and the number of addresses sent. It stores at most
// maxUnique, so a body of many short strings takes little memory. Two addresses
// are the same only if they are equal byte for byte.
type uniqueAddresses struct {
	emails   []string
	seen     map[string]bool
	received int
	exceeded bool // there are more than maxUnique
}

// batchInput is the content of a batch.
type batchInput struct {
	uniqueAddresses
	details host.Flags // host.Details if the batch asks for it
}

// add adds the next string of the array, given as JSON text.
func (a *uniqueAddresses) add(raw []byte) {
	if a.received++; a.exceeded {
		return
	}
	email := unescape(raw)
	switch {
	case a.seen[string(email)]: // the conversion does not allocate
	case len(a.emails) == maxUnique:
		a.exceeded = true
	default:
		a.emails = append(a.emails, string(email))
		a.seen[a.emails[len(a.emails)-1]] = true
	}
}

// decodeBatch decodes {"emails": [string, ...], "details": bool} and ignores other
// members. An empty body, null and "emails": null have no addresses. The whole
// body is checked as JSON before its content. If a name occurs twice, the last
// one counts, as in JSON.parse.
func decodeBatch(body []byte) (given batchInput, p *problem) {
	text := bytes.TrimPrefix(body, []byte(byteOrderMark))
	if len(text) == 0 {
		return batchInput{}, nil
	}
	if at := invalidUTF8(body); at >= 0 {
		return batchInput{}, invalidRequest.with(fmt.Sprintf("The body is not JSON: byte %d is not UTF-8.", at))
	}
	if !json.Valid(text) {
		return batchInput{}, invalidRequest.with(whereNotJSON(text, len(body)-len(text)))
	}
	m, isObject := membersOf(bytes.TrimSpace(text))
	if !isObject {
		return batchInput{}, wrongType("The body", `an object: {"emails": ["jane@example.org"]}`)
	}
	if given.uniqueAddresses, p = decodeEmails(m.emails); p != nil {
		return batchInput{}, p
	}
	given.details, p = memberDetails(m.details)
	return given, p
}

// wrongType returns the problem of a JSON value of the wrong type.
func wrongType(where, want string) *problem {
	return invalidRequest.with(where + " must be " + want + ".")
}

// decodeEmails decodes the array in text, which is valid JSON or empty.
func decodeEmails(text []byte) (given uniqueAddresses, p *problem) {
	switch {
	case len(text) == 0, string(text) == "null":
		return given, nil
	case text[0] != '[':
		return given, wrongType("emails", "an array of strings")
	}
	given.seen = make(map[string]bool, maxUnique)
	for rest := text[1:]; ; {
		rest = skipSeparators(rest)
		if rest[0] == ']' {
			return given, nil
		}
		if rest[0] != '"' {
			return uniqueAddresses{}, wrongType(fmt.Sprintf("emails[%d]", given.received), "a string")
		}
		raw := rest[:stringLength(rest)]
		if hasLoneSurrogate(raw) {
			return uniqueAddresses{}, invalidRequest.with(fmt.Sprintf(`emails[%d] has half of a surrogate pair (\ud800 to \udfff), which is no character; send both halves, or the character itself.`, given.received))
		}
		given.add(raw)
		rest = rest[len(raw):]
	}
}

// unescape decodes a string of valid JSON that has no lone surrogate.
func unescape(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	var s string
	_ = json.Unmarshal(raw, &s)
	return []byte(s)
}

// hasLoneSurrogate reports whether a string of valid JSON has an escape for a
// lone surrogate (RFC 8259 section 8.2). encoding/json decodes it as U+FFFD, so
// the address could not be echoed as it was sent.
func hasLoneSurrogate(raw []byte) bool {
	for {
		at := bytes.IndexByte(raw, '\\')
		if at < 0 {
			return false
		}
		first, second := escaped(raw[at:]), rune(0)
		if len(raw) > at+6 {
			second = escaped(raw[at+6:])
		}
		paired := utf16.DecodeRune(first, second) != utf8.RuneError
		switch {
		case paired:
			raw = raw[at+12:]
		case utf16.IsSurrogate(first):
			return true
		default:
			raw = raw[at+2:]
		}
	}
}

// escaped returns the value of the escape \uXXXX at the start of raw, or 0.
func escaped(raw []byte) rune {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0
	}
	n, _ := strconv.ParseUint(string(raw[2:6]), 16, 32)
	return rune(n)
}

// whereNotJSON decodes the text again with a NUL appended, which is never valid:
// if that is the first unexpected byte, the text ends too early. The text begins
// at byte start of the body.
func whereNotJSON(text []byte, start int) string {
	var nothing json.RawMessage
	err := json.Unmarshal(append(text, 0), &nothing)
	var syntax *json.SyntaxError
	for errors.As(err, &syntax) && 0 < syntax.Offset && syntax.Offset <= int64(len(text)) && !utf8.RuneStart(text[syntax.Offset-1]) {
		syntax.Offset-- // Go 1.27 returns the end of a character that is not ASCII
	}
	return notJSON(err, int64(start), int64(len(text)))
}

// notJSON returns the message that says where the text stops being JSON. It does
// not repeat the input. The first byte of the body is byte 0.
func notJSON(err error, start, size int64) string {
	offset := size
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		offset = syntax.Offset - 1
	}
	switch {
	case offset >= size:
		return fmt.Sprintf("The body is not JSON: it ends too early, at byte %d.", start+size)
	case strings.HasSuffix(syntax.Error(), "after top-level value"):
		return "The body must be one JSON object with nothing after it."
	}
	return fmt.Sprintf("The body is not JSON: byte %d is unexpected.", start+offset)
}

// invalidUTF8 returns the position of the first byte that is not UTF-8, or -1.
// JSON text is UTF-8 (RFC 8259 section 8.1); encoding/json would replace such a
// byte silently.
func invalidUTF8(s []byte) int {
	if utf8.Valid(s) {
		return -1
	}
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRune(s[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
	return -1
}
