package idna

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAppendLabel(t *testing.T) {
	var c Converter
	c.Reset()
	for _, label := range []string{"Mail", "B\u00fccher", "XN--BCHER-KVA", "\uff45x", "STRA\u1e9eE"} {
		require.Equal(t, Violation{}, c.AppendLabel([]byte(label)), "%+q", label)
	}
	require.Equal(t, "mail.b\u00fccher.xn--bcher-kva.ex.stra\u00dfe", string(c.Domain))
	require.Equal(t, "mail.xn--bcher-kva.xn--bcher-kva.ex.xn--strae-oqa", string(c.Host))
	c.Reset()
	require.Empty(t, c.Domain)
	require.Empty(t, c.Host)
}

// TestViolations has a label for each rule; the offsets are in bytes of the label
// as given.
func TestViolations(t *testing.T) {
	for label, want := range map[string]Violation{
		"\u00e9\u2603":               {Rule: Character, Offset: 2},
		"\u00ad":                     {Rule: Character}, // only an ignored character
		"-a":                         {Rule: LeadingHyphen},
		"a-":                         {Rule: TrailingHyphen, Offset: 1},
		"\uff41-":                    {Rule: TrailingHyphen}, // mapped to ASCII
		"\u00e9-":                    {Rule: TrailingHyphen, Offset: 2},
		"ab--\u00e9":                 {Rule: InnerHyphens, Offset: 2},
		"\u0301a":                    {Rule: LeadingMark},
		"a\u00b7":                    {Rule: Context, Offset: 1},
		"\u05d0a":                    {Rule: Bidi},
		"xn--a":                      {Rule: Punycode},
		"xn--\u00e9":                 {Rule: Punycode},
		strings.Repeat("a", 65):      {Length, 63, 2},
		strings.Repeat("\u00e9", 60): {Length, 0, 3},
	} {
		var c Converter
		c.Reset()
		require.Equal(t, want, c.AppendLabel([]byte(label)), "%+q", label)
	}
}

// TestLongText checks that text over the fixed arrays is converted too.
func TestLongText(t *testing.T) {
	var c Converter
	long := strings.Repeat("\u00c9", 4*runesMax)
	require.Equal(t, strings.ToLower(long), string(c.AppendLowerNFC(nil, []byte(long))))
	c.Reset()
	require.Equal(t, Length, c.AppendLabel([]byte(long)).Rule)
}
