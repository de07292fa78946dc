package core

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/addrspec/addrspec/lists"
	"github.com/stretchr/testify/require"
)

var known = newWordList(lists.Default())

func roleOf(local string) Role {
	var w words
	return w.roleOf(known, w.fold([]byte(local)), false)
}

// TestRoleInOtherLetters: accents do not matter, and words of other scripts follow the
// same rules. The evidence shows the word as it is listed.
func TestRoleInOtherLetters(t *testing.T) {
	c := New(lists.Default())
	for local, want := range map[string]struct {
		role Role
		word string
	}{
		"büro":                       {General, "buro"},
		"buro":                       {General, "buro"},
		"buero":                      {General, "buero"},
		"B\u00dcRO-M\u00fcnchen":     {General, "buro"},
		"comptabilite\u0301":         {Billing, "comptabilite"}, // NFD
		"información2":               {General, "informacion"},
		"İletişim":                   {General, "iletisim"},
		"hỗ.trợ":                     {Support, "hotro"},
		"ИНФО":                       {General, "инфо"},
		"поддержка-eu":               {Support, "поддержка"},
		"продажи2024":                {Sales, "продажи"},
		"не-отвечать":                {NoReply, "неотвечать"},
		"почта":                      {General, "почта"},
		"почта.иванова":              {NoRole, ""},
		"инфолог":                    {NoRole, ""},
		"お問い合わせ":                     {General, "お問い合わせ"},
		"客服":                         {Support, "客服"},
		"客服.公司":                      {NoRole, ""},
		"jos\u00e9.informaci\u00f3n": {NoRole, ""},
		"b\u00fcrolle":               {NoRole, ""},
	} {
		f := c.Check([]byte(local + "@mycompany.de"))
		require.True(t, f.Valid, local)
		require.Equal(t, want.role, f.Role, local)
		require.Equal(t, want.word, string(c.roleEvidence(&f).word), local)
	}
}

// TestRoleAtProvider: where anybody can open a mailbox, words that people use in
// handles need a team, and most words at most one digit.
func TestRoleAtProvider(t *testing.T) {
	c := New(lists.Default())
	for local, want := range map[string]struct{ own, shared Role }{
		"info":              {General, General},
		"info2":             {General, General},
		"info24":            {General, NoRole},
		"info2024":          {General, NoRole},
		"infomx31":          {General, NoRole},
		"ventas.mx":         {Sales, Sales},
		"sales.germany2":    {Sales, Sales},
		"se.consulting":     {Sales, NoRole},
		"uk.sales":          {Sales, NoRole}, // initials
		"support365":        {Support, Support},
		"techsupport24":     {Support, Support},
		"no-reply2024":      {NoReply, NoReply},
		"bot":               {NoReply, NoReply},
		"bot2004":           {NoReply, NoRole},
		"deploy-bot":        {NoReply, NoReply},
		"legal":             {Legal, Legal},
		"legal90":           {Legal, NoRole},
		"kyc":               {Legal, NoRole},
		"kyc12":             {Legal, NoRole},
		"kyc2012":           {NoRole, NoRole},
		"kyc-team":          {Legal, Legal},
		"ambassador7":       {Marketing, NoRole},
		"ambassador77":      {Marketing, NoRole},
		"ambassador1977":    {NoRole, NoRole},
		"builder4107":       {NoRole, NoRole},
		"design":            {Marketing, NoRole},
		"design-team":       {Marketing, Marketing},
		"designteam2":       {Marketing, Marketing},
		"hello":             {General, NoRole},
		"dev":               {IT, NoRole},
		"devteam":           {IT, IT},
		"job87":             {NoRole, NoRole},
		"project.noreply":   {NoReply, NoReply},
		"database.programs": {IT, NoRole},
		"acme-devel":        {IT, NoRole}, // what ends any name may end a handle
		"acme-bot":          {NoReply, NoRole},
		"acme.noreply":      {NoReply, NoRole},
		"noreply-acme":      {NoReply, NoRole},
		"jobba":             {HR, NoRole},
		"jobba1":            {HR, NoRole},
		"senden9":           {Marketing, NoRole},
	} {
		require.Equal(t, want.own, c.Check([]byte(local+"@mycompany.de")).Role, local)
		for _, domain := range []string{"gmail.com", "gmial.com", "mozmail.com", "mailinator.com"} { // public, its misspelling, relay, disposable
			require.Equal(t, want.shared, c.Check([]byte(local+"@"+domain)).Role, "%s@%s", local, domain)
		}
	}
}

