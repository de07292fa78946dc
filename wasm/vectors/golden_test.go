package vectors

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/core/policy"
	"github.com/addrspec/addrspec/lists"
)

func TestNativeCore(t *testing.T) {
	files, err := Read(".")
	require.NoError(t, err)
	native := Native()
	for path, list := range files {
		for n, v := range list {
			require.Equal(t, v.Result, string(native(v.Email, false)),
				"%s:%d: if the new result is right, run go generate ./wasm/vectors", path, n+1)
		}
	}
}

func TestNativeCoreDetails(t *testing.T) {
	files, err := ReadDetails(".")
	require.NoError(t, err)
	native := NativeDetails()
	for path, list := range files {
		for n, v := range list {
			require.Equal(t, v.Result, string(native(v.Email)),
				"%s:%d: if the new result is right, run go generate ./wasm/vectors", path, n+1)
		}
	}
}

// TestGenerate checks that there are many valid and many invalid addresses, with
// many reasons.
func TestGenerate(t *testing.T) {
	list := Generate(1, 10_000)
	require.Equal(t, list, Generate(1, 10_000), "the same seed")
	require.NotEqual(t, list, Generate(2, 10_000))
	report, codes := NativeReport(), map[string]int{}
	for _, email := range list {
		codes[report(email).Code]++
	}
	require.Greater(t, codes[""], 2000, "valid")
	require.Greater(t, 10_000-codes[""], 2000, "not valid")
	require.Greater(t, len(codes), 20, "reasons: %v", codes)
}

func TestNativePolicies(t *testing.T) {
	cases, err := ReadPolicies(".")
	require.NoError(t, err)
	require.Greater(t, len(cases), 80)
	for n, c := range cases {
		require.Equal(t, c.Error+string(c.Verdict), c.NativeVerdict(), "policies.jsonl:%d: %s %s", n+1, c.Document, c.Email)
		_, err := policy.Parse([]byte(c.Document), core.New(lists.Default()))
		if refused, ok := err.(*policy.Error); ok {
			require.Equal(t, []any{c.Place, c.Offset}, []any{refused.Place, refused.Offset}, c.Document)
		}
	}
}
