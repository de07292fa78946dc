package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
)

func TestDecodeBatchErrors(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"white space":           {`  `, "ends too early, at byte 2"},
		"not JSON":              {`nonsense`, "byte 1 is unexpected"},
		"not an object":         {`["a"]`, "an object"},
		"emails an object":      {`{"emails":{}}`, "emails must be an array"},
		"a number":              {`{"emails":["a","b",3]}`, "emails[2] must be a string"},
		"a nested array":        {`{"emails":[["a"]]}`, "emails[0] must be a string"},
		"cut off in a string":   {`{"emails":["a`, "ends too early"},
		"cut off in the array":  {`{"emails":["a"`, "ends too early"},
		"cut off in a member":   {`{"x":`, "ends too early"},
		"a trailing comma":      {`{"emails":["a",]}`, "byte 14 is unexpected"},
		"text after the object": {`{"emails":[]} {}`, "nothing after it"},
		"byte order mark":       {"\uFEFF{]", "byte 4 is unexpected"},
		"cut off after a mark":  {"\uFEFF{", "at byte 4"},
		"two marks":             {"\uFEFF\uFEFF{}", "byte 3 is unexpected"},
		"high surrogate":        {`{"emails":["a","\ud800"]}`, "emails[1] is not JSON: byte 16 begins an escape"},
		"low surrogate":         {`{"emails":["x\uDC00y"]}`, "emails[0] is not JSON: byte"},
		"wrong order":           {`{"emails":["\udc00\ud800"]}`, "emails[0] is not JSON: byte"},
		"half after a pair":     {`{"emails":["\ud83d\ude00\ude00"]}`, "emails[0] is not JSON: byte"},
		"half after U+FFFD":     {`{"emails":["\ufffd\ud83d"]}`, "emails[0] is not JSON: byte"},
		"half before an escape": {`{"emails":["\ud83d\n"]}`, "emails[0] is not JSON: byte"},
		"details a string":      {`{"emails":[],"details":"true"}`, "details must be true or false"},
		"details a number":      {`{"details":1}`, "details must be true or false"},
		"policy a number":       {`{"emails":["a"],"policy":7}`, "policy must be the name"},
		"policy no name":        {`{"policy":"A b"}`, "policy must be the name"},
		"policy too long":       {`{"policy":"` + strings.Repeat("a", 65) + `"}`, "policy must be the name"},
		"half in a policy":      {`{"policy":"\ud800"}`, "begins an escape"},
		"not UTF-8":             {"{\"emails\":[\"a\xff\"]}", "byte 13 is not UTF-8"},
		"half in a value":       {`{"x":"\udc00","emails":["x"]}`, "byte 6 begins an escape"},
		"half in a name":        {`{"\ud800":1,"emails":["x"]}`, "byte 2 begins an escape"},
		"no escape":             {`{"emails":["\q"]}`, "emails[0] is not JSON: byte 12 begins an escape"},
		"too many and a number": {`{"emails":[` + strings.Repeat(`"a","b",`, 40) + `1]}`, "emails[80] must be a string"},
		"a comma and no name":   {`{"emails":[],}`, "byte 12 is unexpected"},
		"a number for a name":   {`{1:2}`, "byte 1 is unexpected"},
		"10,000 arrays":         {`{"x":` + strings.Repeat("[", 9999) + strings.Repeat("]", 9999) + `,"emails":3}`, "emails must be"},
		"too many arrays":       {`{"x":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `}`, "nested more than 10,000 deep, at byte 10004"},
		"too many objects":      {"\uFEFF" + strings.Repeat(`{"x":`, 10_001), "nested more than 10,000 deep, at byte 50003"},
		"too many in emails":    {`{"emails":` + strings.Repeat("[", 10_001), "nested more than 10,000 deep, at byte 10009"},
	} {
		t.Run(name, func(t *testing.T) {
			_, p := decodeBatch([]byte(c.body))
			require.NotNil(t, p)
			require.Equal(t, "INVALID_REQUEST", p.Name)
			require.Contains(t, p.Message, c.want)
		})
	}
}

func TestDecodeBatch(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want []string
	}{
		"missing":             {`{}`, nil},
		"empty":               {`{"emails":[]}`, nil},
		"escapes":             {`{"emails":["\u0061\u0000","b"]}`, []string{"a\x00", "b"}},
		"other members":       {`{"a":[{"emails":1}],"emails":["x"],"Emails":7}`, []string{"x"}},
		"emails twice":        {`{"emails":["x"],"emails":["y"]}`, []string{"y"}},
		"white space":         {" \n{ \"emails\" : [ \"x\" ] }\r\n\t", []string{"x"}},
		"empty body":          {``, nil},
		"only a mark":         {"\uFEFF", nil},
		"null":                {` null `, nil},
		"emails null":         {`{"emails":null}`, nil},
		"mark":                {"\uFEFF{\"emails\":[\"x\"]}", []string{"x"}},
		"pair":                {`{"emails":["\ud83d\ude00"]}`, []string{"\U0001F600"}},
		"U+FFFD":              {`{"emails":["\ufffd\uFFFD\\ud800"]}`, []string{"\uFFFD\uFFFD\\ud800"}},
		"wrong, then right":   {`{"emails":[1,{"a":[]}],"details":2,"emails":["x"],"details":null}`, []string{"x"}},
		"an array, then null": {`{"emails":["x"],"emails":null}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			body := []byte(c.body)
			given, p := decodeBatch(body)
			require.Nil(t, p)
			require.Equal(t, c.body, string(body), "it was changed")
			require.Equal(t, c.want, given.emails)
			require.Equal(t, len(c.want), given.received)
		})
	}
}

