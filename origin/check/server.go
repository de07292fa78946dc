package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/addrspec/addrspec/origin/check/client"
	"github.com/addrspec/addrspec/origin/check/output"
	"github.com/addrspec/addrspec/origin/check/pipeline"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/service"
	"github.com/addrspec/addrspec/origin/words"
	"github.com/addrspec/addrspec/wasm/host"
)

// ServerFlags select a service that checks in place of this process.
type ServerFlags struct {
	Server  string `group:"Through a service:" placeholder:"URL" help:"Check through the addrspec service at this URL, such as https://addrspec.example, with its lists and its resolver. Each different address of a batch costs a point. HTTPS_PROXY and NO_PROXY are obeyed."`
	Key     string `group:"Through a service:" placeholder:"KEY" help:"The API key for --server. Other users of this machine can read command lines, so give it as ADDRSPEC_KEY, or use --key-file."`
	KeyFile string `group:"Through a service:" placeholder:"FILE" help:"A file whose only line is the API key for --server."`
	RunID   string `group:"Through a service:" placeholder:"ID" help:"Makes the Idempotency-Keys of the batches. A run that is repeated with the same ID within 24 hours is not charged again for batches that got a response. Default: random."`
}

// ErrServerOffline is the error of flags that exclude each other.
var ErrServerOffline = errors.New("--server and --offline exclude each other: the service looks MX records up")

// Connect returns a client of the service of --server. It warns if the key would be readable on the network.
func (f *ServerFlags) Connect(warnings io.Writer) (*client.Client, error) {
	key, err := f.readKey()
	if err != nil {
		return nil, err
	}
	if f.RunID != "" && !runID.MatchString(f.RunID) {
		return nil, service.UsageError{Err: errors.New("--run-id must have 16 to 64 letters and digits, " +
			"such as those that a run printed")}
	}
	c, err := client.New(client.Config{URL: f.Server, Key: key, Agent: "addrspec/" + service.Release, RunID: f.RunID})
	if err != nil {
		return nil, service.UsageError{Err: fmt.Errorf("--server: %w", err)}
	}
	if c.Exposed() {
		fmt.Fprintln(warnings, "addrspec: warning: --server is http, so others on the network can read the key "+
			"and the addresses; use https")
	}
	return c, nil
}

var runID = regexp.MustCompile(`^[A-Za-z0-9]{16,64}$`)

func (f *ServerFlags) readKey() (string, error) {
	key, from := strings.TrimSpace(f.Key), "--key (or ADDRSPEC_KEY)"
	if f.KeyFile != "" {
		if f.Key != "" && f.Key != os.Getenv("ADDRSPEC_KEY") {
			return "", service.UsageError{Err: errors.New("both --key and --key-file are given; give one")}
		}
		text, err := service.ReadStart(f.KeyFile, 4<<10)
		if err != nil {
			return "", fmt.Errorf("--key-file: %w", err)
		}
		key, from = strings.TrimSpace(strings.TrimPrefix(text, "\uFEFF")), "--key-file"
	}
	switch {
	case key == "":
		return "", service.UsageError{Err: errors.New("--server needs an API key: set ADDRSPEC_KEY, " +
			"or give --key-file FILE")}
	case !book.WellFormed(key):
		return "", service.UsageError{Err: fmt.Errorf("%s is not an API key: a key is ask_ and 38 letters and digits, "+
			"of which the last six are a checksum; check that it was not cut off or mistyped", from)}
	}
	return key, nil
}

