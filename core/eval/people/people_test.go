package people

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProvable(t *testing.T) {
	for _, c := range []struct {
		local, name string
		want        bool
	}{
		{"jane.doe", "Jane Doe", true},
		{"jdoe42", "Jane Doe", true},
		{"jd", "Jane Doe", true},
		{"dj77", "Jane Doe", true},
		{"jnd", "Jane Doe", false},     // three letters are no proof
		{"jndo", "Jane Doe", true},     // letters of both are left out
		{"doejan", "Jane Doe", true},   // the last name first
		{"xjaney", "Jane Doe", true},   // contains a word of four letters
		{"jane", "Jane", false},        // one word
		{"xiaoming", "王小明", true},      // Chinese characters are a word each
		{"wxm1988", "王小明", true},       // their initials
		{"novakj", "Jiří Novák", true}, // marks are dropped
		{"ivanov", "Иван Иванов", true},
		{"k3j9x2q8", "Jane Doe", false},
		{"acmedev", "Jane Doe (Acme)", false}, // words in brackets are no name
		{"janedoe", "JaneDoe", false},
	} {
		require.Equal(t, c.want, provable(c.local, []string{"x", c.name}), "%s: %s", c.name, c.local)
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) {
		out, err := exec.Command("git", append([]string{"--git-dir=" + dir, "--work-tree=" + dir}, args...)...).CombinedOutput()
		require.NoError(t, err, string(out))
	}
	git("init", "--quiet")
	for _, author := range []string{
		"Jane Doe <Jane.Doe+git@mail.example>", "Jane Doe <jane.doe+git@mail.example>", "nick <nick77@mail.example>",
		"Jane Doe <k3j9x2q8z7@mozmail.com>", "Jane Doe <1+jane@users.noreply.github.com>", "Jane Doe <jane@localhost>",
		"Jane Doe <info@mail.example>", "Jane Doe <no address>", "Jane Doe <vadoke4821@mail.example>", "nick <vadoke4821@gmail.com>",
	} {
		git("-c", "user.name=Jane Doe", "-c", "user.email=jdoe@mail.example", "commit", "--quiet", "--allow-empty", "-m", "x", "--author="+author)
	}
	found, err := Read([]string{dir})
	require.NoError(t, err)
	require.Equal(t, 10, found.Addresses)
	require.ElementsMatch(t, []string{"jane.doe", "jane.doe", "nick77", "jdoe", "vadoke4821", "vadoke4821"}, found.Named)
	require.Equal(t, 5, found.Unclassed)
	require.Equal(t, 1, found.Generated)
	require.ElementsMatch(t, []string{"jane.doe", "jane.doe", "jdoe"}, found.Provable)
	require.Equal(t, []string{"k3j9x2q8z7"}, found.Relayed)
}

func TestReadNeedsARepository(t *testing.T) {
	dir := t.TempDir()
	_, err := Read([]string{dir})
	require.ErrorContains(t, err, "git log of "+dir)
}

func FuzzProvable(f *testing.F) {
	f.Add("jane.doe", "Jane Doe")
	f.Add("wxm", "王小明 (x) [y]")
	f.Add("İß", " \u0301 a\tb ")
	f.Fuzz(func(t *testing.T, local, name string) {
		require.Equal(t, provable(local, []string{name}), provable(local, []string{name, name}))
	})
}
