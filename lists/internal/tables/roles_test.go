package tables

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/addrspec/addrspec/lists"
	"github.com/stretchr/testify/require"
)

func TestReadRoles(t *testing.T) {
	for text, want := range map[string]string{
		"info\tGeneral\n# a comment\neu Qualifier\n": "",
		"info\tgeneral\n":           `roles.txt:1: info: "general" is not one of the ten roles, nor Qualifier`,
		"info\n":                    `roles.txt:1: info: "" is not one of the ten roles, nor Qualifier`,
		"info\tGeneral\ninfo\tIT\n": "roles.txt:2: info is listed twice",
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "roles.txt"), []byte(text), 0o644))
		words, err := ReadRoles(dir)
		if want != "" {
			require.EqualError(t, err, want)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, map[string]lists.Role{"info": lists.General, "eu": lists.Qualifier}, words)
	}
}