func TestDecodeBatchDetails(t *testing.T) {
	for body, want := range map[string]bool{
		`{"emails":["x"]}`:                                     false,
		`{"emails":["x"],"details":true}`:                      true,
		`{"details" :\ttrue\n,"emails":["x"]}`:                 true,
		`{"emails":["x"],"details":false}`:                     false,
		`{"emails":["x"],"details":null}`:                      false,
		`{"emails":["x"],"details":true,"details":false}`:      false,
		`{"emails":["x"],"Details":true}`:                      false,
		`{"emails":["x"],"details":false,"\u0064etails":true}`: true,
		`{"emails":["x"],"other":{"details":true}}`:            false,
	} {
		given, p := decodeBatch([]byte(strings.NewReplacer(`\t`, "\t", `\n`, "\n").Replace(body)))
		require.Nil(t, p, body)
		require.Equal(t, want, given.options.Details, body)
	}
}

// FuzzDecodeBatch checks that the decoder accepts what encoding/json accepts, and
// returns a short problem for the rest.
func FuzzDecodeBatch(f *testing.F) {
	for _, seed := range []string{
		`{"emails":["a@b","c"]}`,                              // usual
		`{"emails":["a"],"emails":[1]}`,                       // the last member counts
		`{"x":{"y":[]},"emails":[]}`,                          // other members are ignored
		` { "\\u0065mails" :[ ] , "details": true,"y":"\\""}`, // names are unescaped
		`{"emails":["\ud83d\ude00","\ud83"]}`,                 // surrogates, cut off
		`{"emails":[],}`, `[`, "\xff", `{"emails":["a"]}x`,    // refused
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		given, p := decodeBatch(body)
		text := bytes.TrimPrefix(body, []byte(byteOrderMark))
		if p != nil {
			require.Equal(t, "INVALID_REQUEST", p.Name)
			require.Less(t, len(p.Message), 200)
			require.False(t, isBatch(text), "refused")
			return
		}
		require.True(t, utf8.Valid(text))
		var want map[string]json.RawMessage
		var emails []string
		if len(text) > 0 {
			require.NoError(t, json.Unmarshal(text, &want))
		}
		require.Contains(t, []string{"", "null", "false", "true"}, string(want["details"]))
		if given.options.Policy != "" || want["policy"] != nil && string(want["policy"]) != "null" {
			require.NoError(t, book.CheckPolicyName(given.options.Policy))
			var name string
			require.NoError(t, json.Unmarshal(want["policy"], &name))
			require.Equal(t, name, given.options.Policy)
		}
		require.Equal(t, string(want["details"]) == "true", given.options.Details)
		if want["emails"] != nil {
			require.NoError(t, json.Unmarshal(want["emails"], &emails))
		}
		require.Equal(t, len(emails), given.received)
		distinct := slices.Compact(slices.Sorted(slices.Values(emails)))
		require.Equal(t, len(distinct) > maxUnique, given.exceeded)
		for n, email := range given.emails {
			require.Equal(t, n, slices.Index(given.emails, email), "each once")
			require.Contains(t, emails, email)
			requireEcho(t, email, text)
		}
		require.Len(t, given.emails, min(len(distinct), maxUnique))
	})
}

