package ascii

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWords tries every byte at each position of a word, among bytes from both
// ends of the ASCII range.
func TestWords(t *testing.T) {
	for _, fill := range []string{"\x00", "a", " ", "!", "\x7f"} {
		for c := range 256 {
			for at := range 8 {
				text := []byte(strings.Repeat(fill, 8))
				text[at] = byte(c)
				word := Word(text)
				require.Equal(t, c < 0x80, Is(text), "%q", text)
				require.Equal(t, c < 0x80, Is(text[at:]), "%q", text[at:])
				require.Equal(t, c < 0x80, IsWord(word), "%q", text)
				require.Equal(t, bytes.IndexByte(text, '"') >= 0, HasByte(word, '"'), "%q", text)
				if c < 0x80 {
					require.Equal(t, min(text[at], fill[0]) < ' ', HasLess(word, ' '), "%q", text)
				}
			}
		}
	}
}

func TestLowerCase(t *testing.T) {
	for c := range 0x80 {
		require.Equal(t, bytes.ToLower([]byte{byte(c)}), AppendLower(nil, []byte{byte(c)}))
	}
	s := []byte("MailTo:\u00c9")
	require.Equal(t, "mailto:\u00c9", string(AppendLower(s[:0], s)), "in place; letters beyond ASCII remain")
	require.True(t, HasPrefixFold([]byte("MAILTO:x"), "mailto:"))
	require.False(t, HasPrefixFold([]byte("mailto"), "mailto:"))
	require.False(t, HasPrefixFold([]byte("mailt\u00f6:"), "mailto:"))
}
