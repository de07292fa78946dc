package main

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/addrspec/addrspec/lists/internal/published"
	"github.com/addrspec/addrspec/lists/registry"
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

const historyHeader = `# The versions of the published lists that the walk back in time uses, written by
# "go run ./lists/back -pin": letter, registry:package@version, the day since which it was
# known, integrity of its archive.
#
# The day of a version from PyPI is that of the newest file in its wheel, which the integrity
# covers. npm's files have no dates, and the publish times of this registry do not rise with
# the versions: many are later than the truth. A version counts as known from the earliest
# time of itself and all later versions, which is never too early.
`

// pin writes the versions that the measurement needs to history.txt.
func pin(path string, s store) error {
	text := historyHeader
	for _, source := range published.Sources {
		fmt.Fprintf(os.Stderr, "pinning %c\n", source.Letter)
		versions, err := pinSource(source, s)
		if err != nil {
			return fmt.Errorf("source %c: %w", source.Letter, err)
		}
		for _, v := range versions {
			text += v.String() + "\n"
		}
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// pinSource returns the versions of a list that were the newest on a day of
// measurement and, for D, at the end of a horizon.
func pinSource(source published.Source, s store) ([]version, error) {
	releases, err := source.Registry.Releases(source.Package)
	if err != nil {
		return nil, err
	}
	t := &timeline{source: source, store: s, releases: knownSince(releases), fetched: map[int]version{}}
	used := map[int]version{}
	for _, day := range neededDays(source.Letter) {
		if err := t.newest(day, used); err != nil {
			return nil, err
		}
	}
	var versions []version
	for _, i := range slices.Sorted(maps.Keys(used)) {
		versions = append(versions, used[i])
	}
	return versions, nil
}

// neededDays returns the days for which a version of a list is needed.
func neededDays(letter byte) (needed []string) {
	for _, day := range days() {
		needed = append(needed, day)
		for _, h := range horizons {
			if letter == 'D' {
				needed = append(needed, after(day, h))
			}
		}
	}
	return needed
}

// knownSince sets the time of each release to the earliest of itself and all
// later releases.
func knownSince(releases []registry.Release) []registry.Release {
	releases = slices.Clone(releases)
	for i := len(releases) - 2; i >= 0; i-- {
		if next := releases[i+1].Published; next.Before(releases[i].Published) {
			releases[i].Published = next
		}
	}
	return releases
}

// timeline finds the release of a list that was the newest on a day. It fetches
// a release if the registry does not give its time.
type timeline struct {
	source   published.Source
	store    store
	releases []registry.Release // in the order of versions and of time
	fetched  map[int]version
}

// newest adds to used the newest release on day, if there was one. Times rise
// with the index, so it is found by bisection.
func (t *timeline) newest(day string, used map[int]version) error {
	low, high := 0, len(t.releases) // releases before low are known on day
	for low < high {
		middle := (low + high) / 2
		known, err := t.known(middle)
		if err != nil {
			return err
		}
		if known <= day {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low == 0 {
		return nil
	}
	v, err := t.fetch(low - 1)
	used[low-1] = v
	return err
}

// known returns the day since which release i was known.
func (t *timeline) known(i int) (string, error) {
	if at := t.releases[i].Published; !at.IsZero() {
		return at.UTC().Format(time.DateOnly), nil
	}
	v, err := t.fetch(i)
	return v.known, err
}

// fetch fetches release i, once.
func (t *timeline) fetch(i int) (version, error) {
	if v, done := t.fetched[i]; done {
		return v, nil
	}
	r := t.releases[i]
	spec := t.source.Package + "@" + r.Version
	p, err := t.source.Registry.Fetch(spec)
	if err != nil {
		return version{}, err
	}
	at := r.Published
	if at.IsZero() {
		at = p.Built
	}
	v := version{t.source, spec, at.UTC().Format(time.DateOnly), p.Integrity}
	if _, err := t.store.keep(v.item(), p); err != nil {
		return v, err
	}
	t.fetched[i] = v
	return v, nil
}
