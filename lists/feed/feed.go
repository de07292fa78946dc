// Package feed signs and verifies newer lists.
//
// A feed is a directory that any web server can serve: the blob, its signature, and
// what people and monitors want to know.
//
//	lists.blob                   the blob that "go run ./lists/cmd pack" writes
//	lists.blob.minisig           its signature, in the format of minisign
//	lists.changes.json           the domains whose entries changed since the version before
//	lists.changes.json.minisig   its signature, with the same key
//	lists.json                   version, times, size and counts; no program relies on it
//
// The signature is minisign's (https://jedisct1.github.io/minisign/), in the prehashed form
// only. Its trusted comment, which a second signature protects, orders blobs:
//
//	addrspec lists version:2026.11.22-1a2b3c4d signed:1795372800 expires:1797964800
//
// The times are seconds since 1970. The version must be the blob's own. An
// update is refused if it was signed before the lists in use or has expired, so
// a server that replays old files cannot take a client back.
//
// [PublicKey.Parse] reads a signature and verifies its trusted comment;
// [Signature.Open] then verifies a blob. The package does no I/O; package store keeps a blob
// and its signature in files.
package feed

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/addrspec/addrspec/lists"
)

// Names of the files of a feed.
const (
	BlobName    = "lists.blob"
	SummaryName = "lists.json"
	Suffix      = ".minisig" // of a blob's signature
)

// Limits on files.
const (
	MaxBlob      = 4 << 20 // the module's limit, too
	MaxSignature = 4 << 10
	MaxKey       = 4 << 10
)

// Reason classifies why lists were refused. It is the label of a metric, so the
// set is fixed.
type Reason string

// The reasons. The last three are for programs that fetch and install lists.
const (
	BadSignature Reason = "signature" // wrong, or not a signature
	OtherKey     Reason = "key"       // made with another key
	Damaged      Reason = "damaged"   // not the bytes that were signed
	OtherFormat  Reason = "format"    // a blob of another version of the format
	TooLarge     Reason = "size"
	Older        Reason = "older"
	Expired      Reason = "expired"
	NotYet       Reason = "future" // signed in the future
	Fetching     Reason = "fetch"
	Storing      Reason = "store"
	Installing   Reason = "install"
)

// Reasons has every reason, for programs that count them.
var Reasons = []Reason{BadSignature, OtherKey, Damaged, OtherFormat, TooLarge, Older, Expired, NotYet,
	Fetching, Storing, Installing}

// Error is a refusal: a sentence with the cause and the remedy, without a key.
type Error struct {
	Reason Reason
	Text   string
}

func (e *Error) Error() string { return e.Text }

func refuse(reason Reason, text string, values ...any) error {
	return &Error{reason, fmt.Sprintf(text, values...)}
}

// Summary describes a blob to people and monitors: lists.json of a feed, and
// the output of `addrspec lists show`.
type Summary struct {
	Version string         `json:"version"`
	Date    string         `json:"date"`              // when the sources were last read
	Signed  *time.Time     `json:"signed,omitempty"`  // nil without a signature
	Expires *time.Time     `json:"expires,omitempty"` // likewise
	Size    int            `json:"size"`              // bytes of the blob; 0 if built in
	Counts  map[string]int `json:"counts"`
	Sources []Source       `json:"sources"`
}

// Source is a list that the entries come from.
type Source struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Licence string `json:"licence,omitempty"`
	Day     string `json:"day,omitempty"` // when this version was first fetched
	Domains int    `json:"domains"`
}

// CountNames are the names of the counts, in the order in which people read them.
var CountNames = []string{"disposable", "public", "relay", "known", "unproven",
	"role_words", "typo_targets", "top_levels"}

func describe(l *lists.Lists, size int) Summary {
	s := Summary{Version: l.Version(), Size: size, Counts: map[string]int{"role_words": l.RoleWords(),
		"typo_targets": lists.Lines(l.TypoTargets()), "top_levels": lists.Lines(l.TopLevels())}}
	if read, err := Day(l.Version()); err == nil {
		s.Date = read.Format(time.DateOnly)
	}
	for _, class := range []lists.Class{lists.Disposable, lists.Public, lists.Relay, lists.Known, lists.Unproven} {
		s.Counts[class.String()] = l.Count(class)
	}
	for _, source := range l.Sources() {
		domains, _ := strconv.Atoi(source.Domains)
		s.Sources = append(s.Sources, Source{source.Name, source.Version, source.Licence, source.Day, domains})
	}
	return s
}

// DescribeBlob opens a blob without a signature and summarizes it.
func DescribeBlob(blob []byte) (Summary, error) {
	opened, err := open(blob)
	if err != nil {
		return Summary{}, err
	}
	return describe(opened, len(blob)), nil
}

var errTooLarge = refuse(TooLarge, "the lists are larger than %d MiB", MaxBlob>>20)

// open opens a blob. This is where bytes from outside are checked, signed or not.
func open(blob []byte) (*lists.Lists, error) {
	if len(blob) > MaxBlob {
		return nil, errTooLarge
	}
	opened, err := lists.Open(blob)
	if err != nil {
		reason := Damaged
		if errors.As(err, new(*lists.VersionError)) {
			reason = OtherFormat
		}
		return nil, refuse(reason, "%s", strings.TrimPrefix(err.Error(), "lists: "))
	}
	return opened, nil
}

// DescribeBuiltIn summarizes the lists built into the program.
func DescribeBuiltIn() Summary { return describe(lists.Default(), 0) }

// With returns the summary with the times of a statement.
func (s Summary) With(st Statement) Summary {
	s.Signed, s.Expires = &st.Signed, &st.Expires
	return s
}

// Summary summarizes the release.
func (r *Release) Summary() Summary { return describe(r.Lists, len(r.Blob)).With(r.Statement) }
