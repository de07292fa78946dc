package tables

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCanonical(t *testing.T) {
	for in, want := range map[string]string{
		"Mail.Example": "mail.example",
		"müll.email":   "xn--mll-hoa.email",
		"localhost":    "", "": "", "a..b": "", ".a.b": "", "a_b.example": "", "a b.example": "", "x@a.example": "",
	} {
		got, _ := Canonical(in)
		require.Equal(t, want, got, in)
	}
}

func FuzzCanonical(f *testing.F) {
	f.Add("Mail.Example") // upper case
	f.Add("müll.email")   // a U-label
	f.Add("a..b")         // an empty label
	f.Fuzz(func(t *testing.T, s string) {
		name, err := Canonical(s)
		if err != nil {
			return
		}
		again, err := Canonical(name)
		require.NoError(t, err)
		require.Equal(t, name, again)
	})
}
