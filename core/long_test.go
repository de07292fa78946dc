package core

import (
	"strings"
	"testing"

	"github.com/addrspec/addrspec/core/internal/ascii"
	"github.com/addrspec/addrspec/lists"
	"github.com/stretchr/testify/require"
)

// TestLongInput: an input over inputMax is refused whatever it contains; email
// and ascii still cover all of it.
func TestLongInput(t *testing.T) {
	checker := New(lists.Default())
	for _, c := range hostile {
		n := (inputMax + 1 - len(c.prefix) - len(c.suffix)) / len(c.repeated)
		text := c.prefix + strings.Repeat(c.repeated, n+1) + c.suffix
		facts := checker.Check([]byte(text))
		require.Equal(t, Facts{
			Email: []byte(text), ASCII: ascii.Is([]byte(text)),
			Refusal: Refusal{addressTooLong, addressMax, len(text) - addressMax},
		}, facts, c.name)
		json, _ := AppendJSON(nil, &facts, false)
		require.Equal(t, text, decode(t, json).Email, c.name)
	}
}

// TestInputMax: an input is refused for its length if and only if it is longer
// than inputMax, whether valid or not.
func TestInputMax(t *testing.T) {
	a := new(address)
	for _, v := range vectors(t) {
		for _, length := range []int{inputMax, inputMax + 1} {
			fill := length - len(v.Email) - len("()")
			if fill < 0 {
				continue
			}
			email := "(" + strings.Repeat("c", fill) + ")" + v.Email
			byLength := a.parse([]byte(email)) == Refusal{addressTooLong, addressMax, len(email) - addressMax}
			require.Equal(t, length > inputMax, byLength, "%d: %+q", length, v.Email)
		}
	}
}

// TestASCIIOfLongInput puts a byte that is not ASCII at both ends of the input
// and around inputMax.
func TestASCIIOfLongInput(t *testing.T) {
	checker, text := New(lists.Default()), []byte(strings.Repeat("a", 1<<20))
	require.True(t, checker.Check(text).ASCII)
	for _, at := range []int{0, 4095, 4096, 1<<20 - 9, 1<<20 - 1} {
		text[at] = 0x80
		require.False(t, checker.Check(text).ASCII, at)
		text[at] = 'a'
	}
}
