package core

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/lists"
)

func TestForm(t *testing.T) {
	c := New(lists.Default())
	for email, want := range map[string][]string{
		"jane@iana.org":                    {},
		"jane@iana.xn--p1ai":               {},
		"jane@iana.рф":                     {},
		`"jane"@iana.org`:                  {"quoted"},
		`"ja ne"@iana.org`:                 {"quoted"},
		"jane(work)@iana.org":              {"comment"},
		"jane@(x)iana.org":                 {"comment"},
		`(x)"jane"(y)@iana.org`:            {"quoted", "comment"},
		" jane@iana.org ":                  {}, // white space is no comment
		`"(x)"@iana.org`:                   {"quoted"},
		"jane@[192.0.2.1]":                 {"literal"},
		"jane@[IPv6:2001:db8::1](x)":       {"comment", "literal"},
		"jane@com":                         {"single_label"},
		"jane@intranetserver":              {"single_label", "unknown_tld"},
		"jane@localhost":                   {"single_label", "unknown_tld", "special_use"},
		"jane@iana.cmo":                    {"unknown_tld"},
		"jane@iana.123":                    {"unknown_tld"},
		"jane@printer.local":               {"unknown_tld", "special_use"},
		"jane@mail.test":                   {"unknown_tld", "special_use"},
		"jane@a.onion":                     {"unknown_tld", "special_use"},
		"jane@example.org":                 {"special_use"},
		"jane@mail.example.com":            {"special_use"},
		"jane@printer.home.arpa":           {"special_use"},
		"jane@myexample.org":               {},
		"jane@example.co.jp":               {},
		"jane@e.org":                       {},
		"jane@x.net":                       {},
		"jane@example.net":                 {"special_use"},
		"jane@iana.xx":                     {"unknown_tld"},
		"'jane@iana.org":                   {"odd_character"},
		"’jane@iana.org":                   {"odd_character"},
		"o'jane@iana.org":                  {},
		"jane\uFFFD@iana.org":              {"odd_character"},
		"ｊane@iana.org":                    {"odd_character"},
		"jane@Ｉana.org":                    {},
		"jane(ｊ\uFFFD)@iana.org":           {"comment"},
		"jäne１@iana.org":                   {},
		"vadoke4821@iana.org":              {"generated"},
		"vadoke4821@iana.cmo":              {"unknown_tld", "generated"},
		"jane@de":                          {"single_label"},
		"jane@iana":                        {"single_label", "unknown_tld"},
		"jane.doe2@gmail.com":              {},
		"Jane.Doe@GoogleMail.com":          {},
		"j@gmail.com":                      {}, // the least length on Google's page is not a rule
		"jane+my_shop@gmail.com":           {}, // a tag has other characters
		"jane_doe@gmail.com":               {"mailbox_form"},
		"jane-doe+shop@googlemail.com":     {"mailbox_form"},
		"=jane@gmail.com":                  {"mailbox_form"},
		"+jane@gmail.com":                  {"mailbox_form"}, // no tag
		"josé@gmail.com":                   {"mailbox_form"},
		`"jane"@gmail.com`:                 {"quoted"},
		`"jane doe"@gmail.com`:             {"quoted", "mailbox_form"},
		`""@gmail.com`:                     {"quoted", "mailbox_form"},
		"jane_doe@mail.gmail.com":          {}, // a rule covers no subdomain
		"jane_doe-@mail.ru":                {},
		"_jane@mail.ru":                    {"mailbox_form"},
		"jan@bk.ru":                        {"mailbox_form"},
		"jane_doe@gmial.com":               {}, // a misspelling
		"jane@a-name.hair":                 {"looks_disposable"},
		"jane@mail.a-name.hair":            {"looks_disposable"},
		"(x)jane@a-name.hair":              {"comment", "looks_disposable"},
		"jane@02.pl":                       {"looks_disposable"}, // on lists without proof only
		"jane@mail.02.pl":                  {"looks_disposable"},
		"jane@oogmail.com":                 {}, // on lists without proof, but a misspelling
		"jane@bjorwi.rest":                 {}, // disposable
		"jane@edumail.icu":                 {}, // likewise, in spite of the ending
		"jane@tempmail-of-jane.hair":       {}, // likewise, by its own name
		"jane@noreply.a-name.hair":         {}, // takes no mail
		"jane(":                            {}, // not valid
		"jane@iana.org(a comment (in it))": {"comment"},
	} {
		require.Equal(t, want, formOf(t, c, email), email)
	}
}

// Comments of an address are not those of the one before it.
func TestFormForgets(t *testing.T) {
	c := New(lists.Default())
	require.Equal(t, []string{"comment"}, formOf(t, c, "jane(x)@iana.org"))
	require.Equal(t, []string{"mailbox_form"}, formOf(t, c, "j_d@gmail.com"))
	require.Equal(t, []string{"literal"}, formOf(t, c, "j_d@[192.0.2.1]"))
	require.Empty(t, formOf(t, c, "jane@iana.org"))
	require.Empty(t, formOf(t, c, "jäne@iana.org"))
}

func formOf(t testing.TB, c *Checker, email string) (names []string) {
	var result struct{ Details struct{ Form []string } }
	f := c.Check([]byte(email))
	require.NoError(t, json.Unmarshal(c.AppendDetails(f.JSON(), &f), &result))
	return result.Details.Form
}
