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
		"General\tinfo\n# a comment\nMarket eu\nIT/alone/ending devel\n": "",
		"general\tinfo\n":             `roles.txt:1: "general" is not a class of words; lists/role.go has them`,
		"IT/never dev\n":              `roles.txt:1: "never" is not a mark of IT words; lists/role.go has them`,
		"Place/alone london\n":        `roles.txt:1: "alone" is not a mark of Place words; lists/role.go has them`,
		"General info\nIT dev info\n": "roles.txt:2: info is listed twice",
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "roles.txt"), []byte(text), 0o644))
		words, err := ReadRoles(dir)
		if want != "" {
			require.EqualError(t, err, want)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, map[string]lists.Word{"info": lists.Word(lists.General), "eu": lists.Word(lists.Market),
			"devel": lists.Word(lists.IT) | lists.Alone | lists.Ending}, words)
	}
}
