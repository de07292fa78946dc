package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// listsCmd has the commands for lists.
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
	shown.AgeDays = int(service.ListsAge(shown.Version, now).Hours() / 24)
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
	row("age", fmt.Sprintf("%s (sources last read on %s)", service.Days(time.Duration(s.AgeDays)*24*time.Hour), s.Date))
	row("signature", s.Signature)
	if s.Signed != nil {
		row("signed", words.Time(*s.Signed))
		row("expires", words.Time(*s.Expires))
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

// listsUpdateCmd fetches newer lists.
type listsUpdateCmd struct {
	listsKeyFlag
	From   string `required:"" env:"ADDRSPEC_LISTS_URL" placeholder:"URL|FILE" help:"The feed: the URL of its directory, or a directory or a blob on this machine, with the signature beside it."`
	Lists  string `placeholder:"FILE" help:"Where to store the lists: the file of serve's --lists."`
	DryRun bool   `help:"Verify and report, but store nothing."`
}

// Run fetches, verifies and stores. In a pipe it prints nothing, so that a cron
// job mails only failures.
func (c *listsUpdateCmd) Run(ctx context.Context, std streams) error {
	source, err := c.source()
	if err != nil {
		return service.UsageError{Err: err}
	}
	if prompt.IsTerminal(std.err) {
		source.Progress = func(text string) { fmt.Fprintln(std.err, text) }
	}
	used, err := c.inUse()
	if err != nil {
		return err
	}
	release, err := source.Newer(ctx, c.ListsKey.PublicKey, used, time.Now())
	if err != nil {
		return c.unchanged(err, used)
	}
	if release != nil && !c.DryRun {
		if err := c.store(release); err != nil {
			return c.unchanged(err, used)
		}
	}
	if c.DryRun || prompt.IsTerminal(std.out) {
		fmt.Fprintln(std.out, c.outcome(release, used))
	}
	return nil
}

// source checks the command line and returns the feed.
func (c *listsUpdateCmd) source() (*update.Source, error) {
	if c.ListsKey.IsZero() {
		return nil, service.ErrNoKey
	}
	if c.Lists == "" && !c.DryRun {
		return nil, errors.New("--lists is missing: give the file in which to store the lists, the same as for serve, or --dry-run")
	}
	source, err := update.Parse(c.From)
	if err != nil {
		return nil, fmt.Errorf("--from %w", err)
	}
	return source, nil
}

// inUse returns the lists that the update would replace: those of the file, or
// the built-in ones.
func (c *listsUpdateCmd) inUse() (feed.InUse, error) {
	builtIn := feed.InUse{Version: feed.DescribeBuiltIn().Version}
	if c.Lists == "" {
		return builtIn, nil
	}
	release, err := c.file().Read()
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

func (c *listsUpdateCmd) file() store.File {
	return store.File{Path: c.Lists, Key: c.ListsKey.PublicKey}
}

// store replaces the file, unless another update was quicker.
func (c *listsUpdateCmd) store(r *feed.Release) error {
	return c.file().Write(r, func(now *feed.Release) error {
		if now == nil {
			return nil
		}
		_, err := r.Supersedes(feed.InUse{Version: now.Version, Signed: now.Signed})
		return err
	})
}

// unchanged adds to an error that nothing was replaced.
func (c *listsUpdateCmd) unchanged(err error, used feed.InUse) error {
	return fmt.Errorf("the lists remain %s: %w", used.Version, err)
}

func (c *listsUpdateCmd) outcome(r *feed.Release, used feed.InUse) string {
	switch {
	case r == nil:
		return fmt.Sprintf("%s are the newest lists of the feed", used.Version)
	case c.DryRun:
		return fmt.Sprintf("%s would replace %s; signed %s, valid until %s", r.Version, used.Version, words.Time(r.Signed), words.Time(r.Expires))
	}
	return fmt.Sprintf("%s has %s, before %s; a running service takes them over within seconds", c.Lists, r.Version, used.Version)
}

// listsVerifyCmd verifies lists.
type listsVerifyCmd struct {
	listsKeyFlag
	File string `arg:"" help:"The blob, or the feed's lists.changes.json; its signature is beside it, with .minisig at the end of the name."`
}

// Run prints a line if the lists are in order.
func (c *listsVerifyCmd) Run(_ context.Context, std streams) error {
	if c.ListsKey.IsZero() {
		return service.ErrNoKey
	}
	if filepath.Base(c.File) == feed.ChangesName {
		return c.verifyChanges(std.out)
	}
	release, err := store.File{Path: c.File, Key: c.ListsKey.PublicKey}.Read()
	if err == nil {
		err = release.Fresh(time.Now())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	_, err = fmt.Fprintf(std.out, "%s: lists %s, signed %s, valid until %s\n", c.File, release.Version, words.Time(release.Signed), words.Time(release.Expires))
	return err
}

// verifyChanges prints what the changes are about.
func (c *listsVerifyCmd) verifyChanges(out io.Writer) error {
	changes, err := store.ReadChanges(c.File, c.ListsKey.PublicKey)
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	since := ", before which the feed had none"
	if changes.Since != nil {
		since = " since " + *changes.Since
	}
	_, err = fmt.Fprintf(out, "%s: changes of the lists %s%s: %d added, %d removed\n", c.File, changes.Version, since, changes.Added, changes.Removed)
	return err
}

// listsKeygenCmd makes a key pair, as minisign -G does.
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
	if err := requireNone(c.File, public); err != nil {
		return err
	}
	key, secret, err := feed.GenerateKey()
	if err != nil {
		return err
	}
	text, err := c.encrypt(secret, std)
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

func (c *listsKeygenCmd) encrypt(secret feed.SecretKey, std streams) ([]byte, error) {
	if c.NoPassword {
		return secret.File("")
	}
	password, err := askTwice(std)
	if err != nil {
		return nil, fmt.Errorf("%w (--no-password makes a key without one)", err)
	}
	return secret.File(password)
}

// askTwice asks for a password, on a terminal twice.
func askTwice(std streams) (string, error) {
	password, err := prompt.Password(std.in, std.err, "Password for the secret key: ")
	if err != nil || !prompt.IsTerminal(std.in) {
		return password, err
	}
	again, err := prompt.Password(std.in, std.err, "Again: ")
	if err != nil {
		return "", err
	}
	if password != again || password == "" {
		return "", errors.New("the passwords differ, or are empty")
	}
	return password, nil
}

func requireNone(files ...string) error {
	for _, file := range files {
		if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s exists already: a feed whose key is lost needs a new key in every client", file)
		}
	}
	return nil
}

// writeNew writes a file that does not exist yet.
func writeNew(path string, text []byte, mode fs.FileMode) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Sync(), file.Close())
}
