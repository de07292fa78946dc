package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestDecodeBatchSaysWhere(t *testing.T) {
	for name, c := range map[string]struct{ body, says string }{
		"white space":           {`  `, "ends too early, at byte 2"},
		"not JSON":              {`nonsense`, "byte 1 is unexpected"},
		"not an object":         {`["a"]`, "an object"},
		"emails an object":      {`{"emails":{}}`, "emails must be an array"},
		"a number":              {`{"emails":["a","b",3]}`, "emails[2] must be a string"},
		"a nested array":        {`{"emails":[["a"]]}`, "emails[0] must be a string"},
		"cut off in a string":   {`{"emails":["a`, "ends too early"},
		"cut off in the array":  {`{"emails":["a"`, "ends too early"},
		"cut off in a member":   {`{"x":`, "ends too early"},
		"comma too many":        {`{"emails":["a",]}`, "byte 15 is unexpected"},
		"something after":       {`{"emails":[]} {}`, "nothing after it"},
		"byte order mark":       {"\uFEFF{]", "byte 4 is unexpected"},
		"cut off after a mark":  {"\uFEFF{", "at byte 4"},
		"two marks":             {"\uFEFF\uFEFF{}", "byte 3 is unexpected"},
		"high surrogate":        {`{"emails":["a","\ud800"]}`, "emails[1] has half"},
		"low surrogate":         {`{"emails":["x\uDC00y"]}`, "emails[0] has half"},
		"wrong order":           {`{"emails":["\udc00\ud800"]}`, "emails[0] has half"},
		"half after a pair":     {`{"emails":["\ud83d\ude00\ude00"]}`, "emails[0] has half"},
		"half after U+FFFD":     {`{"emails":["\ufffd\ud83d"]}`, "emails[0] has half"},
		"half before an escape": {`{"emails":["\ud83d\n"]}`, "emails[0] has half"},
		"not UTF-8":             {"{\"emails\":[\"a\xff\"]}", "byte 13 is not UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			_, p := decodeBatch([]byte(c.body))
			require.NotNil(t, p)
			require.Equal(t, "INVALID_REQUEST", p.name)
			require.Contains(t, p.message, c.says)
		})
	}
}

func TestDecodeBatchTakes(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want []string
	}{
		"missing":        {`{}`, nil},
		"empty":          {`{"emails":[]}`, []string{}},
		"escapes":        {`{"emails":["\u0061\u0000","b"]}`, []string{"a\x00", "b"}},
		"other members":  {`{"a":[{"emails":1}],"emails":["x"],"Emails":7}`, []string{"x"}},
		"twice: last":    {`{"emails":["x"],"emails":["y"]}`, []string{"y"}},
		"white space":    {" \n{ \"emails\" : [ \"x\" ] }\r\n\t", []string{"x"}},
		"nothing":        {``, nil},
		"a mark alone":   {"\uFEFF", nil},
		"null":           {` null `, nil},
		"emails null":    {`{"emails":null}`, nil},
		"mark":           {"\uFEFF{\"emails\":[\"x\"]}", []string{"x"}},
		"pair":           {`{"emails":["\ud83d\ude00"]}`, []string{"\U0001F600"}},
		"U+FFFD":         {`{"emails":["\ufffd\uFFFD\\ud800"]}`, []string{"\uFFFD\uFFFD\\ud800"}},
		"half elsewhere": {`{"\ud800":"\udc00","emails":["x"]}`, []string{"x"}},
	} {
		t.Run(name, func(t *testing.T) {
			emails, p := decodeBatch([]byte(c.body))
			require.Nil(t, p)
			require.Equal(t, c.want, emails)
		})
	}
}

// FuzzDecodeBatch: the decoder accepts what encoding/json accepts and says why
// it refuses the rest.
func FuzzDecodeBatch(f *testing.F) {
	for _, seed := range []string{
		`{"emails":["a@b","c"]}`,                           // the usual
		`{"emails":["a"],"emails":[1]}`,                    // last member decides
		`{"x":{"y":[]},"emails":[]}`,                       // others are skipped
		`{"emails":["\ud83d\ude00","\ud83"]}`,              // surrogates, cut off
		`{"emails":[],}`, `[`, "\xff", `{"emails":["a"]}x`, // refused
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		emails, p := decodeBatch(body)
		if p == nil {
			text := bytes.TrimPrefix(body, []byte(byteOrderMark))
			require.True(t, utf8.Valid(text))
			require.True(t, len(text) == 0 || json.Valid(text))
			for _, email := range emails {
				requireEcho(t, email, text)
			}
			return
		}
		require.Nil(t, emails)
		require.Equal(t, "INVALID_REQUEST", p.name)
		require.Less(t, len(p.message), 200)
	})
}

// requireEcho checks that a U+FFFD in an address was sent as one.
func requireEcho(t *testing.T, email string, text []byte) {
	if strings.ContainsRune(email, utf8.RuneError) {
		require.True(t, bytes.ContainsRune(text, utf8.RuneError) || bytes.Contains(bytes.ToLower(text), []byte(`\ufffd`)))
	}
}

func TestNotJSONRepeatsNothing(t *testing.T) {
	_, p := decodeBatch([]byte(`{"emails": secret@mail.example}`))
	require.NotContains(t, p.message, "secret")
	require.NotContains(t, notJSON(errors.New("secret"), 0, 1), "secret")
}

func TestDistinctKeepsTheFirstPlace(t *testing.T) {
	require.Equal(t, []string{"b", "a", "B"}, distinct(strings.Split("b a b B a", " ")))
}
