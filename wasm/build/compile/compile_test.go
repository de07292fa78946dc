package compile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestInline(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.go")
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	write("x.bin", "\x00\xffé\"\n")
	for _, c := range []struct{ name, source, want string }{
		{"bytes", "import _ \"embed\"\n\n// doc\n//\n//go:embed x.bin\nvar x []byte\n",
			"import _ \"unsafe\"\n\n// doc\n//\nvar x = []byte(\"\\x00\\xff\\u00e9\\\"\\n\")\n"},
		{"a string in a group", "var (\n\t//go:embed x.bin\n\tx string\n)\n",
			"var (\n\tx = string(\"\\x00\\xff\\u00e9\\\"\\n\")\n)\n"},
		{"nothing embedded", "var x []byte\n", "var x []byte\n"},
	} {
		write("a.go", c.source)
		got, changed, err := inline(file)
		require.NoError(t, err)
		require.Equal(t, c.want, string(got), c.name)
		require.Equal(t, c.want != c.source, changed, c.name)
	}
	write("a.go", "//go:embed missing\nvar x []byte\n")
	_, _, err := inline(file)
	require.ErrorContains(t, err, "missing")
}

// Each build uses a new temporary directory; its path must not get into the module.
func TestReactorIsReproducible(t *testing.T) {
	first, err := Reactor(t.Context())
	require.NoError(t, err)
	second, err := Reactor(t.Context())
	require.NoError(t, err)
	require.Equal(t, first, second)
}
