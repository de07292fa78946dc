package page

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVisible(t *testing.T) {
	for text, want := range map[string]string{"": "", "jürgen@例え.jp": "jürgen@例え.jp", "a\x1b[31m": "a[U+001B][31m", "\u202eb\u200b": "[U+202E]b[U+200B]", "\xff": "[U+FFFD]",
		strings.Repeat("é", 321): strings.Repeat("é", 320) + "… (642 bytes)"} {
		require.Equal(t, want, Visible(text))
	}
}
