package idna

import (
	"strings"
	"testing"

	"github.com/addrspec/addrspec/core/internal/idnatest"
	"github.com/stretchr/testify/require"
)

func TestMappingOfEveryCharacter(t *testing.T) {
	c := new(Converter)
	idnatest.Scalars(func(r rune) {
		if r < 0x80 || strings.ContainsRune("\u3002\uFF0E\uFF61\u1E9E", r) {
			return // three dots, which core splits at; and the capital sharp s, which UTS #46 maps to ß since revision 33
		}
		label := "0" + string(r) + "0"
		v := c.mapLabel([]byte(label))
		want, err := idnatest.Map(label)
		if v.Rule == None {
			require.NoError(t, err, "%U", r)
			require.Equal(t, want, string(c.text.appendTo(nil)), "%U", r)
		} else if err == nil {
			require.True(t, idnatest.KnownDifference(want), "%U is refused", r)
			require.Equal(t, 1, v.Offset)
		}
	})
}
