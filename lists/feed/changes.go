package feed

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"aead.dev/minisign"

	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/lists/internal/blob"
	"github.com/addrspec/addrspec/lists/sources"
)

// ChangesName is the file of a feed with what the newest lists changed.
const ChangesName = "lists.changes.json"

// Limits of the changes. A day's are some fifty; those of a new source some thousands.
const (
	MaxChanges     = 10_000
	MaxChangesSize = 4 << 20
)

// Changes are the domains whose entry is not the one of the lists that the feed had
// before. Other sources of an entry are no change, since they change no result.
type Changes struct {
	Version   string   `json:"version"`   // of the lists
	Since     *string  `json:"since"`     // the version before; nil if the feed had none that this key signed
	Added     int      `json:"added"`     // entries, also those that do not fit
	Removed   int      `json:"removed"`   // likewise
	Truncated bool     `json:"truncated"` // some do not fit
	Rows      []Change `json:"changes"`   // sorted by domain
}

// Change is an entry that was added or removed. A domain whose class changed, or whether
// its subdomains are covered, has both, the removal first.
type Change struct {
	Domain     string     `json:"domain"`
	Change     ChangeKind `json:"change"`
	Class      string     `json:"class"`
	Subdomains bool       `json:"subdomains"`
	Sources    []string   `json:"sources"`             // that carry the entry, or carried it
	Day        string     `json:"day"`                 // of the version that changed it
	FirstDay   string     `json:"first_day,omitempty"` // on which a source is known to have carried it
}

// ChangeKind is added or removed.
type ChangeKind string

// The kinds.
const (
	WasAdded   ChangeKind = "added"
	WasRemoved ChangeKind = "removed"
)

// Compare returns what after changed of before, which is nil if there were no lists.
func Compare(before, after *lists.Lists) *Changes {
	c := &Changes{Version: after.Version(), Rows: []Change{}}
	if before == nil {
		return c
	}
	since := before.Version()
	c.Since = &since
	old, new := blob.Unpack(before), blob.Unpack(after)
	rows := append(missing(old, new, WasRemoved), missing(new, old, WasAdded)...)
	slices.SortFunc(rows, func(a, b Change) int {
		return cmp.Or(strings.Compare(a.Domain, b.Domain), -strings.Compare(string(a.Change), string(b.Change)))
	})
	size := 0
	for _, row := range rows {
		row.Day = strings.ReplaceAll(new.Date, ".", "-")
		if row.Change == WasAdded {
			c.Added++
		} else {
			c.Removed++
		}
		text, _ := json.Marshal(row) // never an error: names are ASCII
		size += len(text) + len(",\n")
		c.Truncated = c.Truncated || len(c.Rows) == MaxChanges || size > MaxChangesSize-1<<10
		if !c.Truncated {
			c.Rows = append(c.Rows, row)
		}
	}
	return c
}

func missing(a, b blob.Content, kind ChangeKind) (rows []Change) {
	for domain, k := range a.Domains {
		other := b.Domains[domain]
		if other.Class == k.Class && other.Subdomains == k.Subdomains {
			continue
		}
		row := Change{Domain: domain, Change: kind, Class: k.Class.String(), Sources: []string{}}
		row.Subdomains = k.Subdomains
		for i, s := range a.Sources {
			if k.Carriers>>i&1 == 0 {
				continue
			}
			row.Sources = append(row.Sources, s.Name)
			row.FirstDay = cmp.Or(row.FirstDay, sources.FirstDay(s.Name, domain))
		}
		rows = append(rows, row)
	}
	return rows
}

// Text returns the content of the file, with a line for each change.
func (c *Changes) Text() []byte {
	head := *c
	head.Rows = nil
	text, _ := json.Marshal(head)
	text = append(bytes.TrimSuffix(text, []byte("null}")), '[')
	for i, row := range c.Rows {
		line, _ := json.Marshal(row)
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(text, '\n'), line...)
	}
	return append(text, "\n]}\n"...)
}

// changesComment begins the trusted comment of their signature.
const changesComment = "addrspec changes version:"

// SignChanges returns the text of the file of changes, and its signature.
func (k SecretKey) SignChanges(c *Changes) (text, signature []byte, err error) {
	text = c.Text()
	signature, err = k.sign(text, changesComment+c.Version, "signature of the changes of addrspec's lists")
	return text, signature, err
}

// OpenChanges verifies the text of a file of changes. They are those of the version that
// they name, which need not be the newest: a server may send old files.
func (k PublicKey) OpenChanges(text, signature []byte) (*Changes, error) {
	if len(text) > MaxChangesSize {
		return nil, refuse(TooLarge, "the changes are larger than %d MiB", MaxChangesSize>>20)
	}
	decoded, err := decode(signature)
	if err != nil {
		return nil, err
	}
	if !minisign.Verify(k.key, text, signature) {
		return nil, refuse(BadSignature, "the changes are not those that were signed with the key %s: fetch both files again", k.ID())
	}
	c := &Changes{}
	if err := json.Unmarshal(text, c); err != nil || decoded.TrustedComment != changesComment+c.Version {
		return nil, refuse(BadSignature, "the signature is not one of changes of lists")
	}
	return c, nil
}
