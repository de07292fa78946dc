package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/addrspec/addrspec/lists/feed"
	"github.com/addrspec/addrspec/lists/feed/prompt"
	"github.com/addrspec/addrspec/lists/feed/store"
	"github.com/addrspec/addrspec/lists/update"
	"github.com/addrspec/addrspec/origin/service"
	"github.com/addrspec/addrspec/origin/words"
)

type listsCmd struct {
	Show   listsShowCmd   `cmd:"" help:"Show the version, age, counts and signature of lists."`
	Why    listsWhyCmd    `cmd:"" help:"Say why domains have their class: the entry that decides, and the lists that carry it."`
	Update listsUpdateCmd `cmd:"" help:"Fetch newer signed lists from a feed. A service that runs with the same --lists takes them over."`
	Verify listsVerifyCmd `cmd:"" help:"Verify the form, the signature and the expiry of lists."`
	Keygen listsKeygenCmd `cmd:"" help:"Make a key pair that signs the lists of a feed."`
}

// listsKeyFlag is the key of commands that do not run the module.
type listsKeyFlag struct {
	ListsKey service.ListsKey `placeholder:"KEY|FILE" help:"The public key that signs the lists: the line of minisign that begins with RW, or a .pub file."`
}

type listsShowCmd struct {
	listsKeyFlag
	Lists string `placeholder:"FILE" help:"The blob to describe (default: the built-in lists)."`
	To    string `enum:"table,json" default:"table" help:"Output format: table or json."`
}

// Run prints the description. Lists that fail to verify are described all the
// same, and the reason is printed as the state of their signature.
func (c *listsShowCmd) Run(_ context.Context, std streams) error {
	now := time.Now()
	shown := struct {
		feed.Summary
		AgeDays   int    `json:"age_days"`
		Signature string `json:"signature"`
	}{Summary: feed.DescribeBuiltIn(), Signature: "none: built into the program"}
	if c.Lists != "" {
		blob, err := store.ReadBlob(c.Lists)
		if err != nil {
			return err
		}
		shown.Summary, err = feed.DescribeBlob(blob)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Lists, err)
		}
		statement, state := c.signature(shown.Version, now)
		if statement != nil {
			shown.Summary = shown.With(*statement)
		}
		shown.Signature = state
	}
	age := service.ListsAge(shown.Version, now)
	shown.AgeDays = int(age.Hours() / 24)
	if c.To == "json" {
		return printJSON(std.out, shown)
	}
	w := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
	row := func(name, value string) { fmt.Fprintf(w, "%s\t%s\n", name, value) }
	row("version", shown.Version)
	row("age", fmt.Sprintf("%s (sources last read on %s)", words.Days(age), shown.Date))
	row("signature", shown.Signature)
	if shown.Signed != nil {
		row("signed", words.Time(*shown.Signed))
		row("expires", words.Time(*shown.Expires))
	}
	if shown.Size > 0 {
		row("size", words.Count(shown.Size, "byte"))
	}
	for _, name := range feed.CountNames {
		row(name, humanize.Comma(int64(shown.Counts[name])))
	}
	fmt.Fprintln(w)
	if err := w.Flush(); err != nil || len(shown.Sources) == 0 {
		return err
	}
	var rows [][]any
	for _, f := range shown.Sources {
		rows = append(rows, []any{f.Name, f.Version, f.Licence, f.Day, f.Domains})
	}
	return (&tableFlag{To: "table"}).print(std.out, []string{"source", "version", "licence", "day", "domains"}, rows)
}

func (c *listsShowCmd) signature(version string, now time.Time) (*feed.Statement, string) {
	if !c.ListsKey.IsZero() {
		release, err := store.File{Path: c.Lists, Key: c.ListsKey.PublicKey}.Read()
		switch {
		case err != nil:
			return nil, "wrong: " + err.Error()
		case now.Before(release.Expires):
			return &release.Statement, "valid"
		}
		return &release.Statement, "expired"
	}
	text, err := store.ReadSignature(c.Lists, feed.Suffix)
	if err != nil {
		return nil, "none"
	}
	statement, err := feed.ReadStatement(text)
	switch {
	case err != nil:
		return nil, "wrong: " + err.Error()
	case statement.Version != version:
		return nil, "wrong: it is for the lists " + statement.Version
	}
	return &statement, "not verified: give --lists-key"
}

type listsUpdateCmd struct {
	listsKeyFlag
	From   string `required:"" env:"ADDRSPEC_LISTS_URL" placeholder:"URL|FILE" help:"The feed: the URL of its directory, or a directory or a blob on this machine, with the signature beside it."`
	Lists  string `placeholder:"FILE" help:"Where to store the lists: the file of serve's --lists."`
	DryRun bool   `help:"Verify and report, but store nothing."`
}

