package lists

import (
	"bytes"

	"github.com/addrspec/addrspec/lists/internal/format"
)

// Source is a list that an entry may come from: a published one, or a table of
// this project, whose name begins with "addrspec/".
type Source struct {
	Name    string // with the registry of its package, such as "npm:fakefilter"
	Version string // empty for a table of this project
	Licence string // likewise
	Day     string // when this version was first fetched, 2026-11-20; likewise
	Domains string // how many it has, in decimal, before the tables are merged
}

// Sources returns the lists behind the entries. The caller must not change the
// slice.
func (l *Lists) Sources() []Source { return l.sources }

// parseSources parses the lines of the part about sources.
func parseSources(part []byte) (sources []Source, err error) {
	err = eachLine(part, format.SourceFields, func(f [][]byte) bool {
		sources = append(sources, Source{string(f[0]), string(f[1]), string(f[2]), string(f[3]), string(f[4])})
		return len(f[0]) > 0 && len(sources) <= format.MaxSources
	})
	if err != nil {
		return nil, &DamagedError{"a line of its sources is malformed"}
	}
	return sources, nil
}

// errLine is the error of eachLine.
var errLine = &DamagedError{"a line is malformed"}

// eachLine calls do with the fields of each line of part. It returns errLine if
// a line has no end, is too long, has another number of fields or a character that
// JSON escapes, or if do returns false.
func eachLine(part []byte, fields int, do func(f [][]byte) bool) error {
	var f [format.SourceFields][]byte // the most that any part has
	for len(part) > 0 {
		line, rest, ended := bytes.Cut(part, []byte{'\n'})
		if !ended || len(line) > format.MaxLine || !isPlain(line) || !splitFields(f[:fields], line) || !do(f[:fields]) {
			return errLine
		}
		part = rest
	}
	return nil
}

// splitFields splits line at its tabs. It returns false if it has another number
// of fields than f. bytes.Split would enlarge the module.
func splitFields(f [][]byte, line []byte) bool {
	more := true
	for n := range f {
		if !more {
			return false
		}
		f[n], line, more = bytes.Cut(line, []byte{'\t'})
	}
	return !more
}

// isPlain reports whether line needs no escape in JSON once it is split at tabs.
func isPlain(line []byte) bool {
	for _, b := range line {
		if b != '\t' && (b < ' ' || b > '~' || b == '"' || b == '\\') {
			return false
		}
	}
	return true
}

// classes are the classes that a kind may have.
const classes = Disposable | Public | Relay | Known | NoMail

// verifyKinds checks that each kind has one class and carriers that exist.
func (l *Lists) verifyKinds() error {
	if len(l.kinds)%format.KindBytes != 0 {
		return &DamagedError{"its last kind is truncated"}
	}
	for k := l.kinds; len(k) > 0; k = k[format.KindBytes:] {
		class := Class(k[0] &^ format.Subdomains)
		if class&classes == 0 || class&(class-1) != 0 || format.Uint32(k[1:])>>len(l.sources) != 0 {
			return &DamagedError{"a kind has no class, several, or a source that it does not list"}
		}
	}
	return nil
}
