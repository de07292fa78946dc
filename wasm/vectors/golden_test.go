package vectors

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNativeCoreGivesTheGoldenAnswers(t *testing.T) {
	files, err := Read(".")
	require.NoError(t, err)
	native := Native()
	for path, list := range files {
		for n, v := range list {
			require.Equal(t, v.Answer, string(native(v.Email, false)),
				"%s:%d: where the new answer is right, run go generate ./wasm/vectors", path, n+1)
		}
	}
}

// Valid and refused addresses, usual and odd ones, all come in numbers.
func TestGenerateMakesAllKinds(t *testing.T) {
	list := Generate(1, 10_000)
	require.Equal(t, list, Generate(1, 10_000), "one seed, one list")
	require.NotEqual(t, list, Generate(2, 10_000))
	report, codes := NativeReport(), map[string]int{}
	for _, email := range list {
		codes[report(email).Code]++
	}
	require.Greater(t, codes[""], 2000, "valid")
	require.Greater(t, 10_000-codes[""], 2000, "refused")
	require.Greater(t, len(codes), 20, "reasons: %v", codes)
}
