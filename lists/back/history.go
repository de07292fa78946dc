package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/addrspec/addrspec/lists/internal/published"
)

// version is a version of a published list: a line of history.txt.
type version struct {
	source    published.Source
	spec      string // name@version
	known     string // the day since which it could be fetched
	integrity string
}

// history has versions by the letter of their list, oldest first.
type history map[byte][]version

// at returns the newest version of a list that was known on day, or false if
// there is none.
func (h history) at(letter byte, day string) (newest version, found bool) {
	for _, v := range h[letter] {
		if v.known <= day {
			newest, found = v, true
		}
	}
	return newest, found
}

// readHistory reads history.txt.
func readHistory(path string) (history, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := history{}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line, _, _ := strings.Cut(lines.Text(), "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		v, err := parseVersion(line)
		if err != nil {
			return nil, fmt.Errorf("history.txt:%d: %w", n, err)
		}
		h[v.source.Letter] = append(h[v.source.Letter], v)
	}
	return h, lines.Err()
}

// parseVersion reads a line of history.txt.
func parseVersion(line string) (v version, err error) {
	fields := strings.Fields(line)
	if len(fields) != 4 {
		return v, fmt.Errorf("want letter, registry:package@version, day and integrity, got %q", line)
	}
	for _, s := range published.Sources {
		if string(s.Letter) == fields[0] && strings.HasPrefix(fields[1], s.Registry.Name+":"+s.Package+"@") {
			v = version{s, strings.TrimPrefix(fields[1], s.Registry.Name+":"), fields[2], fields[3]}
			_, err = time.Parse(time.DateOnly, v.known)
			return v, err
		}
	}
	return v, fmt.Errorf("%s %s is not one of the published lists", fields[0], fields[1])
}

func (v version) String() string {
	return fmt.Sprintf("%c %s:%s %s %s", v.source.Letter, v.source.Registry.Name, v.spec, v.known, v.integrity)
}

// item returns the list as the store fetches it.
func (v version) item() item { return item{v.source.Registry, v.spec, v.integrity, v.source.Read} }
