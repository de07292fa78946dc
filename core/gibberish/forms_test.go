package gibberish

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/core/gibberish/internal/filter"
)

func TestGenerated(t *testing.T) {
	for name := range strings.FieldsSeq("vadoke4821 zofeji9307 yiwuxo1186 gavek60312 xetiboz914 yuqag00000") {
		require.True(t, Generated([]byte(name)), name)
	}
	for name := range strings.FieldsSeq(`marina1985 yamato1234 ramirez123 tanaka1999 samira2024 kubat12345
		vadoke482 vadoke48213 vadok4821 vadokexi12 vadokexi1 advoke4821 vadoke_821 vadoke4a21 4821vadoke vadoek4821
		vadokk4821 Vadoke4821 vadoké4821 vadoke482a 1234567890`) {
		require.False(t, Generated([]byte(name)), name)
	}
	require.False(t, Generated(nil))
}

// tempMail is the contract's definition of the form, without the names.
var tempMail = regexp.MustCompile(`^([b-df-hj-np-tv-z][aeiou])+[b-df-hj-np-tv-z]?[0-9]{3,5}$`)

func FuzzGenerated(f *testing.F) {
	f.Add("vadoke4821")
	f.Add("vadokex482")
	f.Add("marina1985")
	f.Fuzz(func(t *testing.T, name string) {
		if Generated([]byte(name)) {
			require.Len(t, name, 10)
			require.Regexp(t, tempMail, name)
		} else if len(name) == 10 && tempMail.MatchString(name) {
			require.True(t, filter.Filter(packedNames).Has([]byte(strings.TrimRight(name, "0123456789"))), name)
		}
	})
}
