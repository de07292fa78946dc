package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/alecthomas/kong"

	"github.com/addrspec/addrspec/lists/feed"
	"github.com/addrspec/addrspec/lists/update"
	"github.com/addrspec/addrspec/origin/check/output"
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
	Hooks          string              `placeholder:"FILE" help:"serve's --hooks, to validate it and look for its accounts."`
	EnvFile        string              `default:"/etc/addrspec.env" placeholder:"FILE" help:"The file of the service's environment, for its mode (${default})."`
	Limit          time.Duration       `default:"10s" help:"The longest time of one check; all run at once (${default})."`
	To             string              `enum:"text,json" default:"text" help:"Output format: text or json (an array of objects with part, status and detail)."`
	Strict         bool                `help:"Exit with 1 if there is advice, too."`

	unknown string                       // variables
	engine  func() (*host.Engine, error) // starts the module once; it ends with the process
}

func (doctorCmd) Help() string {
	return `Each line is a part of the deployment: ok, ADVICE (to be done soon) or WRONG, with
what to do. The exit code is 0, or 1 if something is wrong. Nothing is changed. Run
it with the service's environment and as root or the service's user.
origin/deploy/doctor.md explains each part.`
}

// Run checks every part and prints a line for each, also after one has failed.
func (c *doctorCmd) Run(ctx context.Context, std streams, k *kong.Context) error {
	c.unknown = unknownVariables(k.Model, c.Hooks)
	checks, err := c.checks()
	if err != nil {
		return service.UsageError{Err: err}
	}
	findings := doctor.Run(ctx, c.Limit, checks)
	failed, lines := false, ""
	shown := map[doctor.Status]string{doctor.OK: "ok", doctor.Advised: "ADVICE", doctor.Wrong: "WRONG"}
	for _, f := range findings {
		failed = failed || f.Status == doctor.Wrong || c.Strict && f.Status == doctor.Advised
		for _, line := range strings.Split(f.Detail, "\n") { // a joined error has a line for each part
			lines += fmt.Sprintf("%-11s %-6s %s\n", f.Part, shown[f.Status], output.Printable(line))
		}
	}
	if c.To == "json" {
		err = printJSON(std.out, findings)
	} else {
		_, err = io.WriteString(std.out, lines)
	}
	if err == nil && failed {
		err = errors.New("some checks failed, see above")
	}
	return err
}

// checks returns the checks in the order in which they are printed.
func (c *doctorCmd) checks() ([]doctor.Check, error) {
	public, err := optionalURL("--public-url", c.PublicURL)
	edge, edgeErr := optionalURL("--edge-url", c.EdgeURL)
	err = errors.Join(err, edgeErr, c.EdgeSecret.Check(), c.SecretKeyFlags.Check(),
		service.CheckTime("--dns-timeout", c.DNSTimeout), service.CheckTime("--limit", c.Limit))
	if err != nil {
		return nil, err
	}
	given := func(paths ...string) []string {
		return slices.DeleteFunc(paths, func(path string) bool { return path == "" })
	}
	var written []string
	for _, path := range given(c.SQLiteFile(), c.Lists) {
		written = append(written, filepath.Dir(path))
	}
	secret := given(c.EnvFile, c.SecretKeyFile, c.SQLiteFile())
	if path := c.SQLiteFile(); path != "" {
		secret = append(secret, path+"-wal", path+"-shm")
	}
	module := c.ModuleFlags
	if !doctor.Ours(c.CachePath()) { // because the service could not read the entries that root makes in its cache
		module.CacheDir = ""
	}
	c.engine = sync.OnceValues(func() (*host.Engine, error) { return module.Engine(context.Background()) })
	return []doctor.Check{
		{Name: "environment", Look: c.environment},
		{Name: "database", Look: c.database},
		{Name: "secrets", Look: c.secrets},
		// A clock before this was written is wrong, and would count points under a past month.
		doctor.Clock(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), func(ctx context.Context) (now time.Time,
			err error) {
			err = c.WithLedger(ctx, func(l *ledger.Ledger) (err error) {
				now, err = l.Now(ctx)
				return err
			})
			return now, err
		}),
		doctor.Disk(append(written, given(c.CachePath())...)...),
		doctor.Files(secret, given(c.Lists, c.ListsExtra, c.Plans, c.Hooks, c.Module)),
		doctor.Limits(c.MaxConnections, c.DNSConcurrency, service.FilesNeeded(c.MaxConnections, c.DNSConcurrency)),
		doctor.Resolver(c.DNS, c.DNSTimeout, doctor.Domains{With: c.KnownMX(), Without: c.DNSWithoutMX}),
		{Name: "module", Look: c.module},
		{Name: "lists", Look: c.lists},
		{Name: "feed", Look: c.feed},
		{Name: "hooks", Look: c.hooks},
		doctor.Service(public),
		doctor.Origin(public, c.EdgeSecret.List()...),
		doctor.Edge(edge, c.versions),
	}, nil
}

