package core

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// vector is one line of testdata/addresses.jsonl: an address and either its
// forms or its refusal. The lines were written from the RFCs that they cite; other
// implementations can use the file too.
type vector struct {
	Email string `json:"email"`
	About string `json:"about"`

	Normalized string `json:"normalized"`
	LocalPart  string `json:"local_part"`
	Domain     string `json:"domain"`
	Host       string `json:"host"` // the name to look up

	Reason string `json:"reason"`
	Offset int    `json:"offset"` // in bytes
	Excess int    `json:"excess"`
}

func vectors(t testing.TB) (all []vector) {
	data, err := os.ReadFile("testdata/addresses.jsonl")
	require.NoError(t, err)
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		var v vector
		decoder := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		decoder.DisallowUnknownFields()
		require.NoError(t, decoder.Decode(&v), "%s", lines.Bytes())
		require.True(t, (v.Reason == "") != (v.Normalized == ""), "%s", lines.Bytes())
		all = append(all, v)
	}
	require.NoError(t, lines.Err())
	return all
}

func TestVectors(t *testing.T) {
	a := new(address)
	for _, v := range vectors(t) {
		got := vector{Email: v.Email, About: v.About}
		if r := a.parse([]byte(v.Email)); r.Reason == Accepted {
			got.Normalized, got.LocalPart, got.Domain, got.Host = string(a.normalized), string(a.local), string(a.domain), string(a.host)
		} else {
			got.Reason, got.Offset, got.Excess = r.Reason.Code(), r.Offset, r.Excess
		}
		require.Equal(t, v, got, "%+q", v.Email)
	}
}

// TestEveryReasonHasAVector checks that the catalogue and the vectors are
// complete.
func TestEveryReasonHasAVector(t *testing.T) {
	seen := map[string]bool{"malformed_utf8": true} // JSON cannot contain it; see TestMalformedUTF8
	for _, v := range vectors(t) {
		seen[v.Reason] = true
	}
	for r := Accepted + 1; int(r) < len(catalogue); r++ {
		require.NotEmpty(t, r.Section(), r.Code())
		require.NotEmpty(t, catalogue[r].sentence, r.Code())
		require.True(t, seen[r.Code()], `core/testdata/addresses.jsonl lacks an address with "reason":%q`, r.Code())
	}
}

func TestMalformedUTF8(t *testing.T) {
	for _, c := range []struct {
		email  string
		offset int
		about  string
	}{
		{"\xff@example.com", 0, "a byte that UTF-8 never uses"},
		{"jane\x80@example.com", 4, "a lone continuation byte"},
		{"jan\xc3@example.com", 3, "truncated before the @"},
		{"jane@example.com\xe2\x82", 16, "truncated at the end"},
		{"\xc0\xaf@example.com", 0, "two bytes for an ASCII character"},
		{"\xe0\x80\xaf@example.com", 0, "three bytes for an ASCII character"},
		{"\xed\xa0\x80@example.com", 0, "a surrogate"},
		{"\xf4\x90\x80\x80@example.com", 0, "beyond U+10FFFF"},
		{"\"j\xff\"@example.com", 2, "in a quoted string"},
		{"\"\\\xff\"@example.com", 2, "in a quoted-pair"},
		{"\"\\\x80\"@example.com", 2, "a lone continuation byte in a quoted-pair"},
		{"\"\x80\"@example.com", 1, "a lone continuation byte in a quoted string"},
		{"(\xff)jane@example.com", 1, "in a comment"},
		{"jane@exam\xffple.com", 9, "in a domain"},
		{"jane@[\xff]", 6, "in an address literal"},
		{"j\u00f6rg\xff", 5, "before a missing @"},
	} {
		require.Equal(t, Refusal{Reason: malformedUTF8, Offset: c.offset}, new(address).parse([]byte(c.email)), c.about)
	}
}

// TestSentenceHasNoHiddenCharacters puts every byte and hidden character at every
// position: no sentence may repeat one that is hidden.
func TestSentenceHasNoHiddenCharacters(t *testing.T) {
	check := func(email string) {
		r := new(address).parse([]byte(email))
		require.NotEqual(t, Accepted, r.Reason)
		for _, c := range string(r.AppendSentence(nil, []byte(email))) {
			require.Equal(t, Accepted, hidden(c), "%+q", email)
		}
	}
	for _, place := range []string{"%@example.com", "jane%", "jane@x%y", "\"%", "\"\\%\"@", "(%", "jane@[%", "jane@example.com%", "jane %@", "mail <%"} {
		for c := range 256 {
			check(string(bytes.ReplaceAll([]byte(place+"@@"), []byte("%"), []byte{byte(c)})))
		}
		for i := range hiddenRanges {
			check(string(bytes.ReplaceAll([]byte(place+"@@"), []byte("%"), []byte(string(hiddenRanges[i].first)))))
		}
	}
}

func TestSentences(t *testing.T) {
	for email, sentence := range map[string]string{
		"jane.@example.com":          "the local part ends with a dot; remove it",
		"jane\u200b@example.com":     "the address has the invisible character U+200B zero width space; remove it",
		"jane\x00@example.com":       "the address has the control character U+0000 null; remove it",
		"jane\u009f@example.com":     "the address has the control character U+009F; remove it",
		"jane@exam\u2013ple.com":     "the domain has \"\u2013\" (U+2013); use letters, digits, hyphens and dots alone",
		"jane\"doe\"@example.com":    "the local part has a double quote inside; remove it, or put the whole local part in double quotes",
		"\xffjane@example.com":       "the address has byte 0xFF, which is not well-formed UTF-8; encode the address in UTF-8",
		"jane@example.com,":          "the domain has \",\" after it; remove it, and give one address at a time",
		"\U000e0041jane@example.com": "the address has the invisible character U+E0041 tag character; remove it",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa@example.com":       "the local part is 1 byte too long; at most 64 fit",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa@example": "the local part is 11 bytes too long; at most 64 fit",
	} {
		r := new(address).parse([]byte(email))
		require.Equal(t, sentence, string(r.AppendSentence(nil, []byte(email))))
	}
}
