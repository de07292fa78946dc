package result

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// A Field is the index of a field in [Values].
type Field int

// The fields in the order of [Names].
const (
	Email Field = iota
	Valid
	Normalized
	LocalPart
	Alias
	ASCII
	Role
	Gibberish
	GibberishScore
	Domain
	MX
	Disposable
	Public
	Relay
	Typo
	TypoSuggestion
	numFields
)

// Names are the names of the fields, in the order in which the module writes them.
var Names = [numFields]string{"email", "valid", "normalized", "local_part", "alias", "ascii", "role", "gibberish",
	"gibberish_score", "domain", "mx", "disposable", "public", "relay", "typo", "typo_suggestion"}

// Values are the JSON values of the fields.
type Values [numFields][]byte

// members are the names as they occur in the module's JSON.
var members = func() (list [numFields]string) {
	for n, name := range Names {
		list[n] = `,"` + name + `":`
	}
	list[0] = "{" + list[0][1:]
	return list
}()

// Split returns the values of a result, which refer to text. It does not decode
// what the module wrote, and decodes a result with another order of members.
func Split(text []byte) (v Values, err error) {
	rest := scanner(text)
	for n, member := range members {
		ok := rest.skip(member)
		if ok {
			v[n], ok = rest.value()
		}
		if !ok {
			return splitSlowly(text)
		}
	}
	return v, nil
}

// SplitVerdict returns a verdict that the module wrote. No text in it has an escape.
func SplitVerdict(text []byte) (v Verdict, err error) {
	rest := scanner(text)
	for _, member := range []struct {
		before string
		value  *string
	}{{`{"action":`, &v.Action}, {`,"reason":`, &v.Reason}, {`,"rule":`, &v.Rule}} {
		value, ok := []byte(nil), rest.skip(member.before)
		if ok {
			value, ok = rest.value()
		}
		if !ok {
			return v, fmt.Errorf("a verdict has no value after %s", member.before)
		}
		*member.value = Text(value)
	}
	return v, nil
}

func splitSlowly(text []byte) (v Values, err error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return v, fmt.Errorf("a result is not a JSON object: %w", err)
	}
	for n, name := range Names {
		v[n] = members[name]
		if v[n] == nil {
			return v, fmt.Errorf("a result has no field %q", name)
		}
	}
	return v, nil
}

// A scanner is the unread rest of a JSON object.
type scanner []byte

// skip skips text and returns true if the rest begins with it.
func (s *scanner) skip(text string) bool {
	rest, found := bytes.CutPrefix(*s, []byte(text))
	*s = rest
	return found
}

// value reads a string, a number, a boolean or null.
func (s *scanner) value() (value []byte, ok bool) {
	text := []byte(*s)
	end := bytes.IndexAny(text, ",}") // of what is no string
	if len(text) > 0 && text[0] == '"' {
		for end = 1; end < len(text) && text[end] != '"'; end++ {
			if text[end] == '\\' {
				end++
			}
		}
		end++
	}
	if end <= 0 || end > len(text) {
		return nil, false
	}
	*s = scanner(text[end:])
	return text[:end], true
}

// Text returns a value as text: a string without its quotation marks and escapes,
// null as "".
func Text(value []byte) string {
	if len(value) > 1 && value[0] == '"' {
		if bytes.IndexByte(value, '\\') < 0 {
			return string(value[1 : len(value)-1])
		}
		var text string
		json.Unmarshal(value, &text) // a string that Split found: cannot fail
		return text
	}
	if string(value) == "null" {
		return ""
	}
	return string(value)
}
