package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/addrspec/addrspec/lists/feed"
	"github.com/addrspec/addrspec/lists/update"
	"github.com/addrspec/addrspec/origin/command/doctor"
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/service"
	"github.com/addrspec/addrspec/origin/signuphook"
	"github.com/addrspec/addrspec/origin/words"
	"github.com/addrspec/addrspec/wasm/host"
)

// doctorCmd checks each part of a deployment. Its flags are serve's, so with the
// same environment it checks the same deployment.
type doctorCmd struct {
	service.DatabaseFlag
	service.ModuleFlags
	service.PublicURLFlag
	service.KnownMXFlag
	service.SecretKeyFlags

	ListsURL       string              `name:"lists-url" placeholder:"URL" help:"The feed of serve's --lists-url, to check it, too. Needs --lists-key."`
	DNS            []string            `placeholder:"HOST:PORT" help:"Recursive resolvers to query (default: those of /etc/resolv.conf)."`
	DNSTimeout     time.Duration       `name:"dns-timeout" default:"5s" help:"The longest time of one MX lookup (${default})."`
	DNSConcurrency int                 `name:"dns-concurrency" default:"256" placeholder:"N" help:"serve's --dns-concurrency, for the limit of open files (${default})."`
	MaxConnections int                 `default:"4096" placeholder:"N" help:"serve's --max-connections, for the same (${default})."`
	DNSWithoutMX   string              `name:"dns-without-mx" default:"example.com" placeholder:"DOMAIN" help:"A domain that has none; ${default} publishes a null MX record (RFC 7505)."`
	EdgeSecret     service.EdgeSecrets `placeholder:"SECRET[,SECRET]" help:"serve's --edge-secret, to check that the service takes it. Give it as ADDRSPEC_EDGE_SECRET."`
	EdgeURL        string              `name:"edge-url" placeholder:"URL" help:"Where the edge worker is, to check it, too."`
	Plans          string              `placeholder:"FILE" help:"serve's --plans, for its mode."`
	Hooks          string              `placeholder:"FILE" help:"serve's --hooks, to validate it."`
	EnvFile        string              `default:"/etc/addrspec.env" placeholder:"FILE" help:"The file of the service's environment, for its mode (${default})."`
	Limit          time.Duration       `default:"10s" help:"The longest time of one check; all run at once (${default})."`
	To             string              `enum:"text,json" default:"text" help:"Output format: text or json (an array of objects with part, status and detail)."`
	Strict         bool                `help:"Exit with 1 if there is advice, too."`
}

const doctorHelp = `Each line is a part of the deployment: ok, ADVICE (to be done soon) or WRONG, with
what to do. The exit code is 0, or 1 if something is wrong. Nothing is changed. Run
it with the service's environment and as root or the service's user.
origin/deploy/doctor.md explains each part.`

// Help returns the text that --help prints after the flags' summary.
func (doctorCmd) Help() string { return doctorHelp }

// errUnhealthy sets the exit code 1. The reasons have been printed.
var errUnhealthy = errors.New("some checks failed, see above")

// earliest is when this was written. A clock before it is wrong, and would count
// points under a past month.
var earliest = time.Date(2026, time.November, 1, 0, 0, 0, 0, time.UTC)

// Run checks every part and prints a line for each, also after one has failed.
func (c *doctorCmd) Run(ctx context.Context, std streams) error {
	checks, err := c.checks()
	if err != nil {
		return service.UsageError{Err: err}
	}
	findings := doctor.Run(ctx, c.Limit, checks)
	if err := c.print(std.out, findings); err != nil {
		return err
	}
	if doctor.Failed(findings, c.Strict) {
		return errUnhealthy
	}
	return nil
}

// checks returns the checks in the order in which they are printed.
func (c *doctorCmd) checks() ([]doctor.Check, error) {
	public, err := optionalURL("--public-url", c.PublicURL)
	edge, edgeErr := optionalURL("--edge-url", c.EdgeURL)
	err = errors.Join(err, edgeErr, c.EdgeSecret.Check(), c.SecretKeyFlags.Check(),
		service.CheckTime("--dns-timeout", c.DNSTimeout),
		service.CheckTime("--limit", c.Limit))
	if err != nil {
		return nil, err
	}
	d := &databaseDoctor{c.DatabaseFlag}
	e := &engineDoctor{flags: &c.ModuleFlags}
	return []doctor.Check{
		{Name: "database", Look: d.look},
		{Name: "secrets", Look: func(ctx context.Context) (string, error) { return d.secrets(ctx, &c.SecretKeyFlags) }},
		doctor.Clock(earliest, d.now),
		doctor.Disk(c.directories()...),
		doctor.Files(c.secretFiles(), c.settingsFiles()),
		doctor.Limits(c.MaxConnections, c.DNSConcurrency, service.FilesNeeded(c.MaxConnections, c.DNSConcurrency)),
		doctor.Resolver(c.DNS, c.DNSTimeout, doctor.Domains{With: c.KnownMX(), Without: c.DNSWithoutMX}),
		{Name: "module", Look: e.module},
		{Name: "lists", Look: func(ctx context.Context) (string, error) { return c.lists(ctx, e) }},
		{Name: "feed", Look: c.feed},
		{Name: "hooks", Look: func(ctx context.Context) (string, error) { return c.signUpHooks(ctx, e) }},
		doctor.Service(public),
		doctor.Origin(public, c.EdgeSecret.List()...),
		doctor.Edge(edge, func(ctx context.Context) (host.Info, error) { return e.info(ctx) }),
	}, nil
}

