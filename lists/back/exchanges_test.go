package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/lists/internal/blob"
	"github.com/addrspec/addrspec/lists/internal/tables"
)

// today are the committed lists.
var today = lists.Default()

// TestExchangesEqualCore compares what is measured with what core does, for each suffix
// of the table, names of each class, and pairs of them.
func TestExchangesEqualCore(t *testing.T) {
	names := []string{"mail.mailinator.com", "mailinator.com", "mx.example", "*", "host.example", "mx.host.example", "xhost.example", "mail.gmail.com"}
	rows, err := tables.ReadExchanges("..")
	require.NoError(t, err)
	for _, row := range rows {
		names = append(names, row.Suffix, "mx."+row.Suffix, "x"+row.Suffix)
	}
	requireEqualCore(t, lists.Default(), names)
}

// TestSpecificExchange has a row below a disposable name, and the reverse.
func TestSpecificExchange(t *testing.T) {
	packed, err := blob.Pack(blob.Content{
		Date:      "2026.11.24",
		Domains:   map[string]blob.Kind{"burner.example": {Class: lists.Disposable, Subdomains: true}, "mx.host.example": {Class: lists.Disposable}},
		Exchanges: map[string]int{"mx.burner.example": 1, "host.example": 1, "temporary.example": 2},
		Operators: []lists.Exchange{{Class: "suite", Provider: "A"}, {Class: lists.TemporaryExchange, Provider: "B"}},
	})
	require.NoError(t, err)
	l, err := lists.Open(packed)
	require.NoError(t, err)
	requireEqualCore(t, l, []string{"burner.example", "x.burner.example", "mx.burner.example", "a.mx.burner.example", "host.example", "mx.host.example", "a.mx.host.example", "temporary.example", "mx.temporary.example"})
}

// requireEqualCore looks at the names alone and in pairs.
func requireEqualCore(t *testing.T, l *lists.Lists, names []string) {
	checker := core.New(l)
	for i, name := range names {
		for _, host := range []string{"shop.example", names[i/2], names[i/3]} {
			for _, exchanges := range [][]string{{name}, {name, names[i/2]}, {names[i/2], name}, {name, name}} {
				x := checker.Exchanges([]byte(host))
				for _, e := range exchanges {
					x.Add([]byte(e))
				}
				disposable, first := look(l, host, exchanges)
				require.Equal(t, x.Disposable(), disposable, "%s %v", host, exchanges)
				class, provider := classOf(t, &x)
				require.Equal(t, provider != "" && !disposable, first != nil, "%s %v", host, exchanges)
				if first != nil {
					require.Equal(t, lists.Exchange{Class: class, Provider: provider}, *first)
				}
			}
		}
	}
}

// classOf returns the class and provider in the JSON of exchanges.
func classOf(t *testing.T, x *core.Exchanges) (class, provider string) {
	var got struct{ Class, Provider string }
	require.NoError(t, json.Unmarshal(x.AppendJSON(nil, core.AddressUnknown), &got))
	return got.Class, got.Provider
}

// TestHazards has exchanges that lists which count automatically take for throw-away
// ones. Real domains use them.
func TestHazards(t *testing.T) {
	for exchange, want := range map[string]string{
		"mx00.mail.com":                          "mailbox", // com.com and mail.com's brands are on published lists
		"mail.com.com":                           "",
		"com.com":                                "",
		"aspmx2.googlemail.com":                  "suite",
		"aspmx.l.google.com":                     "suite",
		"route1.mx.cloudflare.net":               "forward",
		"linda.mx.cloudflare.net":                "forward",
		"mx1.forwardemail.net":                   "forward",
		"mx1.improvmx.com":                       "forward",
		"eforward1.registrar-servers.com":        "forward",
		"mx1.simplelogin.co":                     "relay",
		"mail.anonaddy.me":                       "relay",
		"mx1.alias.proton.me":                    "relay",
		"mx37.m1bp.com":                          "parked",
		"mx195.mb5p.com":                         "parked",
		"mx156.hostedmxserver.com":               "parked",
		"mail.h-email.net":                       "parked",
		"r3.domainparking.reg.ru":                "parked",
		"mx1.hosting.reg.ru":                     "host",
		"mx.yandex.net":                          "suite",
		"mx1.hostinger.com":                      "host",
		"mxa.mailgun.org":                        "host",
		"mx1.cock.li":                            "",
		"localhost":                              "",
		"mx4.beavis99.com":                       "", // buys names that burners gave up; no page ties it to a service
		"smtp1.eure.fr":                          "", // seen in abuse, and the exchange of town halls
		"gmail-smtp-in.l.google.com":             "mailbox",
		"burner-com.mail.protection.outlook.com": "suite",
	} {
		disposable, row := look(today, "burner.example", []string{exchange})
		require.False(t, disposable, exchange)
		if want == "" {
			require.Nil(t, row, exchange)
			continue
		}
		require.NotNil(t, row, exchange)
		require.Equal(t, want, row.Class, exchange)
	}
}

