package blob

import (
	"encoding/hex"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/addrspec/addrspec/lists"
	"github.com/stretchr/testify/require"
)

// TestLayoutExample packs and opens the blob that the documentation of package
// format decodes by hand.
func TestLayoutExample(t *testing.T) {
	example := layoutExample(t)
	packed, err := Pack(Content{
		Date: "2026.11.20",
		Domains: map[string]Kind{
			"tempmail.com":   {Class: lists.Disposable, Subdomains: true, Carriers: 0b10},
			"tempmailer.com": {Class: lists.Disposable, Carriers: 0b11},
		},
		Sources:   []lists.Source{{Name: "a/b.txt", Domains: "1"}, {Name: "n:c", Version: "1.0", Licence: "MIT", Domains: "2"}},
		Roles:     map[string]lists.Word{"hr": lists.Word(lists.HR)},
		Targets:   []byte("aol.com\n"),
		TopLevels: []byte("com\n"),
		Providers: map[string]int{"gmail.com": 1},
		Rules:     []lists.Rule{{Name: "gmail", Tags: true, Ignored: ".", Domain: "gmail.com"}},
		Exchanges: map[string]int{"aol.com": 1},
		Operators: []lists.Exchange{{Class: "mailbox", Provider: "AOL"}},
	})
	require.NoError(t, err)
	for i, b := range packed {
		require.Less(t, i, len(example))
		require.Equal(t, b, example[i], "byte %d", i)
	}
	require.Len(t, example, len(packed))

	l, err := lists.Open(example)
	require.NoError(t, err)
	require.Equal(t, lists.Disposable, l.Provider([]byte("a.tempmail.com")))
	require.Equal(t, lists.Disposable, l.Provider([]byte("tempmailer.com")))
	require.Zero(t, l.Provider([]byte("a.tempmailer.com")))
	require.Equal(t, lists.HR, l.Word([]byte("hr")).Class())
	m := l.Match([]byte("a.tempmail.com"))
	require.Equal(t, "tempmail.com", string(m.Entry))
	require.False(t, m.CarriedBy(0))
	require.True(t, m.CarriedBy(1))
	require.Equal(t, "n:c", l.Sources()[1].Name)
	require.Equal(t, "gmail", l.Rule([]byte("gmail.com")).Name)
	require.Nil(t, l.Rule([]byte("googlemail.com")))
	e, suffix := l.Exchange([]byte("mx.aol.com"))
	require.Equal(t, lists.Exchange{Class: "mailbox", Provider: "AOL"}, *e)
	require.Equal(t, "aol.com", string(suffix))
}

// layoutExample returns the bytes of the example. Its lines are "//", a tab,
// bytes, ";" and a comment.
func layoutExample(t *testing.T) (example []byte) {
	source, err := os.ReadFile("../format/format.go")
	require.NoError(t, err)
	_, text, found := strings.Cut(string(source), "// # Example\n")
	require.True(t, found)
	for _, line := range regexp.MustCompile(`(?m)^//\t([^;\n]*);`).FindAllStringSubmatch(text, -1) {
		example = append(example, parseBytes(t, line[1])...)
	}
	return example
}

// parseBytes reads bytes in hexadecimal, such as "01 ff", and repetitions of
// them, such as "727*(00 00)".
func parseBytes(t *testing.T, line string) (bytes []byte) {
	for _, token := range regexp.MustCompile(`(\d+)\*\(([^)]*)\)|(\S+)`).FindAllStringSubmatch(line, -1) {
		times := 1
		if token[1] != "" {
			var err error
			times, err = strconv.Atoi(token[1])
			require.NoError(t, err)
		}
		decoded, err := hex.DecodeString(strings.ReplaceAll(token[2]+token[3], " ", ""))
		require.NoError(t, err, line)
		bytes = append(bytes, strings.Repeat(string(decoded), times)...)
	}
	return bytes
}
