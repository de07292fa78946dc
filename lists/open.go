package lists

import (
	"hash/crc32"

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

// Open verifies a packed blob and returns lists that read it in place; the
// caller must not change blob afterwards. It returns a *DamagedError or a
// *VersionError if a look-up in blob could fail.
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
	if err := l.verifyRules(); err != nil {
		return nil, err
	}
	return l, nil
}

// index derives from the verified tables what makes look-ups faster.
func (l *Lists) index() {
	l.domains.index()
	l.roles.index()
	l.providers.index()
	l.words.fill(l)
}

// verify checks what parse does not: the content of the parts, but for the rules, which
// are looked up.
func (l *Lists) verify() error {
	if !isVersion(l.version) {
		return &DamagedError{"its date is not of the form 2026.11.20"}
	}
	if err := l.verifyKinds(); err != nil {
		return err
	}
	if err := l.domains.verify("domains", len(l.kinds)/format.KindBytes); err != nil {
		return err
	}
	if err := l.verifyWords(); err != nil {
		return err
	}
	return l.providers.verify("providers", len(l.rules))
}

// verifyWords checks the table of role words, and that it has no class that this
// version of the program does not know.
func (l *Lists) verifyWords() error {
	if err := l.roles.verify("role words", 0xFF); err != nil {
		return err
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
	l := &Lists{version: string(date) + "-" + hex32(checksum)}
	c := cursor{rest: blob[format.PartsAt:]}
	domains := c.part()
	l.kinds = c.part()
	sources, roles := c.part(), c.part()
	l.targets, l.topLevels = c.part(), c.part()
	providers, rules := c.part(), c.part()
	if c.short || len(c.rest) != 0 {
		return nil, &DamagedError{"its parts do not add up to its size"}
	}
	if err := l.parseLines(sources, rules); err != nil {
		return nil, err
	}
	return l, l.parseTables(domains, roles, providers)
}

func (l *Lists) parseTables(domains, roles, providers []byte) error {
	if err := l.domains.parse(domains, "domains"); err != nil {
		return err
	}
	if err := l.roles.parse(roles, "role words"); err != nil {
		return err
	}
	return l.providers.parse(providers, "providers")
}

func (l *Lists) parseLines(sources, rules []byte) (err error) {
	if l.sources, err = parseSources(sources); err != nil {
		return err
	}
	l.rules, err = parseRules(rules)
	return err
}

// cursor splits bytes into parts. short is set once a part would extend beyond
// the end.
type cursor struct {
	rest  []byte
	short bool
}

// take returns the next n bytes, or nil if there are fewer.
func (c *cursor) take(n int) []byte {
	if c.short || n < 0 || n > len(c.rest) {
		c.short = true
		return nil
	}
	part := c.rest[:n:n]
	c.rest = c.rest[n:]
	return part
}

// part returns the next part, which its size precedes.
func (c *cursor) part() []byte {
	size := c.take(4)
	if c.short {
		return nil
	}
	return c.take(format.Uint32(size))
}

// isVersion reports whether version has the form 2026.11.20-1a2b3c4d.
func isVersion(version string) bool {
	const form = "9999.99.99-"
	for i := range len(form) {
		if digit := version[i] >= '0' && version[i] <= '9'; digit != (form[i] == '9') || !digit && version[i] != form[i] {
			return false
		}
	}
	return true
}

// decimal formats n.
func decimal(n uint8) string {
	digits := [3]byte{'0' + n/100, '0' + n/10%10, '0' + n%10}
	from := 0
	for from < 2 && digits[from] == '0' {
		from++
	}
	return string(digits[from:])
}

// hex32 formats the low 32 bits of n as eight hexadecimal digits.
func hex32(n int) string {
	var digits [8]byte
	for i := range digits {
		digits[i] = "0123456789abcdef"[n>>(28-4*i)&15]
	}
	return string(digits[:])
}