// Run fetches, verifies and stores. In a pipe it prints nothing, so that a cron
// job mails only failures.
func (c *listsUpdateCmd) Run(ctx context.Context, std streams) error {
	switch {
	case c.ListsKey.IsZero():
		return service.UsageError{Err: service.ErrNoKey}
	case c.Lists == "" && !c.DryRun:
		return service.UsageError{Err: errors.New("--lists is missing: give the file in which to store the lists, " +
			"the same as for serve, or --dry-run")}
	}
	source, err := update.Parse(c.From)
	if err != nil {
		return service.UsageError{Err: fmt.Errorf("--from %w", err)}
	}
	if prompt.IsTerminal(std.err) {
		source.Progress = func(text string) { fmt.Fprintln(std.err, text) }
	}
	file := store.File{Path: c.Lists, Key: c.ListsKey.PublicKey}
	used, err := c.inUse(file)
	if err != nil {
		return err
	}
	release, err := source.Newer(ctx, c.ListsKey.PublicKey, used, time.Now())
	if err == nil && release != nil && !c.DryRun {
		err = file.Write(release, func(now *feed.Release) (err error) {
			if now != nil { // another update may have been quicker
				_, err = release.Supersedes(feed.InUse{Version: now.Version, Signed: now.Signed})
			}
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("the lists remain %s: %w", used.Version, err)
	}
	if !c.DryRun && !prompt.IsTerminal(std.out) {
		return nil
	}
	outcome := used.Version + " are the newest lists of the feed"
	switch {
	case release != nil && c.DryRun:
		outcome = fmt.Sprintf("%s would replace %s; signed %s, valid until %s", release.Version, used.Version,
			words.Time(release.Signed), words.Time(release.Expires))
	case release != nil:
		outcome = fmt.Sprintf("%s has %s, before %s; a running service takes them over within seconds", c.Lists,
			release.Version, used.Version)
	}
	_, err = fmt.Fprintln(std.out, outcome)
	return err
}

// inUse returns the lists that the update would replace: those of the file, or
// the built-in ones.
func (c *listsUpdateCmd) inUse(file store.File) (feed.InUse, error) {
	builtIn := feed.InUse{Version: feed.DescribeBuiltIn().Version}
	if c.Lists == "" {
		return builtIn, nil
	}
	release, err := file.Read()
	if err == nil {
		return feed.InUse{Version: release.Version, Signed: release.Signed}, nil
	}
	blob, err := store.ReadBlob(c.Lists)
	if errors.Is(err, fs.ErrNotExist) {
		return builtIn, nil
	}
	if err != nil && !errors.As(err, new(*feed.Error)) {
		return feed.InUse{}, err
	}
	if unsigned, err := feed.DescribeBlob(blob); err == nil {
		return feed.InUse{Version: unsigned.Version}, nil
	}
	return builtIn, nil // a damaged file is replaced
}

type listsVerifyCmd struct {
	listsKeyFlag
	File string `arg:"" help:"The blob, or the feed's lists.changes.json; its signature is beside it, with .minisig at the end of the name."`
}

func (c *listsVerifyCmd) Run(_ context.Context, std streams) error {
	if c.ListsKey.IsZero() {
		return service.ErrNoKey
	}
	if filepath.Base(c.File) == feed.ChangesName {
		changes, err := store.ReadChanges(c.File, c.ListsKey.PublicKey)
		if err != nil {
			return fmt.Errorf("%s: %w", c.File, err)
		}
		since := ", before which the feed had none"
		if changes.Since != nil {
			since = " since " + *changes.Since
		}
		_, err = fmt.Fprintf(std.out, "%s: changes of the lists %s%s: %d added, %d removed\n", c.File,
			changes.Version, since, changes.Added, changes.Removed)
		return err
	}
	release, err := store.File{Path: c.File, Key: c.ListsKey.PublicKey}.Read()
	if err == nil {
		err = release.Fresh(time.Now())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	_, err = fmt.Fprintf(std.out, "%s: lists %s, signed %s, valid until %s\n", c.File, release.Version,
		words.Time(release.Signed), words.Time(release.Expires))
	return err
}

type listsKeygenCmd struct {
	File       string `arg:"" help:"Where to write the secret key, such as lists.key. The public key goes beside it, as lists.pub."`
	NoPassword bool   `help:"Do not encrypt the secret key, for jobs that sign without a person. Protect the file well."`
}

// Run writes both files and prints the public key. It never replaces a file.
func (c *listsKeygenCmd) Run(_ context.Context, std streams) error {
	public := strings.TrimSuffix(c.File, filepath.Ext(c.File)) + ".pub"
	if public == c.File {
		return service.UsageError{Err: errors.New("the secret key's file must not end in .pub")}
	}
	for _, file := range []string{c.File, public} {
		if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s exists already: a feed whose key is lost needs a new key in every client", file)
		}
	}
	key, secret, err := feed.GenerateKey()
	if err != nil {
		return err
	}
	password := ""
	if !c.NoPassword {
		password, err = prompt.Password(std.in, std.err, "Password for the secret key: ")
		if err == nil && prompt.IsTerminal(std.in) {
			var again string
			again, err = prompt.Password(std.in, std.err, "Again: ")
			if err == nil && (password != again || password == "") {
				err = errors.New("the passwords differ, or are empty")
			}
		}
		if err != nil {
			return fmt.Errorf("%w (--no-password makes a key without one)", err)
		}
	}
	text, err := secret.File(password)
	if err != nil {
		return err
	}
	if err := writeNew(c.File, text, 0o600); err != nil {
		return err
	}
	if err := writeNew(public, key.File(), 0o644); err != nil {
		return err
	}
	_, err = fmt.Fprintf(std.out, "%s is the secret key: it signs lists, keep it from others and keep a copy\n%s is the public key, for --lists-key: %s\n", c.File, public, key)
	return err
}

func writeNew(path string, text []byte, mode fs.FileMode) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Sync(), file.Close())
}
