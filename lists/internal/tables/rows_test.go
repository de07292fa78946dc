package tables

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/lists"
)

func TestCanonical(t *testing.T) {
	for in, want := range map[string]string{
		"Mail.Example": "mail.example",
		"müll.email":   "xn--mll-hoa.email",
		"localhost":    "", "": "", "a..b": "", ".a.b": "", "a_b.example": "", "a b.example": "", "x@a.example": "",
	} {
		got, _ := Canonical(in)
		require.Equal(t, want, got, in)
	}
}

func FuzzCanonical(f *testing.F) {
	f.Add("Mail.Example") // upper case
	f.Add("müll.email")   // a U-label
	f.Add("a..b")         // an empty label
	f.Fuzz(func(t *testing.T, s string) {
		name, err := Canonical(s)
		if err != nil {
			return
		}
		again, err := Canonical(name)
		require.NoError(t, err)
		require.Equal(t, name, again)
	})
}

func TestReadRoles(t *testing.T) {
	for text, want := range map[string]string{
		"General\tinfo\n# a comment\nMarket eu\nIT/alone/ending devel\nHR/weak job\n": "",
		"general\tinfo\n":             `roles.txt:1: "general" is not a class of words; lists/role.go has them`,
		"IT/never dev\n":              `roles.txt:1: "never" is not a mark of IT words; roles.txt has them`,
		"Place/alone london\n":        `roles.txt:1: "alone" is not a mark of Place words; roles.txt has them`,
		"General info\nIT dev info\n": "roles.txt:2: info is listed twice",
		"General Инфо\n":              "roles.txt:1: Инфо is not in lower case and NFC",
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
			"devel": lists.Word(lists.IT) | lists.Alone | lists.Ending, "job": lists.Word(lists.HR) | lists.Weak}, words)
	}
}

func TestReadTopLevels(t *testing.T) {
	dir := t.TempDir()
	write := func(file, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644))
	}
	write("top-levels.txt", "# comment\ncom\njp\n")
	_, err := ReadTopLevels(dir)
	require.ErrorIs(t, err, os.ErrNotExist)
	write("second-levels.txt", "co.jp\nne.jp\n")
	got, err := ReadTopLevels(dir)
	require.NoError(t, err)
	require.Equal(t, "co.jp\ncom\njp\nne.jp\n", string(got))
	write("second-levels.txt", "ne.jp\nco.jp\n")
	_, err = ReadTopLevels(dir)
	require.ErrorContains(t, err, "co.jp comes after ne.jp")
}
