package core

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/addrspec/addrspec/core/internal/ascii"
	"github.com/addrspec/addrspec/lists"
	"github.com/stretchr/testify/require"
)

// result is the JSON object of the contract.
type result struct {
	Email      string  `json:"email"`
	Valid      bool    `json:"valid"`
	Normalized *string `json:"normalized"`
	LocalPart  *string `json:"local_part"`
	Alias      bool    `json:"alias"`
	ASCII      bool    `json:"ascii"`
	Role       *string `json:"role"`
	Gibberish  bool    `json:"gibberish"`
	Score      float64 `json:"gibberish_score"`
	Domain     *string `json:"domain"`
	MX         *bool   `json:"mx"`
	Disposable bool    `json:"disposable"`
	Public     bool    `json:"public"`
	Relay      bool    `json:"relay"`
	Typo       bool    `json:"typo"`
	Suggestion *string `json:"typo_suggestion"`
}

func decode(t *testing.T, text []byte) (r result) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&r), "%s", text)
	return r
}

// text returns s with malformed UTF-8 replaced, since JSON cannot contain it.
func text(t *testing.T, s []byte) *string {
	if s == nil {
		return nil
	}
	quoted, err := json.Marshal(string(s))
	require.NoError(t, err)
	var back string
	require.NoError(t, json.Unmarshal(quoted, &back))
	return &back
}

// FuzzAppendJSON decodes the result with encoding/json and compares it with the
// facts, for any bytes.
func FuzzAppendJSON(f *testing.F) {
	addSeeds(f)
	f.Add([]byte("\x00\b\t\n\f\r\x1b\"\\/\x7f\u2028\U0001f600\xff\xed\xa0\x80"))             // every kind of escape
	f.Add([]byte("plain words \u00e9\u6f22\xe6\xbc, \"then\" \\ others \x01\x02 and words")) // runs of each kind
	checker := New(lists.Default())
	f.Fuzz(func(t *testing.T, email []byte) {
		facts := checker.Check(email)
		out, at := AppendJSON([]byte("x"), &facts, false)
		require.Equal(t, withBool(len(facts.Host) > 0, "null", "false"), string(out[at.MX.Start:at.MX.End]))
		require.Equal(t, strconv.FormatBool(facts.Disposable), string(out[at.Disposable.Start:at.Disposable.End]))
		require.Equal(t, `,"disposable":`, string(out[at.MX.End:at.Disposable.Start]))
		require.Equal(t, `,"public":`, string(out[at.Disposable.End:][:10]))
		require.Equal(t, `","valid":`, string(out[at.EmailEnd-1:at.EmailEnd+9]))
		got := decode(t, out[1:])
		if len(facts.Host) > 0 {
			require.Nil(t, got.MX)
		} else {
			require.False(t, *got.MX)
		}
		require.Equal(t, *text(t, email), got.Email)
		require.Equal(t, facts.Valid, got.Valid)
		require.Equal(t, text(t, facts.Normalized), got.Normalized)
		require.Equal(t, text(t, facts.LocalPart), got.LocalPart)
		require.Equal(t, text(t, facts.Domain), got.Domain)
		require.Equal(t, text(t, facts.Typo), got.Suggestion)
		if facts.Role == NoRole {
			require.Nil(t, got.Role)
		} else {
			require.Equal(t, facts.Role.String(), *got.Role)
		}
		require.InDelta(t, float64(facts.Gibberish)/100, got.Score, 1e-9)
		flags := [...]bool{got.Alias, got.ASCII, got.Gibberish, got.Disposable, got.Public, got.Relay, got.Typo}
		require.Equal(t, [...]bool{facts.Alias, facts.ASCII, facts.Gibberish >= Gibberish, facts.Disposable, facts.Public, facts.Relay, facts.Typo != nil}, flags)
	})
}

// TestIsPlainWord tries every byte at each position of a word, among plain bytes
// from both ends of their ranges.
func TestIsPlainWord(t *testing.T) {
	for _, fill := range []string{"a", " ", "!", "\x7f"} {
		for c := range 256 {
			for at := range 8 {
				text := []byte(strings.Repeat(fill, 8))
				text[at] = byte(c)
				require.Equal(t, isPlain(byte(c)), isPlainWord(ascii.Word(text)), "%q", text)
			}
		}
	}
}

// TestEscapesAreShort checks that no character takes more bytes than with
// encoding/json, and that two-character escapes are used.
func TestEscapesAreShort(t *testing.T) {
	for r := rune(0); r < 0x3000; r++ { // no character after U+2029 is escaped by either
		theirs, _ := json.Marshal(string(r))
		if ours := appendQuoted(nil, []byte(string(r))); len(ours) > len(theirs) {
			t.Errorf("%U: %s, longer than %s", r, ours, theirs)
		}
	}
	require.Equal(t, `"\b\t\n\f\r\"\\/`+"\x7f"+`\u0000\u001f"`, string(appendQuoted(nil, []byte("\b\t\n\f\r\"\\/\x7f\x00\x1f"))))
}

func TestFullSuggestion(t *testing.T) {
	facts := Facts{LocalPart: []byte(`"a\"b"`), Typo: []byte("example.com")}
	out, _ := AppendJSON(nil, &facts, true)
	require.Equal(t, `"a\"b"@example.com`, *decode(t, out).Suggestion)
}

func TestScoreFormat(t *testing.T) {
	for s := range Score(101) {
		want := strconv.FormatFloat(float64(s)/100, 'f', -1, 64)
		require.Equal(t, want, string(s.append(nil)))
	}
}
