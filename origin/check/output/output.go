// Package output writes checked records: as a [Table] for people, as [CSV], or as
// [NDJSON]. Beside the records, on standard error, are a [Summary], a [Progress]
// bar and the [BadLines] that could not be read.
//
// Widths of text on a terminal are measured by github.com/rivo/uniseg (MIT, no
// dependencies): it finds grapheme clusters, which must not be cut, and their
// widths in one step. The progress bar is our own: it estimates the share that is
// done from two counts, bytes read and records written, and the libraries draw from
// one.
package output

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/addrspec/addrspec/origin/check/pipeline"
	"github.com/addrspec/addrspec/origin/words"
)

// The codes of a record that is not checked.
const (
	badLine   = "BAD_LINE"   // it cannot be read, such as a line that is not JSON
	noAddress = "NO_ADDRESS" // it has no address
)

// A problem is why a record has no result.
type problem struct {
	Code    string `json:"code"` // "" if it has one
	Message string `json:"message"`
}

func problemOf(r *pipeline.Record, o *pipeline.Outcome) problem {
	switch {
	case errors.Is(r.Err, pipeline.ErrNoAddress):
		return problem{noAddress, r.Err.Error()}
	case r.Err != nil:
		return problem{badLine, r.Err.Error()}
	}
	return problem{o.Code, o.Message}
}

// A Layout is what is known of an input after its first record was read. A reader
// of package input is one.
type Layout interface {
	Comma() byte      // the separator of CSV, 0 of other formats
	Header() []string // the names of the columns of CSV, nil without a header
	Width() int       // how many columns CSV has

	Preamble() [][]string // the rows of CSV before the header, which are no records
}

// isCSV reports whether records have cells. A nil layout is that of arguments.
func isCSV(l Layout) bool { return l != nil && l.Comma() != 0 }

// A Summary is what a run found, in numbers.
type Summary struct {
	Counts   pipeline.Counts
	Elapsed  time.Duration
	LookedUp bool  // whether MX records were looked up
	Policy   bool  // whether a policy decided
	Lies     error // why their results are wrong; nil if no resolver lies
	Readings []Reading
}

// A Reading is in which encoding an input was read.
type Reading struct {
	Name     string `json:"name"` // of the input
	Encoding string `json:"encoding"`
	Why      string `json:"why"`
	Guessed  bool   `json:"guessed"` // it may be another one
}

// WriteText writes a sentence.
func (r *Reading) WriteText(to io.Writer) {
	advice := ""
	if r.Guessed {
		advice = ". If letters look wrong, give another one with --encoding"
	}
	fmt.Fprintln(to, Printable(fmt.Sprintf("%s was read as %s: %s%s.", r.Name, r.Encoding, r.Why, advice)))
}

// A figure is one line of the summary.
type figure struct {
	name  string
	count int64
}

// figures are shown always, also if they are 0.
func (s *Summary) figures() []figure {
	c := &s.Counts
	list := []figure{{"valid", c.Valid}, {"  typo", c.Typo}, {"  disposable", c.Disposable}, {"  role", c.Role},
		{"  gibberish", c.Gibberish}}
	if s.LookedUp {
		list = append(list, figure{"  no MX record", c.NoMX})
	}
	list = append(list, figure{"invalid", c.Invalid}, figure{"errors", c.Errors})
	if s.Policy {
		list = append(list, figure{"allow", c.Allow}, figure{"review", c.Review}, figure{"block", c.Block})
	}
	return list
}

// addresses returns how many records had an address, and how many a second.
func (s *Summary) addresses() (count int64, rate float64) {
	count = s.Counts.Records - s.Counts.Bad - s.Counts.NoAddress
	if s.Elapsed > 0 {
		rate = float64(count) / s.Elapsed.Seconds()
	}
	return count, rate
}

// WriteText writes the summary for people. A table of zeros would say less than that
// there was nothing to check.
func (s *Summary) WriteText(to io.Writer) error {
	if s.Counts.Records == 0 {
		_, err := fmt.Fprintln(to, "Nothing was checked: the input is empty, or has only a header.")
		return err
	}
	var text bytes.Buffer
	count, rate := s.addresses()
	if count == 0 {
		text.WriteString("Nothing was checked.\n")
	} else {
		fmt.Fprintf(&text, "%s checked in %s, %s per second\n", words.Count(count, "address"), duration(s.Elapsed),
			humanize.Comma(int64(rate)))
		columns := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
		for _, f := range s.figures() {
			fmt.Fprintf(columns, "%-14s\t%s\t%s\t\n", f.name, humanize.Comma(f.count), share(f.count, count))
		}
		columns.Flush()
	}
	if none := s.Counts.NoAddress; none > 0 {
		fmt.Fprintf(&text, "%s without an address.\n", words.Count(none, "record"))
	}
	if bad := s.Counts.Bad; bad > 0 {
		fmt.Fprintf(&text, "%s could not be read.\n", words.Count(bad, "record"))
	}
	for n := range s.Readings {
		s.Readings[n].WriteText(&text)
	}
	if !s.LookedUp && count > 0 { // an address literal needs no lookup
		text.WriteString("MX records were not looked up")
		if s.Policy {
			text.WriteString(", so the policy's reasons that need DNS were skipped: " +
				"no_mx, no_mail, and disposable by the exchange")
		}
		text.WriteString(".\n")
	}
	_, err := text.WriteTo(to)
	return errors.Join(err, s.WriteLies(to))
}

