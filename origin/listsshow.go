package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/addrspec/addrspec/lists/feed"
	"github.com/addrspec/addrspec/lists/feed/store"
)

// listsShowCmd describes lists.
type listsShowCmd struct {
	listsKeyFlag
	Lists string `placeholder:"FILE" help:"The blob to describe (default: the built-in lists)."`
	To    string `enum:"table,json" default:"table" help:"Output format: table or json."`
}

// shownLists is what is printed.
type shownLists struct {
	feed.Summary
	AgeDays   int    `json:"age_days"`
	Signature string `json:"signature"`
}

// Run prints the description. Lists that fail to verify are described all the
// same, and the reason is printed as the state of their signature.
func (c *listsShowCmd) Run(_ context.Context, std streams) error {
	shown, err := c.describe(time.Now())
	if err != nil {
		return err
	}
	if c.To == "json" {
		encoder := json.NewEncoder(std.out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(shown)
	}
	return shown.print(std.out)
}

func (c *listsShowCmd) describe(now time.Time) (shown shownLists, err error) {
	if c.Lists == "" {
		shown = shownLists{Summary: feed.DescribeBuiltIn(), Signature: "none: built into the program"}
	} else if shown, err = c.describeFile(now); err != nil {
		return shown, err
	}
	shown.AgeDays = int(listsAge(shown.Version, now).Hours() / 24)
	return shown, nil
}

func (c *listsShowCmd) describeFile(now time.Time) (shown shownLists, err error) {
	blob, err := store.ReadBlob(c.Lists)
	if err != nil {
		return shown, err
	}
	if shown.Summary, err = feed.DescribeBlob(blob); err != nil {
		return shown, fmt.Errorf("%s: %w", c.Lists, err)
	}
	statement, state := c.signature(shown.Version, now)
	if statement != nil {
		shown.Summary = shown.With(*statement)
	}
	shown.Signature = state
	return shown, nil
}

// signature returns what the file's signature says, and its state.
func (c *listsShowCmd) signature(version string, now time.Time) (*feed.Statement, string) {
	if c.ListsKey.IsZero() {
		return c.unverified(version)
	}
	release, err := store.File{Path: c.Lists, Key: c.ListsKey.PublicKey}.Read()
	if err != nil {
		return nil, "wrong: " + err.Error()
	}
	if now.Before(release.Expires) {
		return &release.Statement, "valid"
	}
	return &release.Statement, "expired"
}

func (c *listsShowCmd) unverified(version string) (*feed.Statement, string) {
	text, err := store.ReadSignature(c.Lists, feed.Suffix)
	if err != nil {
		return nil, "none"
	}
	statement, err := feed.ReadStatement(text)
	if err != nil {
		return nil, "wrong: " + err.Error()
	}
	if statement.Version != version {
		return nil, "wrong: it is for the lists " + statement.Version
	}
	return &statement, "not verified: give --lists-key"
}

// print prints a row for each fact.
func (s shownLists) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name, value string) { fmt.Fprintf(w, "%s\t%s\n", name, value) }
	row("version", s.Version)
	row("age", fmt.Sprintf("%s (sources last read on %s)", days(time.Duration(s.AgeDays)*24*time.Hour), s.Date))
	row("signature", s.Signature)
	if s.Signed != nil {
		row("signed", s.Signed.Format(minutes))
		row("expires", s.Expires.Format(minutes))
	}
	if s.Size > 0 {
		row("size", humanize.Comma(int64(s.Size))+" bytes")
	}
	for _, name := range feed.CountNames() {
		row(name, humanize.Comma(int64(s.Counts[name])))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return s.printSources(out)
}

// printSources prints a table of the sources.
func (s shownLists) printSources(out io.Writer) error {
	var rows [][]any
	for _, f := range s.Sources {
		rows = append(rows, []any{f.Name, f.Version, f.Licence, f.Day, f.Domains})
	}
	if _, err := fmt.Fprintln(out); err != nil || rows == nil {
		return err
	}
	table := tableFlag{To: "table"}
	return table.print(out, []string{"source", "version", "licence", "day", "domains"}, rows)
}

// minutes is how people read a time.
const minutes = "2006-01-02 15:04 UTC"