func optionalURL(flag, text string) (*url.URL, error) {
	if text == "" {
		return nil, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return nil, fmt.Errorf("%s must be http or https and a host, such as https://addrspec.example, without a password or a query", flag)
	}
	return u, nil
}

// print prints the findings.
func (c *doctorCmd) print(out io.Writer, findings []doctor.Finding) error {
	if c.To == "json" {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(findings)
	}
	words := map[doctor.Status]string{doctor.OK: "ok", doctor.Advised: "ADVICE", doctor.Wrong: "WRONG"}
	for _, f := range findings {
		// A joined error has a line for each part.
		for _, line := range strings.Split(f.Detail, "\n") {
			if _, err := fmt.Fprintf(out, "%-11s %-6s %s\n", f.Part, words[f.Status], line); err != nil {
				return err
			}
		}
	}
	return nil
}

// directories returns where the service writes.
func (c *doctorCmd) directories() (list []string) {
	for _, path := range []string{c.SQLiteFile(), c.Lists} {
		if path != "" {
			list = append(list, filepath.Dir(path))
		}
	}
	if dir := c.CachePath(); dir != "" {
		list = append(list, dir)
	}
	return list
}

// secretFiles returns the files that only their owner may read.
func (c *doctorCmd) secretFiles() []string {
	list := []string{c.EnvFile}
	if c.SecretKeyFile != "" {
		list = append(list, c.SecretKeyFile)
	}
	if path := c.SQLiteFile(); path != "" {
		list = append(list, path, path+"-wal", path+"-shm")
	}
	return list
}

// settingsFiles returns the files that only their owner may change.
func (c *doctorCmd) settingsFiles() (list []string) {
	for _, path := range []string{c.Lists, c.ListsExtra, c.Plans, c.Hooks, c.Module} {
		if path != "" {
			list = append(list, path)
		}
	}
	return list
}

// signUpHooks validates the file of --hooks, for doctor.
func (c *doctorCmd) signUpHooks(ctx context.Context, e *engineDoctor) (string, error) {
	if c.Hooks == "" {
		return "", nil
	}
	engine, err := e.started()
	if err != nil {
		return "", err
	}
	set, err := signuphook.Load(ctx, engine, c.Hooks)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d valid", len(set.Hooks())), nil
}

// databaseDoctor checks the ledger's database.
type databaseDoctor struct{ service.DatabaseFlag }

// look opens the ledger as it is and looks at its state.
func (d *databaseDoctor) look(ctx context.Context) (detail string, err error) {
	err = d.WithLedger(ctx, func(l *ledger.Ledger) error {
		start := time.Now()
		plans, err := l.Plans(ctx)
		if err != nil {
			return err
		}
		took := time.Since(start).Round(time.Microsecond)
		e, err := l.Examine(ctx)
		detail = fmt.Sprintf("%s responds in %s and has %s; %s", d.Redacted(), took, words.Count(len(plans), "plan"), e.Summary)
		problems := append([]error{err}, e.Wrong...)
		for _, soon := range e.Advice {
			problems = append(problems, doctor.Advice{Err: soon})
		}
		return errors.Join(problems...)
	})
	if path := d.SQLiteFile(); path != "" {
		err = errors.Join(err, doctor.LocalDisk(path), doctor.Owners(path))
	}
	return detail, err
}

// secrets looks at whether the secrets in the database are sealed, and with which key.
func (d *databaseDoctor) secrets(ctx context.Context, flags *service.SecretKeyFlags) (detail string, err error) {
	sealer, err := flags.Sealer()
	if err != nil {
		return "", err
	}
	var counts map[string]int64
	if err := d.WithLedger(ctx, func(l *ledger.Ledger) (err error) {
		counts, err = store.CountSecrets(ctx, l.Store())
		return err
	}); err != nil {
		return "", nil // the part "database" has the reason
	}
	if err := sealer.Known(counts); err != nil {
		return "", err
	}
	return describeSecrets(sealer, counts)
}

