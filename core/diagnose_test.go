package core

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHintsNameTheMistake: a hint is about what is wrong, not about what is beside it.
func TestHintsNameTheMistake(t *testing.T) {
	for email, want := range map[string]Refusal{
		// a display name may have any character
		"\U0001F469\u200D\U0001F680 Jane <jane@example.org>": {Reason: angleBracket, Offset: 17},
		"\U0001F469\u200D\U0001F680<jane@example.org>":       {Reason: angleBracket, Offset: 11},
		"\u200BJane <jane@example.org>":                      {Reason: angleBracket, Offset: 8},
		"Jane\u202C <jane@example.org>":                      {Reason: angleBracket, Offset: 8},
		"Jane <jane@example.org":                             {Reason: angleBracket, Offset: 5},
		"jane@example.org>":                                  {Reason: angleBracket, Offset: 16},
		// an angle bracket that is around no address
		"a<b@x.com":                {Reason: localPartCharacter, Offset: 1},
		"a>b@x.com":                {Reason: localPartCharacter, Offset: 1},
		"jane@exam<ple.org":        {Reason: domainCharacter, Offset: 9},
		"jane@exam>ple.org":        {Reason: domainCharacter, Offset: 9},
		"jane@<example.org>":       {Reason: domainCharacter, Offset: 5},
		"Jane <jane>@example.org":  {Reason: localPartCharacter, Offset: 5},
		"jane@example.org <Jane>":  {Reason: domainCharacter, Offset: 17},
		"j\u200Bane<a@example.org": {Reason: invisibleCharacter, Offset: 1},
		// an invisible character in the address itself
		"\U0001F469\u200D\U0001F680@example.org": {Reason: invisibleCharacter, Offset: 4},
		"Jane <ja\u200Bne>":                      {Reason: noAt, Offset: 14},
		"\u200Bjane":                             {Reason: invisibleCharacter},
	} {
		require.Equal(t, want, new(address).parse([]byte(email)), "%+q", email)
	}
}