// checkThere checks through the service. It asks for the account's usage first, so that a wrong URL or key is
// reported before any address is read. What the run costs is said if that is known, or on a terminal.
func (j *job) checkThere(ctx context.Context) error {
	checker := &client.Checker{Details: j.Details, Reasons: true}
	engine := func() (*host.Engine, error) { return j.Engine(ctx) } // is freed with the process
	err := DecideBy(ctx, j.Policy, engine, checker)
	if err != nil {
		return err
	}
	checker.Client, err = j.Connect(j.Err)
	if err != nil {
		return err
	}
	defer checker.Client.Close()
	usage, err := checker.Client.Usage(ctx)
	if err != nil {
		return fmt.Errorf("--server: %w", err)
	}
	// A resumed run sends the Idempotency-Keys of this one: its batches are the same, since a run stops after whole
	// ones.
	j.resume = []string{"--run-id", checker.Client.RunID}
	// The key's default policy decides to the end of the run, also of a resumed one, whatever becomes of the key.
	// A run without a policy has no verdicts to its end.
	if j.Policy == "" && usage.Policy != "" {
		j.Policy, checker.Policy = usage.Policy, usage.Policy
		j.resume = append(j.resume, "--policy", usage.Policy)
	}
	err = checkFailures(j.FailOn, j.Policy != "")
	if err != nil {
		return service.UsageError{Err: fmt.Errorf("%w; the key has none by default", err)}
	}
	if addresses := j.in.count(); addresses >= 0 || output.IsTerminal(j.Err) {
		announce(j.Err, &usage, int64(addresses))
	}
	checker.Plain, j.pipe.Checker = j.Policy == "", checker
	j.pipe.Chunk, j.pipe.Workers = client.MaxBatch, client.Concurrency
	return j.check(ctx)
}

// announce says what a check costs and what is left. addresses is negative if it is not known.
func announce(to io.Writer, usage *client.Usage, addresses int64) {
	cost := "One point for each different address of a batch"
	if addresses >= 0 {
		cost = words.Count(addresses, "point") + " at most"
	}
	points := usage.Points
	if points.Remaining == nil || points.Overage {
		fmt.Fprintf(to, "%s; the account has no limit.\n", cost)
		return
	}
	fmt.Fprintf(to, "%s; %s left until %s.\n", cost, humanize.Comma(*points.Remaining), words.Date(points.Refill))
	if addresses > *points.Remaining {
		fmt.Fprintln(to, "That may not be enough: the run ends when no points are left for a batch.")
	}
}

// DecideBy makes the policy of --policy decide: with a name that of the account, at the service, else that in the
// file, here.
func DecideBy(ctx context.Context, policy string, engine func() (*host.Engine, error), checker *client.Checker) error {
	if policy == "" || book.CheckPolicyName(policy) == nil {
		checker.Policy = policy
		return nil
	}
	e, err := engine()
	if err != nil {
		return err
	}
	compiled, err := ReadPolicy(ctx, e, policy)
	if err != nil {
		return err
	}
	checker.Decider, err = pipeline.NewDecider(e.View(), compiled)
	if err != nil {
		return fmt.Errorf("--policy %s: %w", policy, err)
	}
	return nil
}

// ReadPolicy returns the policy in a file, nil without one.
func ReadPolicy(ctx context.Context, engine *host.Engine, path string) (*host.Policy, error) {
	if path == "" {
		return nil, nil
	}
	document, err := service.ReadStart(path, MaxPolicyFile)
	if err != nil {
		return nil, fmt.Errorf("--policy: %w; only with --server, a name of a-z, 0-9, - and _ is a policy "+
			"of the account", err)
	}
	policy, err := CompilePolicy(ctx, engine, path, document)
	if err != nil {
		return nil, fmt.Errorf("--policy %w", err)
	}
	return policy, nil
}

// MaxPolicyFile is above the longest document of a policy, which the module refuses in its own words.
const MaxPolicyFile = 4 << 20

// CompilePolicy returns the policy of a document, or an error that names file, line and place.
func CompilePolicy(ctx context.Context, engine *host.Engine, file, document string) (*host.Policy, error) {
	policy, err := engine.NewPolicy(ctx, document)
	if refused, ok := errors.AsType[*host.PolicyError](err); ok {
		line, column := refused.Position(document)
		return nil, fmt.Errorf("%s:%d:%d: %s", file, line, column, refused.Sentence)
	}
	return policy, err
}
