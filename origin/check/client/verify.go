package client

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/addrspec/addrspec/origin/check/output"
	"github.com/addrspec/addrspec/wasm/result"
)

// A badResponseError is a response that is not one of the service.
type badResponseError struct{ What string }

// Error says what is wrong with the response.
func (e *badResponseError) Error() string {
	return e.What + "; check that the URL is that of an addrspec service, " +
		"and that no proxy between changes its responses"
}

// readBatch verifies the response to a batch of these distinct emails and adds its
// items to found. A response has one item for each address in the order sent; a
// partial one, where work did not finish in time, has at least one.
func readBatch(body []byte, emails []string, o Options, found map[string]Item) error {
	var batch struct {
		Success, Partial bool
		Results          []struct {
			Email, Status string
			Result        json.RawMessage
			Error         struct{ Code, Message string }
		}
	}
	if json.Unmarshal(body, &batch) != nil || !batch.Success {
		return &badResponseError{"the response to the batch is not the JSON of one"}
	}
	count := len(batch.Results)
	if count > len(emails) || count == 0 || count < len(emails) && !batch.Partial {
		return &badResponseError{"the response to the batch has another number of results than addresses were sent"}
	}
	items, at := make([]Item, count), 0
	for n, r := range batch.Results {
		for at < len(emails) && emails[at] != r.Email {
			at++
		}
		if at == len(emails) {
			return &badResponseError{"the response to the batch has a result for an address that was not sent, " +
				"or in another order"}
		}
		at++
		switch {
		case r.Status == "success":
			line, err := readResult(r.Result, r.Email, o)
			if err != nil {
				return err
			}
			items[n].Result = line
		case r.Status == "error" && isCode(r.Error.Code):
			items[n] = Item{Code: r.Error.Code, Message: sentence(r.Error.Message)}
		default:
			return &badResponseError{"the response to the batch has a result that is neither a success nor an error"}
		}
	}
	for n, r := range batch.Results {
		found[r.Email] = items[n]
	}
	return nil
}

// verdictMember begins the last member of a result. The name with its quotes cannot occur
// inside a string, where they would be escaped.
const verdictMember = `,"verdict":`

// A verdict is that of a policy as every host writes it.
type verdict struct {
	Action string  `json:"action"`
	Reason *string `json:"reason"`
	Rule   *string `json:"rule"`
}

var nullable = map[result.Field]bool{result.Normalized: true, result.LocalPart: true, result.Domain: true,
	result.Role: true, result.TypoSuggestion: true}

// readResult verifies a result and returns it on one line with the 16 fields in
// their order, details if they were asked for, and the verdict if a policy decided. The
// values keep their bytes, so the line is the same as that of any host. Other members are
// left out: a later version of the service may have more.
func readResult(object []byte, email string, o Options) ([]byte, error) {
	values, err := result.Split(object)
	var more struct {
		Details json.RawMessage
		Verdict verdict
	}
	if err != nil || json.Unmarshal(object, &more) != nil {
		return nil, &badResponseError{"the result of an address is not one of the service"}
	}
	line := bytes.NewBuffer(make([]byte, 0, len(object)))
	for n, value := range values {
		value = bytes.TrimSpace(value)
		line.WriteByte("{,"[min(n, 1)])
		line.WriteString(`"` + result.Names[n] + `":`)
		if string(value) == "null" && !nullable[result.Field(n)] {
			return nil, &badResponseError{"the result of an address lacks the member " + result.Names[n]}
		}
		line.Write(value)
	}
	if o.Details {
		if len(more.Details) == 0 || string(more.Details) == "null" {
			return nil, &badResponseError{"the result of an address lacks the member details"}
		}
		line.WriteString(`,"details":`)
		_ = json.Compact(line, more.Details) // it was decoded, so it is valid JSON
	}
	switch {
	case more.Verdict.Action != "":
		line.WriteString(verdictMember)
		line.Write(encoded(more.Verdict))
	case o.Policy != "": // an earlier version of the service leaves the request's policy out
		return nil, &badResponseError{"the result of an address lacks the member verdict, " +
			"though the request names a policy"}
	}
	line.WriteByte('}')
	// What is returned is parsed, since of members with the same name another may have been read.
	r, err := result.Parse(line.Bytes())
	switch {
	case err != nil || r.Email != email:
		return nil, &badResponseError{"the result of an address is not one of the service, or of another address"}
	case !isSafe(line.Bytes(), email):
		return nil, &badResponseError{"the result of an address has characters that no result has"}
	}
	return line.Bytes(), nil
}

// encoded returns the JSON text of a string or a verdict, without escapes for HTML.
func encoded(value any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // neither fails
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// isSafe reports whether no string of a result can control a terminal or be a formula, unless
// the address itself has these characters.
func isSafe(object []byte, email string) bool {
	if !utf8.Valid(object) {
		return false
	}
	address := fold(email)
	for decoder := json.NewDecoder(bytes.NewReader(object)); ; {
		token, err := decoder.Token()
		if err != nil {
			return true // the end: the object was decoded before
		}
		text, _ := token.(string)
		if isPlain(text) {
			continue
		}
		// A normalized or canonical address has fewer characters, such as no quotes and dots. A
		// suggested one has another domain.
		text = fold(text)
		at := strings.LastIndexByte(text, '@')
		if !isWithin(text, address) && (at < 1 || !isWithin(text[:at], address) || !isDomain(text[at+1:])) {
			return false
		}
	}
}

// isPlain reports whether a terminal and a spreadsheet show the text as it is. A single
// character, such as the hyphen of a misspelling, is no formula.
func isPlain(text string) bool {
	notGraphic := func(r rune) bool { return !unicode.IsGraphic(r) }
	return !strings.ContainsFunc(text, notGraphic) && (utf8.RuneCountInString(text) < 2 || output.Formula(text) == text)
}

func fold(text string) string { return strings.ToLower(norm.NFC.String(text)) }

// isWithin reports whether the address has the characters of the text in their order.
func isWithin(text, address string) bool {
	for _, r := range text {
		_, rest, found := strings.Cut(address, string(r))
		if !found {
			return false
		}
		address = rest
	}
	return true
}

// isDomain reports whether a domain can have the characters of the text.
func isDomain(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.In(r, unicode.L, unicode.M, unicode.N) && r != '.' && r != '-'
	})
}

var isCode = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,63}$`).MatchString

// maxSentence is how much of a foreign text an error repeats, in runes.
const maxSentence = 400

// sentence makes a text of the service safe to print, and to open in a spreadsheet.
func sentence(text string) string {
	runes := []rune(strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}
		return ' '
	}, text))
	if len(runes) > maxSentence {
		runes = append(runes[:maxSentence:maxSentence], '…')
	}
	return output.Formula(strings.TrimSpace(string(runes)))
}
