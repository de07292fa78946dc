package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
)

// The tables were written for this project. The first has addresses of the classes on which
// validators disagree on real input (data/real/format_classes.tsv).
var (
	//go:embed format_classes.jsonl
	formatClasses []byte
	//go:embed repairs.txt
	repairTable string
	//go:embed canonical.txt
	canonicalTable string
)

func classRows() []formatRow {
	rows, err := parseFormat("format_classes.jsonl", formatClasses)
	if err != nil {
		panic(err) // the file is part of the program
	}
	return rows
}

func evalFormat(d *data) []row {
	c := core.New(lists.Default())
	verdict := func(addresses []formatRow) (verdicts []judged) {
		for _, a := range addresses {
			f := c.Check([]byte(a.Email))
			given := fmt.Sprintf("%s%+q: %s", a.Class, a.Email, a.Why)
			got := fmt.Sprint(f.Valid, " ", f.Refusal.Reason.Code())
			verdicts = append(verdicts, judged{given, strconv.FormatBool(a.Valid), got, f.Valid == a.Valid})
		}
		return verdicts
	}
	var normalized, local, domain []judged
	for _, a := range d.format {
		f := c.Check([]byte(a.Email))
		form := func(rows *[]judged, want *string, got []byte) {
			if want != nil { // the RFCs determine it
				*rows = append(*rows, equal(fmt.Sprintf("%+q", a.Email), *want, string(got)))
			}
		}
		form(&normalized, a.Normalized, f.Normalized)
		form(&local, a.LocalPart, f.LocalPart)
		form(&domain, a.Domain, f.Domain)
	}
	whole := func(name string) row { return atLeast("format: "+name+", %", 100, 100) }
	return []row{
		whole("valid").of("addresses", verdict(d.format)),
		whole("normalized").of("addresses", normalized),
		whole("local_part").of("addresses", local),
		whole("domain").of("addresses", domain),
		whole("classes of real input").of("addresses", verdict(classRows())),
	}
}

// repairNames replace JANE, NAME and ORG in the table.
var repairNames = [...][3]string{
	{"jane", "example", "org"}, {"Jane.Doe+news", "Example", "COM"}, {"o'brien", "mail-1", "net"},
	{"jörg", "bücher", "de"}, {"李雷", "例子", "中国"}, {"7", "x", "info"},
}

// evalRepairs measures the addresses that are suggested for refused ones: the one that is
// meant, if that is certain. A wrong suggestion is worse than none.
func evalRepairs(*data) []row {
	var found, other []judged
	c := core.New(lists.Default())
	for _, fields := range parseWords(repairTable) {
		email, err := strconv.Unquote(`"` + fields[0] + `"`)
		if err != nil {
			panic(err) // the table is part of the program
		}
		for _, n := range repairNames {
			names := strings.NewReplacer("JANE", n[0], "NAME", n[1], "ORG", n[2])
			f := c.Check([]byte(names.Replace(email)))
			meant, got := strings.TrimPrefix(names.Replace(fields[1]), "-"), string(c.Repair(&f))
			if meant != "" {
				found = append(found, equal(names.Replace(email), meant, got))
			}
			other = append(other, judged{names.Replace(email), meant, got, got == "" || got == meant})
		}
	}
	return []row{
		atLeast("repair: address that is meant found, %", 100, 100).of("mistakes, own table", found),
		atMost("repair: another address suggested", 0, 0).of("mistakes, own table", other),
	}
}

// pairs calls visit with two addresses, and whether both reach one mailbox.
func pairs(visit func(same bool, a, b string)) {
	for _, fields := range parseWords(canonicalTable) {
		visit(fields[0] == "same", fields[1], fields[2])
	}
}

// evalCanonical measures the identities of mailboxes. That two addresses of one mailbox
// differ is allowed, that two mailboxes are equal is not.
func evalCanonical(*data) []row {
	var sames, others []judged
	c := core.New(lists.Default())
	pairs(func(same bool, a, b string) {
		one, other := canonicalOf(c, a), canonicalOf(c, b)
		if same {
			sames = append(sames, equal(a+" "+b, one, other))
		} else {
			others = append(others, judged{a + " " + b, "two mailboxes", one, one != other})
		}
	})
	return []row{
		atLeast("canonical: same mailbox found, %", 100, 90).of("pairs, own table", sames),
		atMost("canonical: different mailboxes joined", 0, 0).of("pairs, own table", others),
	}
}

func canonicalOf(c *core.Checker, address string) string {
	f := c.Check([]byte(address))
	var result struct {
		Details struct{ Canonical string }
	}
	plain, _ := core.AppendJSON(nil, &f, false)
	if json.Unmarshal(c.AppendDetails(plain, &f), &result) != nil {
		return ""
	}
	return result.Details.Canonical
}
