package account

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPastedAddresses(t *testing.T) {
	for text, want := range map[string][]string{
		"a@b\r\nc@d\n\n a@b \n": {"a@b", "c@d"},
		"a@b, c@d;e@f":          {"a@b", "c@d", "e@f"},
		`"last, first"@b`:       {`"last, first"@b`},
		"jane, doe@example.org": {"jane, doe@example.org"},
		"no address":            {"no address"},
	} {
		got, err := pastedAddresses([]string{text})
		require.NoError(t, err)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", " \r\n ", ",;,"} {
		_, err := pastedAddresses([]string{text})
		require.EqualError(t, err, "Give at least one address.", text)
	}
}
