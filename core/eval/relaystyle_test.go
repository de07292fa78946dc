package main

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRelayStyleHasEveryForm(t *testing.T) {
	names := relayStyle(200)
	require.Equal(t, names, relayStyle(200))
	require.Len(t, names, 800)
	for i, form := range []string{`^[b-z2-9]{10}$`, `^[a-z0-9]{8}$`, `^[a-z0-9]{9}$`, `^[0-9a-f]{8}$`} {
		for _, name := range names[200*i : 200*(i+1)] {
			require.Regexp(t, regexp.MustCompile(form), name)
			require.NotRegexp(t, `^\d+$`, name)
		}
	}
}
