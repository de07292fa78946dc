package typo

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/lists"
)

func newIndex() *Index { return New(lists.Default().TypoTargets(), lists.Default().TopLevels()) }

func TestSuggest(t *testing.T) {
	x := newIndex()
	for _, c := range []struct{ slip, meant, typed string }{
		{"two letters swapped", "gmail.com", "gmali.com gamil.com gmial.com"},
		{"two letters swapped", "hotmail.com", "hotmial.com ohtmail.com"},
		{"two letters swapped", "live.com", "lvie.com"},
		{"a letter doubled", "gmail.com", "gmmail.com gmaill.com"},
		{"a letter doubled", "web.de", "weeb.de"},
		{"a doubled letter typed once", "yahoo.com", "yaho.com"},
		{"a letter skipped", "gmail.com", "gmal.com gail.com gmil.com"},
		{"a letter skipped", "yahoo.co.uk", "yhoo.co.uk yaho.co.uk"},
		{"a letter skipped", "earthlink.net", "erthlink.net"},
		{"an adjacent key", "outlook.com", "iutlook.com outkook.com"},
		{"an adjacent key", "comcast.net", "comcaat.net vomcast.net"},
		{"an adjacent key, QWERTZ", "yahoo.de", "zahoo.de"},
		{"an adjacent key, AZERTY", "wanadoo.fr", "zanadoo.fr wqnqdoo.fr"},
		{"a letter that sounds alike", "hotmail.com", "hotmeil.com hotmayl.com"},
		{"an added letter", "icloud.com", "icloyud.com"},
		{"an added hyphen or digit", "gmail.com", "g-mail.com gma8il.com"},
		{"two slips in a long name", "btinternet.com", "btintrenet.com btintenret.com bitnternet.com"},
		{"two slips in a long name", "protonmail.com", "prtonmial.com"},
		{"no such ending", "gmail.com", "gmail.con gmail.cmo gmail.vom gmail.comm gmail.cpm gmail.xom"},
		{"no such ending", "comcast.net", "comcast.ner comcast.met comcast.nt"},
		{"no such ending", "mail.ru", "mail.ri mail.tu"},
		{"no such ending, short name", "me.com", "me.con"},
		{"name and ending", "hotmail.com", "hotmial.con hotmal.cim"},
		{"an ending cut short", "gmail.com", "gmail.c gmail.co gmail.cm"},
		{"an ending cut short", "yahoo.com.br", "yahoo.com.b"},
		{"an ending without a letter", "verizon.net", "verizon.ne"},
		{"letters after the ending", "gmail.com", "gmail.comk gmail.comxyz gmail.com.com gmail.com1"},
		{"a country kept", "yahoo.com.mx", "yaho.com.mx yahoo.con.mx yahoo.co.mx"},
		{"a country kept", "hotmail.co.uk", "hotmal.co.uk hotmail.com.uk hotmail.c.uk"},
		{"a country kept", "yahoo.co.jp", "yahooo.co.jp yahoo.cp.jp"},
		{"a country kept", "live.nl", "lvie.nl"},
		{"a dot left out or misplaced", "gmail.com", "gmailcom gmailc.om gmai.lcom"},
		{"a dot left out or misplaced", "yahoo.com.br", "yahoo.combr yahoocom.br yahoo.comb.r"},
		{"a dot for a hyphen", "t-online.de", "t.online.de"},
		{"the name of a web site", "gmail.com", "www.gmail.com wwwgmail.com www.gmial.com"},
		{"no ending", "hotmail.com", "hotmail"},
		{"no ending", "qq.com", "qq"},
		{"no ending and a slip", "outlook.com", "oulook"},
		{"the service's name as spoken", "proton.me", "proton.mail"},
		{"the key beside its letter", "gmail.com", "hmail.com fmail.com"},
		{"digits that look like letters", "yahoo.com", "yah00.com"},
		{"letters that look like another", "gmail.com", "grnail.com"},
		{"digits in front", "hotmail.com", "1980hotmail.com 77hotmail.com"},
		{"written twice", "gmail.com", "gmailgmail.com"},
		{"an ending of two labels", "worldnet.att.net", "worldnet.att.ner worldnet.att.met"},
		{"a rarer provider", "seznam.cz", "sezman.cz seznm.cz seznam.czz"},
		{"a rarer provider", "bigpond.com", "bigpnd.com bigopnd.com"},
	} {
		for _, typed := range strings.Fields(c.typed) {
			assert.Equal(t, c.meant, string(x.Suggest([]byte(typed))), "%s: %s", c.slip, typed)
		}
	}
}

