package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/doctor"
	"github.com/addrspec/addrspec/wasm/host"
)

// doctorCmd checks each part of a deployment. Its flags are serve's, so with the
// same environment it checks the same deployment.
type doctorCmd struct {
	databaseFlag
	moduleFlags
	publicURLFlag

	ListsURL       string        `name:"lists-url" placeholder:"URL" help:"The feed of serve's --lists-url, to check it, too. Needs --lists-key."`
	DNS            []string      `placeholder:"HOST:PORT" help:"Recursive resolvers to query (default: those of /etc/resolv.conf)."`
	DNSTimeout     time.Duration `name:"dns-timeout" default:"5s" help:"The longest time of one MX look-up (${default})."`
	DNSConcurrency int           `name:"dns-concurrency" default:"256" placeholder:"N" help:"serve's --dns-concurrency, for the limit of open files (${default})."`
	MaxConnections int           `default:"16384" placeholder:"N" help:"serve's --max-connections, for the same (${default})."`
	DNSWithMX      string        `name:"dns-with-mx" default:"gmail.com" placeholder:"DOMAIN" help:"A domain that has MX records. In a closed network, give one of yours (${default})."`
	DNSWithoutMX   string        `name:"dns-without-mx" default:"example.com" placeholder:"DOMAIN" help:"A domain that has none; ${default} publishes a null MX record (RFC 7505)."`
	EdgeSecret     edgeSecrets   `placeholder:"SECRET[,SECRET]" help:"serve's --edge-secret, to check that the service takes it. Give it as ADDRSPEC_EDGE_SECRET."`
	EdgeURL        string        `name:"edge-url" placeholder:"URL" help:"Where the edge worker is, to check it, too."`
	Plans          string        `placeholder:"FILE" help:"serve's --plans, for its mode."`
	Hooks          string        `placeholder:"FILE" help:"serve's --hooks, to validate it."`
	EnvFile        string        `default:"/etc/addrspec.env" placeholder:"FILE" help:"The file of the service's environment, for its mode (${default})."`
	Limit          time.Duration `default:"10s" help:"The longest time of one check; all run at once (${default})."`
	To             string        `enum:"text,json" default:"text" help:"Output format: text or json (an array of objects with part, status and detail)."`
	Strict         bool          `help:"Exit with 1 if there is advice, too."`
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
		return usageError{err}
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
	service, err := optionalURL("--public-url", c.PublicURL)
	edge, edgeErr := optionalURL("--edge-url", c.EdgeURL)
	err = errors.Join(err, edgeErr, c.EdgeSecret.check(),
		checkTime("--dns-timeout", c.DNSTimeout, shortestTime, longestTime),
		checkTime("--limit", c.Limit, shortestTime, longestTime))
	if err != nil {
		return nil, err
	}
	d := &databaseDoctor{databaseFlag: c.databaseFlag}
	e := &engineDoctor{flags: &c.moduleFlags}
	return []doctor.Check{
		{Name: "database", Look: d.look},
		doctor.Clock(earliest, d.now),
		doctor.Disk(c.folders()...),
		doctor.Files(c.secretFiles(), c.settingsFiles()),
		doctor.Limits(c.MaxConnections, c.DNSConcurrency),
		doctor.Resolver(c.DNS, c.DNSTimeout, doctor.Domains{With: c.DNSWithMX, Without: c.DNSWithoutMX}),
		{Name: "module", Look: e.module},
		{Name: "lists", Look: func(ctx context.Context) (string, error) { return c.lists(ctx, e) }},
		{Name: "feed", Look: c.feed},
		{Name: "hooks", Look: c.signUpHooks},
		doctor.Service(service),
		doctor.Origin(service, c.EdgeSecret.list()...),
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

// sqliteFile returns the file of the database, "" on PostgreSQL.
func (f *databaseFlag) sqliteFile() string {
	path, found := strings.CutPrefix(f.Database, "sqlite:")
	if !found {
		return ""
	}
	return path
}

// folders returns where the service writes.
func (c *doctorCmd) folders() (list []string) {
	for _, path := range []string{c.sqliteFile(), c.Lists} {
		if path != "" {
			list = append(list, filepath.Dir(path))
		}
	}
	if dir := c.cacheDir(); dir != "" {
		list = append(list, dir)
	}
	return list
}

// secretFiles returns the files that only their owner may read.
func (c *doctorCmd) secretFiles() []string {
	list := []string{c.EnvFile}
	if path := c.sqliteFile(); path != "" {
		list = append(list, path, path+"-wal", path+"-shm")
	}
	return list
}

// settingsFiles returns the files that only their owner may change.
func (c *doctorCmd) settingsFiles() (list []string) {
	for _, path := range []string{c.Lists, c.Plans, c.Hooks, c.Module} {
		if path != "" {
			list = append(list, path)
		}
	}
	return list
}