// isBatch reports whether encoding/json decodes text as a batch, without an escape that
// could be half of a surrogate pair.
func isBatch(text []byte) bool {
	var into struct{ Emails, Details, Policy any }
	var members map[string]json.RawMessage
	if !utf8.Valid(text) || bytes.Contains(text, []byte(`\u`)) || json.Unmarshal(text, &members) != nil {
		return false
	}
	_ = json.Unmarshal(members["emails"], &into.Emails) // fails for an absent member
	_ = json.Unmarshal(members["details"], &into.Details)
	_ = json.Unmarshal(members["policy"], &into.Policy)
	name, isName := into.Policy.(string)
	emails, isArray := into.Emails.([]any)
	_, isBool := into.Details.(bool)
	return (isArray || into.Emails == nil) && (isBool || into.Details == nil) && (isName && book.CheckPolicyName(name) == nil || into.Policy == nil) &&
		!slices.ContainsFunc(emails, func(v any) bool { _, isString := v.(string); return !isString })
}

// requireEcho requires that a U+FFFD in an address was sent as such.
func requireEcho(t *testing.T, email string, text []byte) {
	if strings.ContainsRune(email, utf8.RuneError) {
		require.True(t, bytes.ContainsRune(text, utf8.RuneError) || bytes.Contains(bytes.ToLower(text), []byte(`\ufffd`)))
	}
}

func TestNotJSONOmitsInput(t *testing.T) {
	for _, body := range []string{`{"emails": secret@mail.example}`, `{"secret": x}`, `{"emails": {"secret": x}}`, `{"emails": ["secret\x"]}`, "\"secret\n"} {
		_, p := decodeBatch([]byte(body))
		require.NotContains(t, p.Message, "secret")
	}
}

func TestDecodeBatchDuplicates(t *testing.T) {
	literal, p := decodeBatch([]byte(`{"emails":["\\u0062","\u0062"]}`))
	require.Nil(t, p)
	require.Equal(t, []string{`\u0062`, "b"}, literal.emails)

	given, p := decodeBatch([]byte(`{"emails":["b","a","\u0062","b","B", "\u0061", "a"]}`))
	require.Nil(t, p)
	require.Equal(t, []string{"b", "a", "B"}, given.emails)
	require.Equal(t, 7, given.received)
}

// Decoding a body of many short strings takes little memory.
func TestDecodeBatchManyAddresses(t *testing.T) {
	var body strings.Builder
	body.WriteString(`{"emails":[`)
	for n := range 100_000 {
		fmt.Fprintf(&body, `"%d","a",`, n)
	}
	body.WriteString(`"b"]}`)
	allocations := testing.AllocsPerRun(1, func() {
		given, p := decodeBatch([]byte(body.String()))
		require.Nil(t, p)
		require.True(t, given.exceeded)
		require.Equal(t, 200_001, given.received)
	})
	require.Less(t, allocations, 1000.0)
}
