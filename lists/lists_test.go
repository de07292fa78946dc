package lists

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProvider(t *testing.T) {
	l := Default()
	for domain, want := range map[string]Class{
		"gmail.com":         Public,
		"mailinator.com":    Disposable,
		"a.mailinator.com":  Disposable,
		"mozmail.com":       Relay,
		"me.mozmail.com":    Relay,
		"notmozmail.com":    0,
		"x.gmail.com":       0,
		"ibm.com":           Known,
		"com":               0,
		"co.uk":             0,
		"":                  0,
		".":                 0,
		"..":                0,
		"a":                 0,
		"an-example-co.com": 0,
	} {
		require.Equal(t, want, l.Provider([]byte(domain)), domain)
	}
}

func TestWord(t *testing.T) {
	l := Default()
	for word, want := range map[string]Word{"admin": Word(Admin), "hr": Word(HR), "noreply": Word(NoReply) | Ending, "dev": Word(IT) | Alone, "eu": Word(Market), "jobson": 0, "": 0, "a": 0, "ADMIN": 0} {
		require.Equal(t, want, l.Word([]byte(word)), word)
	}
}

func TestLookupsDoNotAllocate(t *testing.T) {
	l := Default()
	domain, word := []byte("mail.example-company.co.uk"), []byte("support")
	require.Zero(t, testing.AllocsPerRun(100, func() { l.Provider(domain); l.Word(word); l.TypoTargets() }))
}

// TestImports checks that lists imports nothing of the project but the layout
// of the blob.
func TestImports(t *testing.T) {
	const project = "github.com/addrspec/addrspec/"
	out, err := exec.Command("go", "list", "-deps", project+"lists").Output()
	require.NoError(t, err)
	for _, dep := range strings.Fields(string(out)) {
		if strings.HasPrefix(dep, project) {
			require.Contains(t, []string{project + "lists", project + "lists/internal/format"}, dep)
		}
	}
}
