package core

import (
	"os"
	"strings"
	"testing"

	"github.com/addrspec/addrspec/lists"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// roleRows returns the local parts in eval/roles.txt with their categories.
func roleRows(t *testing.T) map[string]string {
	table, err := os.ReadFile("eval/roles.txt")
	require.NoError(t, err)
	rows := map[string]string{}
	for line := range strings.Lines(string(table)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] != "#" {
			for _, local := range fields[1:] {
				rows[local] = strings.TrimPrefix(fields[0], "NoRole")
			}
		}
	}
	require.Greater(t, len(rows), 300)
	return rows
}

func roleOf(l *lists.Lists, local []byte) Role {
	var w words
	return w.roleOf(l, local)
}

func TestRole(t *testing.T) {
	for local, want := range roleRows(t) {
		got := roleOf(lists.Default(), []byte(strings.ToLower(local)))
		assert.Equal(t, want, got.String(), local)
	}
}

// TestRoleOfAddress: the tag and the case do not matter.
func TestRoleOfAddress(t *testing.T) {
	c := New(lists.Default())
	for email, want := range map[string]Role{
		"Support+eu@example.com":        Support,
		"no-reply+id.123@example.com":   NoReply,
		"John.Smith+sales@example.com":  NoRole,
		"INFO@example.com":              General,
		"postmaster@[IPv6:2001:db8::1]": IT,
	} {
		require.Equal(t, want, c.Check([]byte(email)).Role, email)
	}
}

func TestRoleAllocatesNothing(t *testing.T) {
	l := lists.Default()
	for _, local := range []string{"no-reply-eu", "john.smith", "a-b-c-d-e-f-g-h", "support"} {
		name := []byte(local)
		require.Zero(t, testing.AllocsPerRun(100, func() { roleOf(l, name) }), local)
	}
}

func FuzzRole(f *testing.F) {
	f.Add([]byte("no-reply-eu2"))                      // words that are joined, a region, a number
	f.Add([]byte("a.b-c_d.e-f_g"))                     // too many words
	f.Add([]byte("-.support..2_"))                     // empty words
	f.Add([]byte("12345678901234567890"))              // digits alone
	f.Add([]byte(strings.Repeat("x", maxWordBytes+1))) // too long
	f.Add([]byte("\"info desk\"\x00\xff\u00e9"))       // bytes that no dot-atom contains
	f.Fuzz(func(t *testing.T, name []byte) {
		role := roleOf(lists.Default(), name)
		require.LessOrEqual(t, role, HR)
		if w := (words{}); role != NoRole && len(name) < 60 && w.split(name) && w.count < maxWords { // there is room for a number
			require.Equal(t, role, roleOf(lists.Default(), append(name[:len(name):len(name)], "-0"...)), "with a number")
		}
	})
}

func BenchmarkRole(b *testing.B) {
	l := lists.Default()
	for _, local := range []string{"john.smith", "jsmith1984", "support", "no-reply-eu"} {
		b.Run(local, func(b *testing.B) {
			name := []byte(local)
			for b.Loop() {
				roleOf(l, name)
			}
		})
	}
}