// TestRoleOfAddress: the tag and the case do not matter. What is the name or the initials
// of a person as often as a role needs another word, or a host that is not on the Internet.
func TestRoleOfAddress(t *testing.T) {
	c := New(lists.Default())
	for email, want := range map[string]Role{
		"Support+eu@example.com":           Support,
		"no-reply+id.123@example.com":      NoReply,
		"John.Smith+sales@example.com":     NoRole,
		"INFO@example.com":                 General,
		"postmaster@[IPv6:2001:db8::1]":    IT,
		"ask@mycompany.de":                 NoRole,
		"Job+list@mycompany.de":            NoRole,
		"job2@mycompany.de":                NoRole,
		"job.uk@mycompany.de":              NoRole,
		"job.smit@mycompany.de":            NoRole,
		"job-applications@mycompany.de":    HR,
		"job.ads@mycompany.de":             HR,
		"job-team@gmail.com":               HR,
		"job.ads@gmail.com":                NoRole,
		"ask.team@mycompany.de":            General,
		"ads.manager@mycompany.de":         Marketing,
		"api-support@mycompany.de":         Support,
		"apiteam@mycompany.de":             IT,
		"rh.dept@mycompany.de":             HR,
		"vagrant@mycompany.de":             NoRole,
		"vagrant@gmail.com":                NoRole,
		"vagrant@precise64":                Admin,
		"vagrant@localhost.localdomain":    Admin,
		"vagrant@box.vm":                   Admin,
		"vagrant@[192.0.2.1]":              Admin,
		"ubuntu@ip-192-0-2-1.ec2.internal": Admin,
		"rh@example.com":                   HR,
		"personal@mycompany.de":            NoRole,
		"personal-team@mycompany.de":       HR,
		"cv@mycompany.de":                  NoRole,
		"rodo@mycompany.de":                NoRole,
		"sac@mycompany.de":                 NoRole,
		"ssl@mycompany.de":                 NoRole,
		"dpo@mycompany.de":                 NoRole,
		"privacy.dpo@mycompany.de":         Legal,
		"runner@buildhost":                 NoReply,
	} {
		require.Equal(t, want, c.Check([]byte(email)).Role, email)
	}
}

// TestMarks applies the rules of marks to every role word.
func TestMarks(t *testing.T) {
	c := New(lists.Default())
	role := func(email string) Role { return c.Check([]byte(email)).Role }
	n := 0
	lists.Default().EachWord(func(text []byte, word lists.Word) {
		name := string(text)
		require.Equal(t, name, string(c.words.fold(text)), "a word is listed without accents")
		if word.Role() == NoRole {
			return
		}
		n++
		own, shared := word.Role(), word.Role()
		if word.IsWeak() {
			own = NoRole
		}
		if word.Has(lists.Common | lists.Alone) {
			shared = NoRole
		}
		require.Equal(t, own, role(name+"@mycompany.de"), name)
		require.Equal(t, shared, role(name+"@gmail.com"), name)
		require.Equal(t, word.Role(), role(name+"@example.com"), name)
		if word.Role() != Support && word.Role() != NoReply {
			require.Equal(t, NoRole, role(name+"87@gmail.com"), name)
		}
		if len(name) > 2 && word.Class() != lists.Team {
			require.NotEqual(t, NoRole, role(name+"-team@gmail.com"), name)
		}
	})
	require.Greater(t, n, 2000)
}

// TestPersonalShapes: initials, numbers and names beside words that people use in
// handles make no role.
func TestPersonalShapes(t *testing.T) {
	beside := []string{"%.dev", "%_dev", "%-dev", "dev.%", "%.developer", "%.devops", "%.email", "email.%", "mail.%", "%.mail", "mailbox.%",
		"%.root", "%.owner", "%.server", "%.web", "web.%", "biuro.%", "atencion.%", "%.subscription", "seo-%", "hi.%", "%_hi", "%.general"}
	for a := 'a'; a <= 'z'; a++ {
		for b := 'a'; b <= 'z'; b++ {
			initials := string([]rune{a, b})
			for _, shape := range beside {
				requireNoRole(t, strings.ReplaceAll(shape, "%", initials))
				requireNoRole(t, strings.ReplaceAll(shape, "%", initials+"18"))
			}
			requireNoRole(t, "it."+initials+"4")
		}
	}
	for n := range 10_000 {
		for _, word := range []string{"dev", "developer", "sac", "csm", "www", "ap", "root-", "email", "it", "ftp", "xy.dev", "mc.server", "www2"} {
			requireNoRole(t, word+strconv.Itoa(n))
		}
	}
}

func requireNoRole(t *testing.T, local string) {
	if role := roleOf(local); role != NoRole {
		require.Fail(t, "a personal shape has a role", "%s: %s", local, role)
	}
}

// TestNamesAreNoRoles: of the names in the training data of the gibberish model,
// only words that are listed themselves are roles, and few of those.
func TestNamesAreNoRoles(t *testing.T) {
	names, listed := dataNames(t), 0
	require.Greater(t, len(names), 90_000)
	for name := range names {
		if roleOf(name) != NoRole {
			require.NotZero(t, lists.Default().Word([]byte(name)), "%s is glued", name)
			listed++
		}
	}
	require.LessOrEqual(t, listed, 66) // press, contact, jinji, dev and the like; 66 of 116623
}