// describeSecrets describes secrets whose keys are known.
func describeSecrets(sealer *store.Sealer, counts map[string]int64) (string, error) {
	all := int64(0)
	for _, n := range counts {
		all += n
	}
	switch ids := sealer.IDs(); {
	case len(ids) == 0 && all == 0:
		return "there are none; without --secret-key those of authenticator apps and webhooks will be stored as they are", nil
	case len(ids) == 0:
		return "", doctor.Advise("those of authenticator apps and webhooks are stored as they are (%d), so a thief of the database or of a backup has them: give serve a --secret-key", all)
	case counts[ids[0]] < all:
		return "", doctor.Advise("%d of %d are not sealed with the present key, whose ID is %s: start serve with it, which seals them; until then keep the key of before", all-counts[ids[0]], all, ids[0])
	default:
		return fmt.Sprintf("%d sealed with the key whose ID is %s", all, ids[0]), nil
	}
}

// now returns the time of the database's clock.
func (d *databaseDoctor) now(ctx context.Context) (now time.Time, err error) {
	err = d.WithLedger(ctx, func(l *ledger.Ledger) error {
		now, err = l.Now(ctx)
		return err
	})
	return now, err
}

// lists checks the lists in use: that the module takes them, their age and their
// signature.
func (c *doctorCmd) lists(ctx context.Context, e *engineDoctor) (string, error) {
	info, err := e.info(ctx)
	if err != nil {
		return "", err
	}
	detail, err := service.CheckListsAge(info.Lists, service.StaleLists, time.Now())
	if err != nil {
		return "", err
	}
	if _, err := service.CheckListsAge(info.Lists, service.AgingLists, time.Now()); err != nil {
		return "", doctor.Advice{Err: err}
	}
	signature, err := c.signature(time.Now())
	return detail + signature, err
}

// signature checks the signature of the file of --lists, if there is a key.
func (c *doctorCmd) signature(now time.Time) (string, error) {
	if c.Lists == "" || c.ListsKey.IsZero() {
		return "", nil
	}
	release, err := c.ListsFile().Read()
	if err != nil {
		return "", err
	}
	if err := release.Fresh(now); err != nil {
		return "", doctor.Advice{Err: fmt.Errorf("%w; serve goes on using them", err)}
	}
	return ", signed, valid for " + service.Days(release.Expires.Sub(now)), nil
}

// feed checks the feed of --lists-url, if there is one.
func (c *doctorCmd) feed(ctx context.Context) (string, error) {
	if c.ListsURL == "" {
		return "", nil
	}
	source, err := update.ParseURL(c.ListsURL)
	if err != nil {
		return "", fmt.Errorf("--lists-url %w", err)
	}
	if c.ListsKey.IsZero() {
		return "", errors.New("--lists-url needs --lists-key")
	}
	release, err := source.Newer(ctx, c.ListsKey.PublicKey, feed.InUse{}, time.Now())
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s has %s, valid for %s", source, release.Version, service.Days(time.Until(release.Expires))), nil
}

// engineDoctor checks the module. Its checks share one engine.
type engineDoctor struct {
	flags  *service.ModuleFlags
	once   sync.Once
	engine *host.Engine
	err    error
}

// started returns the engine, which ends with the process.
func (d *engineDoctor) started() (*host.Engine, error) {
	d.once.Do(func() { d.engine, d.err = d.start(context.Background()) })
	return d.engine, d.err
}

// start starts the module. It uses no cache of another user: entries that root makes
// in the service's could not be read by the service.
func (d *engineDoctor) start(ctx context.Context) (*host.Engine, error) {
	blob, err := d.flags.Blob()
	if err != nil {
		return nil, fmt.Errorf("--lists: %w", err)
	}
	wasm, err := d.flags.Wasm()
	if err != nil {
		return nil, err
	}
	engine, err := host.New(ctx, wasm, host.Options{Size: 1, Lists: blob, CacheDir: d.cacheDir()})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.flags.Source(), err)
	}
	return engine, d.flags.AddExtra(ctx, engine, blob)
}

// module checks an address with the module.
func (d *engineDoctor) module(ctx context.Context) (string, error) {
	engine, err := d.started()
	if err != nil {
		return "", err
	}
	facts, err := engine.Check(ctx, nil, "postmaster@example.org", 0)
	if err != nil {
		return "", err
	}
	if !facts.Valid {
		return "", fmt.Errorf("%s rejects postmaster@example.org: rebuild it", d.flags.Source())
	}
	info := engine.View().Info()
	return fmt.Sprintf("engine %s, model %s", info.Engine, info.Model), nil
}

// info returns the versions of module and lists.
func (d *engineDoctor) info(context.Context) (host.Info, error) {
	engine, err := d.started()
	if err != nil {
		return host.Info{}, err
	}
	return engine.View().Info(), nil
}

func (d *engineDoctor) cacheDir() string {
	if dir := d.flags.CachePath(); doctor.Ours(dir) {
		return dir
	}
	return ""
}
