package lists

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestProviderOfKnownDomains checks domains whose owners are known, from all
// over the world.
func TestProviderOfKnownDomains(t *testing.T) {
	table, err := os.ReadFile("testdata/expect.txt")
	require.NoError(t, err)
	l := Default()
	for line := range strings.Lines(string(table)) {
		class, domain, found := strings.Cut(strings.TrimSpace(line), " ")
		if !found || class == "#" {
			continue
		}
		if got := l.Provider([]byte(domain)); !matches(class, got) {
			t.Errorf("%s: got class %d, want %s", domain, got, class)
		}
	}
}

// matches reports whether got is the class that a row of expect.txt wants.
func matches(class string, got Class) bool {
	switch class {
	case "public":
		return got == Public
	case "disposable":
		return got == Disposable
	case "relay":
		return got == Relay
	case "organisation":
		return got&^Known == 0
	}
	return got == 0
}
