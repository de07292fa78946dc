package main

import (
	_ "embed"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
)

// The tables of roles were written for this project: no labelled data for roles is
// published.
var (
	//go:embed roles.txt
	roleTable string
	//go:embed role_words.txt
	roleWords string
	//go:embed role_shapes.txt
	roleShapes string
)

// roleRow is a local part and its category, which is empty without a role.
type roleRow struct{ local, category string }

func roleRows(table string) (rows []roleRow) {
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		for _, local := range fields[1:] {
			rows = append(rows, roleRow{local, strings.TrimPrefix(fields[0], "NoRole")})
		}
	}
	return rows
}

// shapedRows returns different local parts of each of the shapes of people's that were once
// called a role, drawn at random, the same each time. They have none.
func shapedRows() (rows []roleRow) {
	for _, shape := range roleRows(roleShapes) {
		random := rand.New(rand.NewPCG(uint64(len(shape.local)), 12))
		var drawn []string
		for range 50 {
			if local := drawLocal(random, shape.local); !slices.Contains(drawn, local) {
				drawn = append(drawn, local)
				rows = append(rows, roleRow{local, ""})
			}
		}
	}
	return rows
}

var (
	firstNames = []string{"anna", "bjorn", "chidi", "devi", "elena", "farid", "hana", "ivan", "jose", "keiko"}
	// Abbreviations of roles and top-level domains, which nobody could know from initials.
	abbreviations = append(strings.Fields("cs hq hr pr qa vp hp tv db sql dns ftp crm www"),
		strings.Fields(string(lists.Default().TopLevels()))...)
)

// drawLocal draws consonants for the ?s, which are no abbreviation, digits for # and a first
// name for %.
func drawLocal(random *rand.Rand, shape string) (local string) {
	for shape != "" {
		rest := strings.TrimLeft(shape, "?")
		if n := len(shape) - len(rest); n > 0 {
			initials := draw(random, "bcdfghjklmnpqrstvwxz", n)
			for slices.Contains(abbreviations, initials) {
				initials = draw(random, "bcdfghjklmnpqrstvwxz", n)
			}
			local += initials
			shape = rest
			continue
		}
		switch shape[0] {
		case '#':
			local += draw(random, "0123456789", 1)
		case '%':
			local += firstNames[random.IntN(len(firstNames))]
		default:
			local += shape[:1]
		}
		shape = shape[1:]
	}
	return local
}

// roleOf returns the role of a local part at a domain that nobody has, or of an address.
func roleOf(c *core.Checker, local string) string {
	if !strings.Contains(local, "@") {
		local += "@example.com"
	}
	return c.Check([]byte(local)).Role.String()
}

// evalRoles measures the categories of role accounts and of names, the words that were missed
// on real addresses, and the shapes of people's local parts.
func evalRoles(*data) []row {
	c := core.New(lists.Default())
	judge := func(rows []roleRow) (roles []judged) {
		for _, r := range rows {
			roles = append(roles, equal(r.local, r.category, roleOf(c, r.local)))
		}
		return roles
	}
	return []row{
		atLeast("role: right, %", 100, 100).of("local parts, own table", judge(roleRows(roleTable))),
		atLeast("role: right, missed before, %", 100, 80).of("words", judge(roleRows(roleWords))),
		atMost("role: people's shapes with a role", 0, 0).of("local parts drawn", judge(shapedRows())),
	}
}