// TestTemporaryExchangesCoverNobody checks that no row of class temporary covers a name
// that the lists know as somebody else's, or is covered by one.
func TestTemporaryExchangesCoverNobody(t *testing.T) {
	rows, err := tables.ReadExchanges("..")
	require.NoError(t, err)
	merged, err := tables.Merge("..")
	require.NoError(t, err)
	temporary := map[string]bool{}
	for _, row := range rows {
		if row.Class == lists.TemporaryExchange {
			temporary[row.Suffix] = true
			require.Contains(t, []lists.Class{0, lists.Disposable}, merged.Lookup(row.Suffix), row.Suffix)
		}
	}
	require.NotEmpty(t, temporary)
	for name, e := range merged {
		for at := name; at != ""; at = tables.Parent(at) {
			require.False(t, temporary[at] && e.Class != lists.Disposable, "%s covers %s, which is %v", at, name, e.Class)
		}
	}
}

// writeData writes a small directory of domains with their exchanges.
func writeData(t testing.TB, replaced map[string]string) string {
	dir := t.TempDir()
	files := map[string]string{
		"real.tsv":                 "sites\tshop.example\tASPMX.L.google.com.,mx.example\nsites\tfake.example\tmail.mailinator.com\nhalls\town.example\tmx.own.example\nhalls\tmailinator.com\tmx.h-email.net\n",
		"burners-2021-11-15.tsv":   "old.example\t2014-01-01\t-\tmx.old.example\t192.0.2.1\nnew.example\t2022-01-01\t-\tmx.old.example\t192.0.2.1\nabused.example\t-\t-\tmail.mailinator.com,mx.yopmail.com\t192.0.2.1\nmixed.example\t2022-01-01\t2021-01-01\tmx.old.example,mx.example\t192.0.2.1\n",
		"mx-counts-2026-01-04.tsv": "mail.mailinator.com\t30\nmx.example\t60\nmx.own.example\t1\n",
		"castle-first-seen.json":   `{"abused.example":"2026-05-11","mailinator.com":"2026-08-01"}`,
	}
	for name, text := range replaced {
		files[name] = text
	}
	for name, text := range files {
		if text != "" {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
		}
	}
	return dir
}

func TestMeasureExchanges(t *testing.T) {
	s := store(t.TempDir())
	h := history{'D': {{source('D'), "d@1", "2026-07-01", "sum"}}}
	require.NoError(t, os.WriteFile(s.path(h['D'][0].item()), []byte("mailinator.com"), 0o644))
	var out bytes.Buffer
	require.NoError(t, measureExchanges(&out, "..", writeData(t, nil), h, s))
	require.Equal(t, `| domains | result |
|---|---|
| in real use: disposable by their exchanges | 1 of 4: fake.example |
| the same: disposable by name | 1 of 4: mailinator.com |
| sites: provider named | 1 (50.0 %) of 2 |
| halls: provider named | 0 (0.0 %) of 2 |
| proven after 2021-11-15, by the names listed until then | 1 (50.0 %) of 2 |
| exchanges of 2021-11-15, seen in abuse in 2026, by the names listed until then | 0 (0.0 %) of 1 |
| the same, with the lists and exchanges of today | 1 (100.0 %) of 1 |
| the same, without the names of all of them | 1 (100.0 %) of 1 |
| on no list by 2021-11-15, proven or abused later, by the names listed until then | 1 (50.0 %) of 2 |
| the same, with the lists and exchanges of today | 1 (50.0 %) of 2 |
| listed throw-away domains by their exchange, own exchanges left out | 30 (33.3 %) of 90 |
| the same, own exchanges counted as missed | 30 (33.0 %) of 91 |
| seen in abuse, by name | 1 (50.0 %) of 2 |
| first seen in abuse after 2026-07-31, by name with the lists of that day | 1 (100.0 %) of 1 |
`, out.String())
}

func TestReadDataErrors(t *testing.T) {
	for want, replaced := range map[string]map[string]string{
		"want one file real*.tsv, found 0":                         {"real.tsv": ""},
		"want one file burners-*.tsv, found 2":                     {"burners-2022-11-15.tsv": "x"},
		`real.tsv:1: want 3 fields separated by tabs, got "a b c"`: {"real.tsv": "a b c"},
		"mx-counts-2026-01-04.tsv:2: strconv.Atoi":                 {"mx-counts-2026-01-04.tsv": "a\t1\nb\tmany\n"},
		"castle-first-seen.json: no such file":                     {"castle-first-seen.json": ""},
		"cannot unmarshal":                                         {"castle-first-seen.json": `["a"]`},
	} {
		_, err := readData(writeData(t, replaced))
		require.ErrorContains(t, err, want)
	}
}

func FuzzReadData(f *testing.F) {
	f.Add("a\tb\tc\n", "a\t-\t-\tx\ty\n")
	f.Add("a\t\t\n", "\t\t\t\t")
	f.Fuzz(func(t *testing.T, real, burners string) {
		if real == "" || burners == "" {
			return
		}
		d, err := readData(writeData(t, map[string]string{"real.tsv": real, "burners-2021-11-15.tsv": burners}))
		if err != nil {
			return
		}
		require.LessOrEqual(t, len(d.real), strings.Count(real, "\n")+1)
		for _, b := range d.burners {
			require.NotEmpty(t, b.exchanges)
			look(today, b.domain, b.exchanges)
		}
	})
}
