// Package output writes checked records: as a [Table] for people, as [CSV], or as [NDJSON]. Beside the records,
// on standard error, are a [Summary], a [Progress] bar and the [BadLines] that could not be read.
//
// Widths of text on a terminal are measured by github.com/rivo/uniseg (MIT, no dependencies), which finds
// grapheme clusters too. The progress bar is our own: it estimates the share that is done from two counts, and
// the libraries draw from one.
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

type problem struct {
	Code    string `json:"code"` // "" if it has one
	Message string `json:"message"`
}

const noAddress = "NO_ADDRESS"

func problemOf(r *pipeline.Record, o *pipeline.Outcome) problem {
	switch {
	case errors.Is(r.Err, pipeline.ErrNoAddress):
		return problem{noAddress, r.Err.Error()}
	case r.Err != nil:
		return problem{"BAD_LINE", r.Err.Error()}
	}
	return problem{o.Code, o.Message}
}

// A Summary is what a run found, in numbers.
type Summary struct {
	Counts   pipeline.Counts
	Elapsed  time.Duration
	LookedUp bool  // whether MX records were looked up
	Policy   bool  // whether a policy decided
	Lies     error // why their results are wrong; nil if no resolver lies
	Readings []pipeline.Reading
}

// WriteReading writes a sentence about how an input was read.
func WriteReading(to io.Writer, r *pipeline.Reading) {
	advice := ""
	if r.Guessed {
		advice = ". If letters look wrong, give another one with --encoding"
	}
	fmt.Fprintln(to, Printable(fmt.Sprintf("%s was read as %s: %s%s.", r.Name, r.Encoding, r.Why, advice)))
}

func (s *Summary) addresses() (count int64, rate float64) {
	count = s.Counts.Records - s.Counts.Bad - s.Counts.NoAddress
	if s.Elapsed > 0 {
		rate = float64(count) / s.Elapsed.Seconds()
	}
	return count, rate
}

// WriteText writes the summary for people.
func (s *Summary) WriteText(to io.Writer) {
	if s.Counts.Records == 0 {
		fmt.Fprintln(to, "Nothing was checked: the input is empty, or has only a header.")
		return
	}
	var text bytes.Buffer
	count, rate := s.addresses()
	if count == 0 {
		text.WriteString("Nothing was checked.\n")
	} else {
		unit := time.Millisecond
		if s.Elapsed > 10*time.Second {
			unit = time.Second
		}
		fmt.Fprintf(&text, "%s checked in %s, %s per second\n", words.Count(count, "address"),
			s.Elapsed.Round(unit), humanize.Comma(int64(rate)))
		s.writeTable(&text, count)
	}
	if none := s.Counts.NoAddress; none > 0 {
		fmt.Fprintf(&text, "%s without an address.\n", words.Count(none, "record"))
	}
	if bad := s.Counts.Bad; bad > 0 {
		fmt.Fprintf(&text, "%s could not be read.\n", words.Count(bad, "record"))
	}
	for n := range s.Readings {
		WriteReading(&text, &s.Readings[n])
	}
	if !s.LookedUp && count > 0 { // an address literal needs no lookup
		text.WriteString("MX records were not looked up")
		if s.Policy {
			text.WriteString(", so the policy's reasons that need DNS were skipped: " +
				"no_mx, no_mail, and disposable by the exchange")
		}
		text.WriteString(".\n")
	}
	text.WriteTo(to)
	s.WriteLies(to)
}

func (s *Summary) writeTable(to io.Writer, addresses int64) {
	columns := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(name string, count int64) {
		percent := 100 * float64(count) / float64(addresses)
		share := fmt.Sprintf("%.1f %%", percent)
		switch { // what rounds to nothing or to all is not shown as such
		case count > 0 && percent < 0.1:
			share = "< 0.1 %"
		case count < addresses && percent > 99.9:
			share = "> 99.9 %"
		}
		fmt.Fprintf(columns, "%-14s\t%s\t%s\t\n", name, humanize.Comma(count), share)
	}
	c := &s.Counts
	row("valid", c.Valid)
	row("  typo", c.Typo)
	row("  disposable", c.Disposable)
	row("  role", c.Role)
	row("  gibberish", c.Gibberish)
	if s.LookedUp {
		row("  no MX record", c.NoMX)
	}
	row("invalid", c.Invalid)
	row("errors", c.Errors)
	if s.Policy {
		row("allow", c.Allow)
		row("review", c.Review)
		row("block", c.Block)
	}
	columns.Flush()
}

// WriteLies writes a warning if a resolver lies.
func (s *Summary) WriteLies(to io.Writer) {
	if s.Lies != nil {
		fmt.Fprintf(to, "Do not trust the results of MX lookups: %s\n", s.Lies)
	}
}

// WriteJSON writes the same as one object in a line, for programs. no_mx is null if
// MX records were not looked up, and warning if no resolver lies.
func (s *Summary) WriteJSON(to io.Writer) {
	c := &s.Counts
	count, rate := s.addresses()
	object := map[string]any{
		"addresses": count, "seconds": s.Elapsed.Seconds(), "addresses_per_second": rate,
		"valid": c.Valid, "typo": c.Typo, "disposable": c.Disposable, "role": c.Role, "gibberish": c.Gibberish,
		"public": c.Public, "relay": c.Relay, "no_mx": nil, "invalid": c.Invalid, "errors": c.Errors,
		"no_address": c.NoAddress, "bad_records": c.Bad, "warning": nil,
	}
	if s.Lies != nil {
		object["warning"] = s.Lies.Error()
	}
	if len(s.Readings) > 0 {
		object["inputs"] = s.Readings
	}
	if s.LookedUp {
		object["no_mx"] = c.NoMX
	}
	if s.Policy {
		object["allow"], object["review"], object["block"] = c.Allow, c.Review, c.Block
		object["skipped_reasons"] = []string{}
		if !s.LookedUp {
			object["skipped_reasons"] = []string{"no_mx", "no_mail"}
		}
	}
	_ = json.NewEncoder(to).Encode(object)
}

// maxBadLines keeps a million bad records from flooding a terminal or a log.
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