func TestSuggestAbstains(t *testing.T) {
	x := newIndex()
	for why, domains := range map[string]string{
		"a target":                    "gmail.com yahoo.co.in hotmail.be live.fr outlook.jp gmx.at yandex.ru yahoo.co.jp so-net.ne.jp",
		"another real ending":         "gmail.de yahoo.tv comcast.com gmail.org hotmail.store icloud.net mail.rs",
		"another name before mail":    "vmail.com tmail.com hmail.ru zmail.ru afmail.com joymail.com mail2.com 16mail.com lastmail.com",
		"three letters, all taken":    "aon.com gmz.de msm.com eol.com me.de",
		"four letters, one exchanged": "nail.ru line.com love.com wail.com sail.com",
		"a host of another domain":    "mail.x.com web.d.de mail.gmial.com smtp.example.com live.q.com",
		"too far from all":            "example.com smithplumbing.co.uk mit.edu ibm.com university.ac.jp",
		"two targets equally close":   "yahoo.e",
		"no domain at all":            ". .. .com gmail. com - x mail web localhost www. www",
		"longer than any provider":    strings.Repeat("gmail", 12) + ".com",
		"another namespace of the registry": "softbank.co.jp biglobe.co.jp docomo.co.jp ezweb.co.jp ybb.co.jp yahoo.or.jp so-net.co.jp " +
			"optusnet.net.au iinet.com.au terra.net.br uol.org.br hinet.com.tw singnet.net.sg tm.com.my entel.org.pe hotmail.net.br",
		"a special-use name": "gmail.local gmail.lan gmail.home gmail.internal gmail.test gmail.example gmail.invalid gmail.localhost " +
			"gmail.onion gmail.alt gmail.home.arpa gmail.corp mac.local mac.lan mac.home bell.local gmail.intranet gmail.localdomain local",
		"a placeholder":                "email.xx gmail.zz me.noob q.q web mail live email.mail",
		"another vowel, rare":          "frontiir.com excito.com",
		"the ending of another target": "google.com facebook.com amazon.de",
	} {
		for _, domain := range strings.Fields(domains) {
			assert.Empty(t, string(x.Suggest([]byte(domain))), "%s: %s", why, domain)
		}
	}
}

func TestSuggestAllocatesNothing(t *testing.T) {
	x := newIndex()
	for _, domain := range []string{"gmial.com", "smithplumbing.co.uk", "gmailcom", "yahoo.e", "hotmail.con",
		"xn--gmil-63d.com", "xn--gmil-63d.xn--p1ai", "yah00.com", "oulook"} {
		domain := []byte(domain)
		require.Zero(t, testing.AllocsPerRun(100, func() { x.Suggest(domain) }), string(domain))
	}
}

func FuzzSuggest(f *testing.F) {
	f.Add([]byte("gmial.com"))                // two letters swapped
	f.Add([]byte("yahoo.co.i"))               // a short ending, two labels
	f.Add([]byte("123gmail.com"))             // digits in front
	f.Add([]byte("gmailgmail.com"))           // the name twice
	f.Add([]byte("gmail..com"))               // an empty label
	f.Add([]byte("ya.ho.oc.om"))              // dots out of place
	f.Add([]byte("\x00\xff@G.MAIL"))          // bytes that no host name has
	f.Add([]byte(strings.Repeat("hotm", 80))) // longer than maxCompared
	f.Add([]byte("xn--gmil-63d.com"))         // a Cyrillic letter
	f.Add([]byte("gmail.xn--com-gra"))        // a letter after the ending
	x := newIndex()
	targets := map[string]bool{"": true}
	for _, target := range bytes.Fields(x.lines) {
		targets[string(target)] = true
	}
	f.Fuzz(func(t *testing.T, domain []byte) {
		got := x.Suggest(domain)
		require.True(t, targets[string(got)], "%q is no target", got)
		require.False(t, len(got) > 0 && bytes.Equal(got, domain), "suggested itself")
	})
}

// The labels that take no search are those of the list.
func TestIsTopLevel(t *testing.T) {
	x, listed := newIndex(), map[string]bool{}
	for _, line := range bytes.Split(lists.Default().TopLevels(), newline) {
		listed[string(line)] = len(line) > 0
	}
	labels := []string{"", "c", "com", "net", "org", "con", "xn--p1ai", "co.jp", "co\xff", "\xff\xff", "a-", "Co", "{a", "a{"}
	for first := 'a'; first <= 'z'; first++ {
		for second := 'a'; second <= 'z'; second++ {
			labels = append(labels, string(first)+string(second))
		}
	}
	for _, label := range labels {
		require.Equal(t, listed[label], x.IsTopLevel([]byte(label)), label)
	}
}

// The targets of a damaged blob may be any bytes; New must not panic.
func FuzzNew(f *testing.F) {
	f.Add([]byte("gmail.com\nyahoo.com"), []byte("com"), []byte("gmial.com"))
	f.Add([]byte("\n\n.\n.com\ncom\na."), []byte("\n"), []byte("a.b"))
	f.Add([]byte(strings.Repeat("long", 70)+".com\n"), []byte(""), []byte("a"))
	f.Fuzz(func(t *testing.T, targets, tops, domain []byte) { New(targets, tops).Suggest(domain) })
}

// TestWorstSearch bounds the number of names compared letter by letter for the
// domains that take longest, before and after the search was bounded. Without the
// filter by letters it is nearly 300.
func TestWorstSearch(t *testing.T) {
	x := newIndex()
	for _, domain := range []string{
		"hotmail.con", "yahoo.0mmccomceo", "yahoo.com.ko", "yahoo0.coop.gj", "live.com.mmp",
		"maiil.coml2eu", "ma1ibok.ltntiu", "hotmail.le", "taeono.khi",
	} {
		var d typedDomain
		d.text = []byte(domain)
		d.name, d.ending, d.tld = split(d.text)
		if !x.classify(&d) {
			continue
		}
		budget, compared := budgetOf(nameBudget[:], len(d.name)), 0
		list := x.candidates(&d, len(d.name)-maxLengthDifference, len(d.name)+maxLengthDifference)
		for i := range list {
			if d.mayMean(&list[i], budget/costAdjacent, budget) {
				compared++
			}
		}
		require.LessOrEqual(t, compared, 40, domain)
	}
}
