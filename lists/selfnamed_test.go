package lists

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSelfNamed(t *testing.T) {
	for name, want := range map[string]bool{
		"tempmail24.com": true, "tempmailer.online": true, "best-temp-mail.info": true, "burnthismail.com": true,
		"10-minuten-mail.de": true, "20minute.email": true, "throw-away-e-mail.net": true, "fakemyinbox.com": true,
		"wegwerf-email-adressen.de": true, "notmailinator.net": true, "mail-of-tempinbox.org": true, "temp-mail": true,
		"20min.ch": false, "trashbox.ru": false, "vaisselle-jetable.fr": false, "lastminutemail.com": false, "mailtemp.com": false,
		"auburnmail.com": false, "contemporarymailboxes.com": false, "con-temporary-e-mail.com": false, "fastmail.com": false, "adminmail.de": false, "mail.com": false, "inbox.lv": false, "": false,
	} {
		require.Equal(t, want, SelfNamed([]byte(name)), name)
	}
}

// TestMatchSelfNamed: the name that was registered decides, unless it has an entry.
func TestMatchSelfNamed(t *testing.T) {
	l := Default()
	for domain, entry := range map[string]string{
		"an-example-tempmail24.com":        "an-example-tempmail24.com",
		"x.an-example-tempmail24.co.uk":    "an-example-tempmail24.co.uk",
		"an-example-tempmail24.hair":       "an-example-tempmail24.hair", // before the ending
		"tempmail24.an-example-company.de": "",
		"an-example-tempmail24":            "",
		"tempmail.co.uk":                   "tempmail.co.uk",
		"co.uk":                            "",
		"me.burnermail.io":                 "", // the relay's own entry does not cover it
	} {
		m := l.Match([]byte(domain))
		require.Equal(t, entry, string(m.Entry), domain)
		if entry == "" {
			continue
		}
		require.Equal(t, Disposable, m.Class, domain)
		require.True(t, m.Subdomains, domain)
		for i, s := range l.Sources() {
			require.Equal(t, s.Name == SelfNamedSource, m.CarriedBy(i), domain)
		}
	}
	require.Equal(t, Disposable, l.Provider([]byte("x.an-example-tempmail24.co.uk")))
	require.Equal(t, ExchangeMatch{Entry: []byte("an-example-tempmail24.com"), Temporary: true},
		l.MatchExchange([]byte("mx.an-example-tempmail24.com")))
	require.Zero(t, l.MatchExchange([]byte("mx.an-example.hair")), "an ending says nothing about exchanges")
}

// FuzzSelfNamed compares the rule with a regular expression, which would enlarge the module.
func FuzzSelfNamed(f *testing.F) {
	var names []string
	for _, name := range selfNames {
		names = append(names, strings.Join(strings.Split(string(name), ""), "[-.]*"))
	}
	rule := regexp.MustCompile(`(` + strings.Join(names, "|") + `)[-.]*(e[-.]*)?(mail|inbox)|mailinator`)
	for _, name := range []string{"throw-away-e-mail.net", "20minute.email", "fakee-mail.mailinbox", "temp.e.e.mail", "temptempm-ail"} {
		f.Add(name)
	}
	modern := regexp.MustCompile(`c[-.]*o[-.]*n[-.]*t`) // as in contemporary
	f.Fuzz(func(t *testing.T, name string) {
		if modern.MatchString(name) {
			return
		}
		require.Equal(t, rule.MatchString(name), SelfNamed([]byte(name)), name)
	})
}
