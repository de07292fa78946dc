package output

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/addrspec/addrspec/origin/check"
)

// A Summary is what a run found, in numbers.
type Summary struct {
	Counts   check.Counts
	Elapsed  time.Duration
	LookedUp bool // whether MX records were looked up
}

// A figure is one line of the summary.
type figure struct {
	name  string
	count int64
}

// figures are shown always, also if they are 0.
func (s *Summary) figures() []figure {
	c := &s.Counts
	list := []figure{{"valid", c.Valid}, {"  typo", c.Typo}, {"  disposable", c.Disposable}, {"  role", c.Role}, {"  gibberish", c.Gibberish}}
	if s.LookedUp {
		list = append(list, figure{"  no MX record", c.NoMX})
	}
	return append(list, figure{"invalid", c.Invalid}, figure{"errors", c.Errors})
}

// addresses is how many records had an address.
func (s *Summary) addresses() int64 { return s.Counts.Records - s.Counts.Bad }

// rate is in addresses per second.
func (s *Summary) rate() float64 {
	if s.Elapsed <= 0 {
		return 0
	}
	return float64(s.addresses()) / s.Elapsed.Seconds()
}

// WriteText writes the summary for people.
func (s *Summary) WriteText(to io.Writer) error {
	fmt.Fprintf(to, "%s checked in %s, %s per second\n", quantity(s.addresses(), "address", "addresses"), duration(s.Elapsed), humanize.Comma(int64(s.rate())))
	columns := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, f := range s.figures() {
		fmt.Fprintf(columns, "%-14s\t%s\t%s\t\n", f.name, humanize.Comma(f.count), share(f.count, s.addresses()))
	}
	if err := columns.Flush(); err != nil {
		return err
	}
	return s.writeRemarks(to)
}

func (s *Summary) writeRemarks(to io.Writer) (err error) {
	if bad := s.Counts.Bad; bad > 0 {
		_, err = fmt.Fprintf(to, "%s could not be read.\n", quantity(bad, "record", "records"))
	}
	if !s.LookedUp && err == nil {
		_, err = fmt.Fprintln(to, "MX records were not looked up.")
	}
	return err
}

// WriteJSON writes the same as one object in a line, for programs. no_mx is null if
// MX records were not looked up.
func (s *Summary) WriteJSON(to io.Writer) error {
	c := &s.Counts
	var noMX *int64
	if s.LookedUp {
		noMX = &c.NoMX
	}
	return json.NewEncoder(to).Encode(struct {
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
		Bad        int64   `json:"bad_records"`
		Seconds    float64 `json:"seconds"`
		Rate       float64 `json:"addresses_per_second"`
	}{s.addresses(), c.Valid, c.Typo, c.Disposable, c.Role, c.Gibberish, c.Public, c.Relay, noMX, c.Invalid, c.Errors, c.Bad,
		s.Elapsed.Seconds(), s.rate()})
}

// quantity returns a number with the noun for it.
func quantity(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return humanize.Comma(n) + " " + many
}

// share returns a part in percent. One that rounds to nothing or to all is not
// shown as such.
func share(part, whole int64) string {
	if whole == 0 {
		return ""
	}
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
