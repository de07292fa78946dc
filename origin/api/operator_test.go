package api

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSecurityTxt(t *testing.T) {
	f := SecurityTxt{Contacts: []string{"mailto:security@addrspec.example", "https://addrspec.example/report"},
		Policy: "https://addrspec.example/security", Canonical: "https://addrspec.example" + SecurityTxtPath, Languages: "en,de"}
	require.NoError(t, f.Check())
	want := "Contact: mailto:security@addrspec.example\r\nContact: https://addrspec.example/report\r\nExpires: 2027-05-01T00:00:00Z\r\n" +
		"Preferred-Languages: en,de\r\nCanonical: https://addrspec.example/.well-known/security.txt\r\nPolicy: https://addrspec.example/security\r\n"
	zone := time.FixedZone("", 14*3600)
	for _, now := range []time.Time{time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 11, 30, 23, 59, 59, 0, time.UTC),
		time.Date(2026, 12, 1, 13, 59, 0, 0, zone)} {
		require.Equal(t, want, string(f.Text(now)), now)
	}
}

// RFC 9116 section 2.5.5 recommends less than a year.
func TestExpiresWithinHalfAYear(t *testing.T) {
	for day := range 4 * 366 {
		now := time.Date(2027, 1, 1+day, 12, 0, 0, 0, time.UTC)
		left := securityTxtExpires(now).Sub(now)
		require.Greater(t, left, 148*24*time.Hour, now)
		require.Less(t, left, 185*24*time.Hour, now)
	}
}

func TestSecurityTxtCheck(t *testing.T) {
	require.NoError(t, (&SecurityTxt{}).Check())
	for _, contact := range []string{"mailto:security@addrspec.example", "https://addrspec.example/report?a=b", "tel:+1-201-555-0123"} {
		require.NoError(t, (&SecurityTxt{Contacts: []string{contact}}).Check(), contact)
	}
	for _, contact := range []string{"", "security@addrspec.example", "http://addrspec.example", "https://", "https:///report", "https://a:b@addrspec.example",
		"mailto:", "mailto:nobody", "tel:", "tel:+", "tel:112", "tel:+1 201", "javascript:alert(1)", "https://addrspec.example/\r\nPolicy: x",
		"https://addrspec.example/é", "https://addrspec.example/a b", "https://addrspec.example/" + strings.Repeat("x", maxURI)} {
		require.ErrorContains(t, (&SecurityTxt{Contacts: []string{contact}}).Check(), "--security-contact", contact)
	}
	contact := []string{"mailto:security@addrspec.example"}
	require.ErrorContains(t, (&SecurityTxt{Policy: "https://addrspec.example"}).Check(), "need --security-contact")
	require.ErrorContains(t, (&SecurityTxt{Contacts: contact, Policy: "http://addrspec.example"}).Check(), "--security-policy")
	for _, list := range []string{"en,", "english please", "en\r\nX: y", ",", "xx-"} {
		require.ErrorContains(t, (&SecurityTxt{Contacts: contact, Languages: list}).Check(), "--security-languages", list)
	}
	require.NoError(t, (&SecurityTxt{Contacts: contact, Languages: "en, pt-BR"}).Check())
	full := make([]string, maxContacts)
	for i := range full {
		full[i] = contact[0]
	}
	require.NoError(t, (&SecurityTxt{Contacts: full}).Check())
	require.ErrorContains(t, (&SecurityTxt{Contacts: append(full, contact[0])}).Check(), "at most 10")
}

// Whatever Check accepts makes one line for each value.
func FuzzSecurityTxt(f *testing.F) {
	f.Add("mailto:security@addrspec.example", "https://addrspec.example", "en")
	f.Add("tel:+1-201-555-0123", "", "en, de")
	f.Add("https://addrspec.example/%0d%0aX", "https://[::1]/", "")
	f.Fuzz(func(t *testing.T, contact, policy, languages string) {
		file := SecurityTxt{Contacts: []string{contact}, Policy: policy, Languages: languages}
		if file.Check() != nil {
			return
		}
		lines := 2
		for _, value := range []string{policy, languages} {
			if value != "" {
				lines++
			}
		}
		text := string(file.Text(time.Unix(0, 0)))
		require.Equal(t, lines, strings.Count(text, "\r\n"), text)
		require.Equal(t, lines, strings.Count(text, "\n"), text)
		require.Equal(t, lines, strings.Count(text, "\r"), text)
	})
}