func dataNames(t *testing.T) map[string]bool {
	names := map[string]bool{}
	for _, file := range []string{"names.txt", "own.txt"} {
		text, err := os.ReadFile("gibberish/data/" + file)
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			if line[0] != '[' && line[0] != '#' {
				for _, name := range strings.Fields(line) {
					names[name] = true
				}
			}
		}
	}
	return names
}

// TestNoReplyHost: the host decides, whatever the local part says.
func TestNoReplyHost(t *testing.T) {
	c := New(lists.Default())
	for email, want := range map[string]Role{
		"12345+jane@users.noreply.github.com": NoReply,
		"jane@users.github.com":               NoReply,
		"support@noreply.example.org":         NoReply,
		"jane@7.no-reply.drupal.org":          NoReply,
		"jane@user.NoReply.git.example.co.uk": NoReply,
		"jane@noreply.com":                    NoRole, // the name that somebody registered
		"jane@noreply.co.uk":                  NoRole,
		"jane@noreply":                        NoRole,
		"jane@noreplyhub.example.org":         NoRole,
		"info@noreply.com":                    General,
		"jane@example.com":                    NoRole,
		"zqxwvkjh@users.noreply.github.com":   NoReply,
	} {
		f := c.Check([]byte(email))
		require.Equal(t, want, f.Role, email)
		require.False(t, f.Disposable || f.Public || f.Relay, email)
		if want == NoReply {
			require.Zero(t, f.Gibberish, email)
		}
	}
}

func TestRoleEvidence(t *testing.T) {
	c := New(lists.Default())
	for email, want := range map[string]string{
		"jane@example.com":                   `null`,
		"info@example.com":                   `{"word":"info","match":"word","qualifiers":[]}`,
		"eu.no-reply2@example.com":           `{"word":"noreply","match":"separated","qualifiers":["eu","2"]}`,
		"uk.salesteam@example.com":           `{"word":"sales","match":"glued","qualifiers":["uk","team"]}`,
		"billingdeptuk7@example.com":         `{"word":"billing","match":"glued","qualifiers":["dept","uk","7"]}`,
		"websupport@example.com":             `{"word":"support","match":"glued","qualifiers":["web"]}`,
		"kernel-team@example.com":            `{"word":"team","match":"part","qualifiers":[]}`,
		"no-reply.acme@example.com":          `{"word":"noreply","match":"part","qualifiers":[]}`,
		"acme.no-reply@example.com":          `{"word":"noreply","match":"part","qualifiers":[]}`,
		"support@users.noreply.github.com":   `{"word":"noreply.github.com","match":"host","qualifiers":[]}`,
		"jane@users.noreply.git.example.com": `{"word":"noreply.git.example.com","match":"host","qualifiers":[]}`,
		"sales@[192.0.2.1]":                  `{"word":"sales","match":"word","qualifiers":[]}`,
		"jane@noreply.a-name.hair":           `{"word":"noreply.a-name.hair","match":"host","qualifiers":[]}`, // the ending has an entry
		"jane@":                              `null`,
	} {
		f := c.Check([]byte(email))
		require.Equal(t, want, string(c.appendRoleEvidence(nil, &f)), email)
	}
}

func FuzzRole(f *testing.F) {
	f.Add([]byte("no-reply-eu2"))                                                   // words that are joined, a region, a number
	f.Add([]byte("a.b-c_d.e-f_g"))                                                  // too many words
	f.Add([]byte("-.support..2_"))                                                  // empty words
	f.Add([]byte("12345678901234567890"))                                           // digits alone
	f.Add([]byte(strings.Repeat("x", maxWordBytes+1)))                              // too long
	f.Add([]byte("\"info desk\"\x00\xff\u00e9"))                                    // bytes that no dot-atom contains
	f.Add([]byte("uksalesteamuk"))                                                  // glued words
	f.Add([]byte("xyz.do-not_reply"))                                               // an ending
	f.Add([]byte("\u043d\u0435-\u043e\u0442\u0432\u0435\u0447\u0430\u0442\u044c2")) // another script
	f.Fuzz(func(t *testing.T, name []byte) {
		var w words
		name = w.fold(name)
		shared := w.roleOf(known, name, true)
		role := w.roleOf(known, name, false)
		require.LessOrEqual(t, role, HR)
		require.Contains(t, []Role{NoRole, role}, shared, "a provider's mailbox has no other role")
		if role == NoRole {
			return
		}
		e := w.evidence(known)
		require.NotEqual(t, noMatch, e.match)
		require.NotZero(t, lists.Default().Word(e.word), "%s is listed", e.word)
		if w.read > 0 && e.match != partWord {
			size := len(e.word)
			for _, q := range e.qualifiers {
				size += len(q)
			}
			require.Equal(t, len(name)-separators(name), size, "the evidence covers the local part")
		}
	})
}

func separators(name []byte) (n int) {
	for _, c := range name {
		if isSeparator(c) {
			n++
		}
	}
	return n
}
