package main

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
)

//go:embed repairs.txt
var repairTable string

// mistake is an address that is not valid and the one that is meant, "" if that is not certain.
type mistake struct{ email, meant string }

// repairNames replace JANE, NAME and ORG in the table.
var repairNames = [...][3]string{
	{"jane", "example", "org"}, {"Jane.Doe+news", "Example", "COM"}, {"o'brien", "mail-1", "net"},
	{"jörg", "bücher", "de"}, {"李雷", "例子", "中国"}, {"7", "x", "info"},
}

func mistakes() (all []mistake, err error) {
	for line := range strings.Lines(repairTable) {
		fields := strings.Fields(line)
		if len(fields) != 2 || fields[0] == "#" {
			continue
		}
		email, err := strconv.Unquote(`"` + fields[0] + `"`)
		if err != nil {
			return nil, fmt.Errorf("repairs.txt: %s: %w", line, err)
		}
		for _, n := range repairNames {
			names := strings.NewReplacer("JANE", n[0], "NAME", n[1], "ORG", n[2])
			all = append(all, mistake{names.Replace(email), strings.TrimPrefix(names.Replace(fields[1]), "-")})
		}
	}
	return all, nil
}

// runRepairs measures the addresses that are suggested for refused ones. A wrong suggestion is
// worse than none.
func runRepairs(string) ([]row, error) {
	all, err := mistakes()
	found := row{check: "repair: address that is meant found, %", floor: 100, target: 100}
	wrong := row{check: "repair: another address suggested", lower: true}
	certain, c := 0, core.New(lists.Default())
	for _, m := range all {
		f := c.Check([]byte(m.email))
		got := string(c.Repair(&f))
		if m.meant != "" {
			certain++
			found.count(got == m.meant, m.email, strconv.Quote(got))
		}
		if got != "" && got != m.meant {
			wrong.figure++
			wrong.miss("repair", m.email, m.meant, got)
		}
	}
	found.data, wrong.data = rowsOf("mistakes, own table", certain), rowsOf("mistakes, own table", len(all))
	return []row{found.percentOf(certain), wrong}, err
}
