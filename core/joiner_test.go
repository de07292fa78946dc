package core

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A local part may have joiners where a label may (RFC 5892 appendix A.1 and A.2).
func TestJoinersInLocalParts(t *testing.T) {
	for _, local := range []string{
		"\u0DC1\u0DCA\u200D\u0DBB\u0DD3",                    // Sinhala
		"\u0D15\u0D4D\u200D.\u0D28\u0D4D\u200D",             // Malayalam, at the end of a word
		"\u0639\u0644\u06CC\u200C\u0631\u0636\u0627+\u0628", // Persian
		"\u0915\u094D\u200C\u0937",
	} {
		for _, email := range []string{local + "@example.org", `"` + local + `"@example.org`} {
			f := Check(email)
			require.True(t, f.Valid, "%+q: %s", email, f.Why())
			require.Equal(t, local+"@example.org", string(f.Normalized))
		}
	}
	f := Check("\u0915\u094D\u0301\u200D@example.org") // NFC keeps the order: the accent is above
	require.Equal(t, Refusal{Reason: invisibleCharacter, Offset: 8}, f.Refusal)
	f = Check("\u0915\u094D\u093C\u200D@example.org") // NFC moves the nukta before the virama
	require.Equal(t, "\u0915\u093C\u094D\u200D@example.org", string(f.Normalized))
	require.True(t, Check(string(f.Normalized)).Valid)
	for email, offset := range map[string]int{
		"a\u200D@example.org":                                    1,
		"\u200Ca@example.org":                                    0,
		"\U0001F468\u200D\U0001F469@example.org":                 4,
		"(c) \u0628\u200C\u0628\u200C@example.org":               11,
		"\u0DC1\u0DCA\u200D.\u200D@example.org":                  10,
		"(\u0DC1\u0DCA\u200D)jane@example.org":                   7,
		"\u0628\u200C.\u0628@example.org":                        2,
		"\"\u0DC1\u0DCA\u200D \u200D\"@[1]":                      11,
		"\u0628\u200C\u0621@-example.org":                        2,
		"\u0639\u0644\u06CC\u200D\u0631\u0636\u0627@example.org": 6,
		"jane@[\u0DC1\u0DCA\u200D]":                              12,
		"\u0628\u200B\u0628@example.org":                         2,
	} {
		require.Equal(t, Refusal{Reason: invisibleCharacter, Offset: offset}, Check(email).Refusal, "%+q", email)
	}
}
