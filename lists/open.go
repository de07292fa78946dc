package lists

import (
	"bytes"
	"hash/crc32"
	"strings"

	"github.com/addrspec/addrspec/lists/internal/format"
)

// DamagedError reports bytes that the packer cannot have written.
type DamagedError struct{ What string }

func (e *DamagedError) Error() string {
	return "lists: the blob is damaged: " + e.What + "; fetch or pack it again"
}

// VersionError reports a blob in a format that this program does not read.
type VersionError struct{ Has, Reads uint8 }

func (e *VersionError) Error() string {
	advice := "pack it again with the packer of this program"
	if e.Has > e.Reads {
		advice = "update the program"
	}
	return "lists: the blob has format " + decimal(e.Has) + ", this program reads format " + decimal(e.Reads) + ": " + advice
}

// decimal formats n. strconv would enlarge the module.
func decimal(n uint8) string {
	if n < 10 {
		return string('0' + rune(n))
	}
	return decimal(n/10) + string('0'+rune(n%10))
}

// Open verifies a packed blob and returns lists that read it in place; the
// caller must not change blob afterwards. It returns a *DamagedError or a
// *VersionError if a lookup in blob could fail.
func Open(blob []byte) (*Lists, error) {
	l, err := parse(blob)
	if err != nil {
		return nil, err
	}
	if int(crc32.ChecksumIEEE(blob[format.DateAt:])) != format.Uint32(blob[format.ChecksumAt:]) {
		return nil, &DamagedError{"its checksum does not match its bytes"}
	}
	if err := l.verify(); err != nil {
		return nil, err
	}
	l.index()
	// Applying a rule twice must have the effect of applying it once.
	for i := range l.rules {
		domain := []byte(l.rules[i].Domain)
		if len(domain) > 0 && (l.providers.find(domain) != i+1 || !isHostName(domain)) {
			return nil, &DamagedError{"the domain of a rule is not one of that rule"}
		}
	}
	return l, nil
}

// parse splits a blob into its parts without verifying them.
func parse(blob []byte) (*Lists, error) {
	if len(blob) < format.PartsAt {
		return nil, &DamagedError{"it ends within its header"}
	}
	if string(blob[:len(format.Magic)]) != format.Magic {
		return nil, &DamagedError{"it does not begin with \"" + format.Magic + "\""}
	}
	if v := blob[len(format.Magic)]; v != format.Version {
		return nil, &VersionError{v, format.Version}
	}
	date, checksum := blob[format.DateAt:format.PartsAt], format.Uint32(blob[format.ChecksumAt:])
	var digits [8]byte
	for i := range digits {
		digits[i] = "0123456789abcdef"[checksum>>(28-4*i)&15]
	}
	l := &Lists{version: string(date) + "-" + string(digits[:])}
	c := cursor{rest: blob[format.PartsAt:]}
	domains := c.part()
	l.kinds = c.part()
	sources, roles := c.part(), c.part()
	l.targets, l.topLevels = c.part(), c.part()
	providers, rules := c.part(), c.part()
	exchanges, operators, mailboxes := c.part(), c.part(), c.part()
	switch {
	case c.short || len(c.rest) != 0:
		return nil, &DamagedError{"its parts do not add up to its size"}
	case !l.parseSources(sources):
		return nil, &DamagedError{"a line of its sources is malformed"}
	case !l.parseOperators(operators):
		return nil, &DamagedError{"a line of its exchanges' operators is malformed"}
	case !l.parseMailboxes(mailboxes):
		return nil, &DamagedError{"a line of its mailboxes is malformed"}
	case !l.parseRules(rules):
		return nil, &DamagedError{"a line of its rules is malformed"}
	case !l.domains.parse(domains):
		return nil, &DamagedError{"its table of domains is malformed"}
	case !l.roles.parse(roles):
		return nil, &DamagedError{"its table of role words is malformed"}
	case !l.exchanges.parse(exchanges):
		return nil, &DamagedError{"its table of exchanges is malformed"}
	case !l.providers.parse(providers):
		return nil, &DamagedError{"its table of providers is malformed"}
	}
	return l, nil
}

// verify checks the content of the parts, which parse does not, except the rules, which
// are looked up.
func (l *Lists) verify() error {
	const form = "9999.99.99-"
	for i := range len(form) {
		digit := l.version[i] >= '0' && l.version[i] <= '9'
		if digit != (form[i] == '9') || !digit && l.version[i] != form[i] {
			return &DamagedError{"its date is not of the form 2026.11.20"}
		}
	}
	if len(l.kinds)%format.KindBytes != 0 {
		return &DamagedError{"its last kind is truncated"}
	}
	for k := l.kinds; len(k) > 0; k = k[format.KindBytes:] {
		class := Class(k[0] &^ format.Subdomains)
		if class&classes == 0 || class&(class-1) != 0 || format.Uint32(k[1:])>>len(l.sources) != 0 || int(k[5]) > len(l.mailboxes) {
			return &DamagedError{"a kind has no class, several, or a source or rule that it does not list"}
		}
	}
	switch {
	case !l.domains.verify(len(l.kinds) / format.KindBytes):
		return &DamagedError{"an entry in its table of domains is out of range"}
	case !l.roles.verify(0xFF):
		return &DamagedError{"an entry in its table of role words is out of range"}
	case !l.exchanges.verify(len(l.operators)):
		return &DamagedError{"an entry in its table of exchanges is out of range"}
	case !l.providers.verify(len(l.rules)):
		return &DamagedError{"an entry in its table of providers is out of range"}
	}
	known := true
	l.EachWord(func(_ []byte, w Word) {
		known = known && int(w.Class()) < len(roleNames) && w.Class() != NoRole
	})
	if !known {
		return &DamagedError{"a class in its table of role words is unknown"}
	}
	return nil
}