// WriteLies writes a warning if a resolver lies.
func (s *Summary) WriteLies(to io.Writer) (err error) {
	if s.Lies != nil {
		_, err = fmt.Fprintf(to, "Do not trust the results of MX lookups: %s\n", s.Lies)
	}
	return err
}

// WriteJSON writes the same as one object in a line, for programs. no_mx is null if
// MX records were not looked up, and warning if no resolver lies.
func (s *Summary) WriteJSON(to io.Writer) error {
	c := &s.Counts
	object := struct {
		Addresses  int64   `json:"addresses"`
		Valid      int64   `json:"valid"`
		Typo       int64   `json:"typo"`
		Disposable int64   `json:"disposable"`
		Role       int64   `json:"role"`
		Gibberish  int64   `json:"gibberish"`
		Public     int64   `json:"public"`
		Relay      int64   `json:"relay"`
		NoMX       *int64  `json:"no_mx"`
		Invalid    int64   `json:"invalid"`
		Errors     int64   `json:"errors"`
		NoAddress  int64   `json:"no_address"`
		Bad        int64   `json:"bad_records"`
		Seconds    float64 `json:"seconds"`
		Rate       float64 `json:"addresses_per_second"`
		Warning    any     `json:"warning"`

		Inputs []Reading `json:"inputs,omitempty"`

		// With a policy:
		Allow   *int64   `json:"allow,omitempty"`
		Review  *int64   `json:"review,omitempty"`
		Block   *int64   `json:"block,omitempty"`
		Skipped []string `json:"skipped_reasons,omitzero"` // since nothing was looked up
	}{Valid: c.Valid, Typo: c.Typo, Disposable: c.Disposable, Role: c.Role, Gibberish: c.Gibberish, Public: c.Public,
		Relay: c.Relay, Invalid: c.Invalid, Errors: c.Errors, NoAddress: c.NoAddress, Bad: c.Bad,
		Seconds: s.Elapsed.Seconds(), Inputs: s.Readings}
	object.Addresses, object.Rate = s.addresses()
	if s.Lies != nil {
		object.Warning = s.Lies.Error()
	}
	if s.LookedUp {
		object.NoMX = &c.NoMX
	}
	if s.Policy {
		object.Allow, object.Review, object.Block, object.Skipped = &c.Allow, &c.Review, &c.Block, []string{}
		if !s.LookedUp {
			object.Skipped = []string{"no_mx", "no_mail"}
		}
	}
	return json.NewEncoder(to).Encode(object)
}

// share returns a part in percent. One that rounds to nothing or to all is not
// shown as such.
func share(part, whole int64) string {
	percent := 100 * float64(part) / float64(whole)
	switch {
	case part > 0 && percent < 0.1:
		return "< 0.1 %"
	case part < whole && percent > 99.9:
		return "> 99.9 %"
	}
	return fmt.Sprintf("%.1f %%", percent)
}

// duration rounds to three or four digits.
func duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// maxBadLines is how many bad records are reported one by one, so that a million of
// them do not flood a terminal or a log.
const maxBadLines = 20

// BadLines reports records that could not be read, one a line.
type BadLines struct {
	To   io.Writer
	Name string // of the input, if its records do not have one

	count int64
}

// Report reports one record.
func (b *BadLines) Report(r *pipeline.Record) {
	b.count++
	if b.count > maxBadLines {
		return
	}
	where := cmp.Or(r.File, b.Name)
	if r.Line > 0 {
		where += fmt.Sprintf(" line %d", r.Line)
	}
	fmt.Fprintln(b.To, Printable(where+": "+r.Err.Error()))
}

// Close says how many more there were.
func (b *BadLines) Close() {
	if more := b.count - maxBadLines; more > 0 {
		fmt.Fprintf(b.To, "and %s that could not be read\n", words.Count(more, "more record"))
	}
}
