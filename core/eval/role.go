package main

import (
	_ "embed"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/core/eval/peers"
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

// runRole measures the categories of role accounts and of names, the words that were
// missed on real addresses, and the shapes of people's local parts that were called
// a role.
func runRole(string) ([]row, error) {
	own, words := roleRows(roleTable), roleRows(roleWords)
	right := row{check: "role: right, %", data: rowsOf("local parts, own table", len(own)), floor: 100, target: 100}
	missed := row{check: "role: right, missed before, %", data: rowsOf("words", len(words)), floor: 100, target: 80}
	right.rightRoles(own)
	missed.rightRoles(words)
	return []row{right, missed, wrongRoles()}, nil
}

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

// roleOf returns the role of a local part at a domain that nobody has, or of an address.
func roleOf(c *core.Checker, local string) string {
	if !strings.Contains(local, "@") {
		local += "@example.com"
	}
	return c.Check([]byte(local)).Role.String()
}

func (r *row) rightRoles(rows []roleRow) {
	c := core.New(lists.Default())
	for _, want := range rows {
		if got := roleOf(c, want.local); got == want.category {
			r.figure++
		} else {
			r.miss("role", want.local, want.category, got)
		}
	}
	*r = r.percentOf(len(rows))
}

// samples is the number of local parts drawn of each shape.
const samples = 50

// wrongRoles counts the local parts of the shapes that have a role.
func wrongRoles() row {
	c := core.New(lists.Default())
	r := row{check: "role: people's shapes with a role", lower: true}
	n := 0
	for _, shape := range roleRows(roleShapes) {
		for _, local := range drawShape(shape.local) {
			n++
			if got := roleOf(c, local); got != "" {
				r.figure++
				r.miss(shape.local, local, "no role", got)
			}
		}
	}
	r.data = rowsOf("local parts drawn", n)
	return r
}

// drawShape returns different local parts of a shape, the same each time.
func drawShape(shape string) []string {
	random := rand.New(rand.NewPCG(uint64(len(shape)), 12))
	var drawn []string
	for range samples {
		if local := drawLocal(random, shape); !slices.Contains(drawn, local) {
			drawn = append(drawn, local)
		}
	}
	return drawn
}

var firstNames = []string{"anna", "bjorn", "chidi", "devi", "elena", "farid", "hana", "ivan", "jose", "keiko"}

func drawLocal(random *rand.Rand, shape string) string {
	var local strings.Builder
	for rest := shape; rest != ""; {
		switch n := strings.IndexFunc(rest, func(c rune) bool { return c != '?' }); {
		case n < 0:
			local.WriteString(initials(random, len(rest)))
			rest = ""
		case n > 0:
			local.WriteString(initials(random, n))
			rest = rest[n:]
		case rest[0] == '#':
			local.WriteByte("0123456789"[random.IntN(10)])
			rest = rest[1:]
		case rest[0] == '%':
			local.WriteString(firstNames[random.IntN(len(firstNames))])
			rest = rest[1:]
		default:
			local.WriteByte(rest[0])
			rest = rest[1:]
		}
	}
	return local.String()
}

// initials draws consonants that are neither a country code nor a common
// abbreviation of a role, which the caller could not know from initials either.
func initials(random *rand.Rand, n int) string {
	for {
		drawn := draw(random, "bcdfghjklmnpqrstvwxz", n)
		if !slices.Contains(abbreviations, drawn) && !countryCodes[drawn] {
			return drawn
		}
	}
}

var abbreviations = []string{"cs", "hq", "hr", "pr", "qa", "vp", "hp", "tv", "db", "sql", "dns", "ftp", "crm", "www"}

// countryCodes are the top-level domains of two letters.
var countryCodes = func() map[string]bool {
	codes := map[string]bool{}
	for _, name := range strings.Fields(string(lists.Default().TopLevels())) {
		codes[name] = len(name) == 2
	}
	return codes
}()

func compareRole(string) (*comparison, error) {
	checker := core.New(lists.Default())
	c := &comparison{title: "role", question: peers.Role,
		note: "role or not, since peers have no categories; own tables (tuned on)",
		own:  func(local string) peers.Result { return peers.Result{Yes: roleOf(checker, local) != ""} },
	}
	for _, r := range slices.Concat(roleRows(roleTable), roleRows(roleWords)) {
		group := "role"
		if r.category == "" {
			group = "name"
		}
		c.examples = append(c.examples, example{value: r.local, group: group})
	}
	for _, shape := range roleRows(roleShapes) {
		if strings.Contains(shape.local, "@") {
			continue
		}
		for _, local := range drawShape(shape.local) {
			c.examples = append(c.examples, example{value: local, group: "shape"})
		}
	}
	c.percent("known", "role", saysYes)
	c.number("names and words flagged", "name", saysYes)
	c.number("people's shapes flagged", "shape", saysYes)
	return c, nil
}