func (l *Lists) index() {
	l.domains.index()
	l.roles.index()
	l.providers.index()
	l.exchanges.index()
	l.EachWord(func(word []byte, _ Word) { l.words.add(word) })
	for rest := l.topLevels; len(rest) > 0; {
		var label []byte
		label, rest, _ = bytes.Cut(rest, []byte{'\n'})
		if len(label) > 2 && l.domains.find(label) != 0 {
			l.endings |= 1 << (label[len(label)-1] & 31)
		}
	}
}

// cursor splits bytes into parts.
type cursor struct {
	rest  []byte
	short bool // a part would extend beyond the end
}

func (c *cursor) take(n int) []byte {
	if c.short || n < 0 || n > len(c.rest) {
		c.short = true
		return nil
	}
	part := c.rest[:n:n]
	c.rest = c.rest[n:]
	return part
}

func (c *cursor) part() []byte {
	size := c.take(4)
	if c.short {
		return nil
	}
	return c.take(format.Uint32(size))
}

// Source is a list that an entry may come from: a published one, or a table of
// this project, whose name begins with "addrspec/".
type Source struct {
	Name    string // with the registry of its package, such as "npm:fakefilter"
	Version string // empty for a table of this project
	Licence string // likewise
	Day     string // when this version was first fetched, 2026-11-20; likewise
	Domains string // how many it has, in decimal, before the tables are merged
}

// Sources returns the lists behind the entries. The caller must not change the slice.
func (l *Lists) Sources() []Source { return l.sources }

func (l *Lists) parseSources(part []byte) bool {
	return eachLine(part, format.SourceFields, func(f [][]byte) bool {
		if string(f[0]) == SelfNamedSource {
			l.selfNames = 1 << len(l.sources)
		}
		l.sources = append(l.sources, Source{string(f[0]), string(f[1]), string(f[2]), string(f[3]), string(f[4])})
		return len(f[0]) > 0 && len(l.sources) <= format.MaxSources
	})
}

// Rule is what a provider publishes about which of its addresses are the same
// mailbox.
type Rule struct {
	Name       string // stable, such as "gmail"
	Tags       bool   // what follows a plus sign in the local part is a tag
	Subdomains bool   // tag@user.domain is user@domain
	Ignored    string // characters of the local part that do not count
	Domain     string // that each of its domains means; empty if they are different
}

// Rule returns the rule for the addresses at domain, which must be lower case
// and in A-label form, or nil if none is known. It covers no subdomain.
func (l *Lists) Rule(domain []byte) *Rule {
	if number := l.providers.find(domain); number != 0 {
		return &l.rules[number-1]
	}
	return nil
}

func (l *Lists) parseRules(part []byte) bool {
	return eachLine(part, format.RuleFields, func(f [][]byte) bool {
		l.rules = append(l.rules, Rule{
			Name:       string(f[0]),
			Tags:       bytes.IndexByte(f[1], format.OptionTags) >= 0,
			Subdomains: bytes.IndexByte(f[1], format.OptionSubdomains) >= 0,
			Ignored:    string(f[2]),
			Domain:     string(f[3]),
		})
		return len(f[0]) > 0 && len(l.rules) <= format.MaxRules && onlyOf(f[2], ".-_")
	})
}

// eachLine calls do with the fields of each line of part. It returns false if
// a line has no end, is too long, has another number of fields or a character that
// JSON escapes, or if do returns false. bytes.Split would enlarge the module.
func eachLine(part []byte, fields int, do func(f [][]byte) bool) bool {
	var f [format.SourceFields][]byte // the most that any part has
	for len(part) > 0 {
		line, rest, ended := bytes.Cut(part, []byte{'\n'})
		if !ended || len(line) > format.MaxLine {
			return false
		}
		for _, b := range line {
			if b != '\t' && (b < ' ' || b > '~' || b == '"' || b == '\\') {
				return false
			}
		}
		more := true
		for n := range fields {
			if !more {
				return false
			}
			f[n], line, more = bytes.Cut(line, []byte{'\t'})
		}
		if more || !do(f[:fields]) {
			return false
		}
		part = rest
	}
	return true
}

// isHostName reports whether name is made of labels that a host name may have, and
// none that is international.
func isHostName(name []byte) bool {
	if len(name) > 253 || !onlyOf(name, format.Alphabet) {
		return false
	}
	for more := true; more; {
		var label []byte
		label, name, more = bytes.Cut(name, []byte{'.'})
		if len(label) == 0 || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' || bytes.HasPrefix(label, []byte("xn--")) {
			return false
		}
	}
	return true
}

// onlyOf reports whether every byte of s is one of set. strings.Trim would enlarge
// the module.
func onlyOf(s []byte, set string) bool {
	for _, b := range s {
		if strings.IndexByte(set, b) < 0 {
			return false
		}
	}
	return true
}
