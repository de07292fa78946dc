package tables

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/addrspec/addrspec/lists"
)

// ownTables are the hand-written tables and near.txt, which carry entries beside
// the published lists. The tables of corrections carry none.
var ownTables = []string{"relay.txt", "public.txt", "allow.txt", "disposable.txt", "no-reply.txt", "known.txt", "near.txt"}

// Carriers has the sources that carry each name.
type Carriers struct {
	Sources []lists.Source
	bits    map[string]uint32 // bit i: the name is on Sources[i]
}

// Of returns the sources that carry name: bit i for Sources[i].
func (c *Carriers) Of(name string) uint32 { return c.bits[name] }

// ReadCarriers reads the tables in dir and the published lists. A published list
// carries the names that sources/domains.txt has for it, which are those that the
// rule of Merge can use.
func ReadCarriers(dir string) (*Carriers, error) {
	c := &Carriers{bits: map[string]uint32{}}
	for _, file := range ownTables {
		if _, err := os.Stat(filepath.Join(dir, file)); os.IsNotExist(err) {
			continue
		}
		if err := c.addTable(dir, file); err != nil {
			return nil, err
		}
	}
	return c, c.addPublished(dir)
}

// addTable adds one table of this project.
func (c *Carriers) addTable(dir, file string) error {
	rows, err := readTable(dir, file)
	for _, r := range rows {
		c.bits[r.name] |= 1 << len(c.Sources)
	}
	c.Sources = append(c.Sources, lists.Source{Name: "addrspec/" + file, Domains: strconv.Itoa(len(rows))})
	return err
}

// addPublished adds the published lists.
func (c *Carriers) addPublished(dir string) error {
	sources, err := ReadProvenance(dir)
	if err != nil {
		return err
	}
	votes, err := ReadVotes(dir)
	for _, s := range sources {
		for name, v := range votes {
			if v.Any(s.Letter) {
				c.bits[name] |= 1 << len(c.Sources)
			}
		}
		c.Sources = append(c.Sources, published(s))
	}
	return err
}

// published returns s as it is packed: its name has the registry, since the same
// name is in use on several.
func published(s Source) lists.Source {
	name, version := s.Package, ""
	if at := strings.LastIndexByte(name, '@'); at > 0 {
		name, version = name[:at], name[at+1:]
	}
	return lists.Source{Name: s.Registry + ":" + name, Version: version, Licence: s.Licence, Day: s.Fetched, Domains: s.Count}
}
