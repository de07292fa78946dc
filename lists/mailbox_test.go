package lists

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMailboxRule(t *testing.T) {
	l := Default()
	allows := func(domain, name string) bool {
		_, rule := l.Lookup([]byte(domain))
		require.NotZero(t, rule, domain)
		return l.MailboxRules()[rule-1].Allows([]byte(name))
	}
	for domain, names := range map[string]string{
		"gmail.com": "j jane.doe 4you",
		"bk.ru":     "jane j.-d 2_me jane- " + strings.Repeat("j", 31),
	} {
		for name := range strings.FieldsSeq(names) {
			require.True(t, allows(domain, name), "%s@%s", name, domain)
		}
	}
	for domain, names := range map[string]string{
		"googlemail.com": "jane_doe jane-doe jane=doe jane/doe josé jane+ \x00 \xff",
		"mail.ru":        "jan -jane _jane .jane jane=doe " + strings.Repeat("j", 32),
	} {
		for name := range strings.FieldsSeq(names) {
			require.False(t, allows(domain, name), "%s@%s", name, domain)
		}
		require.False(t, allows(domain, ""))
	}
}