func optionalURL(flag, text string) (*url.URL, error) {
	if text == "" {
		return nil, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return nil, fmt.Errorf("%s must be http or https and a host, such as https://addrspec.example, without a "+
			"password or a query", flag)
	}
	return u, nil
}

func (c *doctorCmd) environment(context.Context) (string, error) {
	if c.unknown != "" {
		return "", doctor.Advise("no flag has %s, so serve ignores them: correct their names; those that Kubernetes sets for "+
			"a Service named addrspec end with enableServiceLinks: false", c.unknown)
	}
	return "every ADDRSPEC_ variable is that of a flag", nil
}

func (c *doctorCmd) database(ctx context.Context) (detail string, err error) {
	err = c.WithLedger(ctx, func(l *ledger.Ledger) error {
		start := time.Now()
		plans, err := l.Plans(ctx)
		if err != nil {
			return err
		}
		took := time.Since(start).Round(time.Microsecond)
		e, err := l.Examine(ctx)
		detail = fmt.Sprintf("%s responds in %s and has %s; %s", c.Redacted(), took, words.Count(len(plans), "plan"),
			e.Summary)
		problems := append([]error{err}, e.Wrong...)
		for _, soon := range e.Advice {
			problems = append(problems, doctor.Advice{Err: soon})
		}
		return errors.Join(problems...)
	})
	if path := c.SQLiteFile(); path != "" {
		err = errors.Join(err, doctor.LocalDisk(path))
	}
	return detail, err
}

func (c *doctorCmd) secrets(ctx context.Context) (string, error) {
	sealer, err := c.Sealer()
	if err != nil {
		return "", err
	}
	var counts map[string]int64
	if err := c.WithLedger(ctx, func(l *ledger.Ledger) (err error) {
		counts, err = store.CountSecrets(ctx, l.Store())
		return err
	}); err != nil {
		return "", nil // the part "database" has the reason
	}
	if err := sealer.Known(counts); err != nil {
		return "", err
	}
	all := int64(0)
	for _, n := range counts {
		all += n
	}
	switch ids := sealer.IDs(); {
	case len(ids) == 0 && all == 0:
		return "there are none; without --secret-key those of authenticator apps and webhooks will be stored " +
			"as they are", nil
	case len(ids) == 0:
		return "", doctor.Advise("those of authenticator apps and webhooks are stored as they are (%d), so a thief of "+
			"the database or of a backup has them: give serve a --secret-key", all)
	case counts[ids[0]] < all:
		return "", doctor.Advise("%d of %d are not sealed with the present key, whose ID is %s: start serve with it, "+
			"which seals them; until then keep the key of before", all-counts[ids[0]], all, ids[0])
	default:
		return fmt.Sprintf("%d sealed with the key whose ID is %s", all, ids[0]), nil
	}
}

func (c *doctorCmd) module(ctx context.Context) (string, error) {
	engine, err := c.engine()
	if err != nil {
		return "", err
	}
	facts, err := engine.Check(ctx, nil, "postmaster@example.org", 0)
	if err == nil && !facts.Valid {
		err = fmt.Errorf("%s rejects postmaster@example.org: rebuild it", c.Source())
	}
	return fmt.Sprintf("engine %s, model %s", engine.View().Info().Engine, engine.View().Info().Model), err
}

func (c *doctorCmd) versions() (host.Info, error) {
	engine, err := c.engine()
	if err != nil {
		return host.Info{}, err
	}
	return engine.View().Info(), nil
}

// lists checks the age of the lists in use, and the signature of the file of --lists if there
// is a key.
func (c *doctorCmd) lists(context.Context) (string, error) {
	used, err := c.versions()
	if err != nil {
		return "", err
	}
	now := time.Now()
	detail, err := service.CheckListsAge(used.Lists, service.StaleLists, now)
	if err != nil {
		return "", err
	}
	if _, err := service.CheckListsAge(used.Lists, service.AgingLists, now); err != nil {
		return "", doctor.Advice{Err: err}
	}
	if c.Lists == "" || c.ListsKey.IsZero() {
		return detail, nil
	}
	release, err := c.ListsFile().Read()
	if err != nil {
		return "", err
	}
	if err := release.Fresh(now); err != nil {
		return "", doctor.Advice{Err: fmt.Errorf("%w; serve goes on using them", err)}
	}
	return detail + ", signed, valid for " + words.Days(release.Expires.Sub(now)), nil
}

func (c *doctorCmd) hooks(ctx context.Context) (string, error) {
	if c.Hooks == "" {
		return "", nil
	}
	engine, err := c.engine()
	if err != nil {
		return "", err
	}
	set, err := signuphook.Load(ctx, engine, c.Hooks)
	if err != nil {
		return "", err
	}
	err = c.WithLedger(ctx, func(l *ledger.Ledger) error { return set.CheckAccounts(ctx, l) })
	return fmt.Sprintf("%d valid, and their accounts exist", len(set.Hooks())), err
}

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
	return fmt.Sprintf("%s has %s, valid for %s", source, release.Version, words.Days(time.Until(release.Expires))), nil
}
