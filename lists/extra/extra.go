// Package extra adds an operator's own rows to packed lists, without the tables and the
// packer: [Read] reads the file of --lists-extra, [Rows.AddTo] returns a blob with its
// rows.
//
// The file has rows as in the hand-written tables (lists/README.md), below their class:
//
//	[known]                 # in use, and neither disposable, public nor relay
//	partner.example         a note
//	[disposable]            # its rows cover subdomains, here as in disposable.txt
//	burner.example
//	[public]
//	*.webmail.example       # covers subdomains
//	[relay]
//	forward.example
//
// A row wins over the entry of the same name in the lists. As everywhere, the most
// specific entry decides, so a row does not change the entries of names below its own.
//
// Signatures are verified before: what is added is the operator's word, as the flag is.
// Errors name file and line and repeat nothing of the file, since logs have no address,
// and somebody may have written one.
package extra

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/lists/internal/blob"
	"github.com/addrspec/addrspec/lists/internal/format"
	"github.com/addrspec/addrspec/lists/internal/tables"
)

// Limits of a file. A table of the blob has at most 65,535 entries.
const (
	MaxBytes = 1 << 20
	MaxRows  = 10_000
)

// Source is the name of the file among the sources of an entry.
const Source = "operator:lists-extra"

// Rows are the rows of a file. None, and nil, add nothing.
type Rows struct {
	entries map[string]row
}

// row is an entry, and the line that has it.
type row struct {
	class      lists.Class
	subdomains bool
	line       int
}

// Read reads a file. It refuses a pipe, whose opening may block, and which would be empty
// when serve reads it again.
func Read(path string) (*Rows, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file: write the rows into a file, since serve reads it again", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, MaxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("%s is larger than %d KiB: put only corrections into it, and pack lists of your own for more", path, MaxBytes>>10)
	}
	return parse(path, string(text))
}

// sections are the classes that a row may have. No-reply hosts are no operator's matter:
// their addresses have a role.
var sections = map[string]lists.Class{
	"[known]": lists.Known, "[disposable]": lists.Disposable, "[public]": lists.Public, "[relay]": lists.Relay,
}

// parse parses the text of a file, which may begin with a byte order mark.
func parse(path, text string) (*Rows, error) {
	rows, class, n := &Rows{map[string]row{}}, lists.Class(0), 0
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		n++
		content, _, _ := strings.Cut(line, "#")
		fields := strings.Fields(content)
		var err error
		switch {
		case !utf8.ValidString(line):
			err = errors.New("the line is not UTF-8: save the file as UTF-8")
		case len(fields) == 0:
		case strings.HasPrefix(fields[0], "["):
			class = sections[strings.Join(fields, " ")]
			if class == 0 {
				err = errors.New("this is no class: write [known], [disposable], [public] or [relay] on a line of its own")
			}
		case class == 0:
			err = errors.New("the row has no class: write [known], [disposable], [public] or [relay] on a line above it")
		default:
			bare, subdomains := strings.CutPrefix(fields[0], "*.")
			err = rows.add(bare, row{class, subdomains || class == lists.Disposable, n})
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
	}
	return rows, nil
}

func (r *Rows) add(domain string, added row) error {
	name, err := tables.Canonical(domain)
	switch before, twice := r.entries[name]; {
	case strings.Contains(domain, "@"):
		return errors.New("this is an address: write only its domain, which is behind the @")
	case err != nil:
		return errors.New("this is no domain of at least two labels: write one such as partner.example, " +
			"or *.partner.example with its subdomains, then a space and a note")
	case twice:
		return fmt.Errorf("line %d has this domain already: remove one of both", before.line)
	case tables.TooWide(name, added.subdomains):
		return errors.New("this is a public suffix: anybody can register names below it, so write the names themselves")
	case len(r.entries) == MaxRows:
		return fmt.Errorf("there are more than %d rows: put only corrections into the file, and pack lists of your own for more", MaxRows)
	}
	r.entries[name] = added
	return nil
}

// Len returns the number of rows.
func (r *Rows) Len() int {
	if r == nil {
		return 0
	}
	return len(r.entries)
}

// AddTo returns a packed blob with the rows: the blob itself if there are none.
func (r *Rows) AddTo(packed []byte) ([]byte, error) {
	if r.Len() == 0 {
		return packed, nil
	}
	opened, err := lists.Open(packed)
	if err != nil {
		return nil, err
	}
	c := blob.Unpack(opened)
	if len(c.Sources) == format.MaxSources {
		return nil, fmt.Errorf("the lists have %d sources, and no place for one more", len(c.Sources))
	}
	own := uint32(1) << len(c.Sources)
	c.Sources = append(slices.Clone(c.Sources), lists.Source{Name: Source, Domains: strconv.Itoa(len(r.entries))})
	for name, row := range r.entries {
		before := c.Domains[name]
		k := blob.Kind{Class: row.class, Subdomains: row.subdomains, Carriers: own, Mailboxes: before.Mailboxes}
		if before.Class == row.class {
			k.Carriers |= before.Carriers // the sources that have an entry for the name and agree
		}
		c.Domains[name] = k
	}
	merged, err := blob.Pack(c)
	if err != nil {
		return nil, fmt.Errorf("the rows do not fit beside the lists: %w", err)
	}
	return merged, nil
}

// Base returns given, or the built-in lists if given is nil. The lists of a module of another
// program, whose version is used, cannot be read from it.
func Base(given []byte, used string) ([]byte, error) {
	if given != nil {
		return given, nil
	}
	if built := lists.Default().Version(); built != used {
		return nil, fmt.Errorf("the module has the lists %s, which cannot be read from it, and this program has %s: give those of the module with --lists", used, built)
	}
	return lists.Blob(), nil
}
