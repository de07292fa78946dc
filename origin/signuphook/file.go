package signuphook

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/time/rate"

	"github.com/addrspec/addrspec/wasm/host"
)

// A policy's file may be longer than any policy, so that the module says what is too long.
const (
	maxFile         = 1 << 20 // bytes
	maxDocument     = 4 << 20
	maxSecretText   = 4 << 10
	maxHooks        = 100
	shortestTimeout = 100 * time.Millisecond
	defaultRate     = 20 // requests a second with a valid signature
	maxRate         = 10_000
)

// entry is a hook as JSON.
type entry struct {
	Name       string                       `json:"name"`
	Format     string                       `json:"format"`
	Account    string                       `json:"account"`
	SecretFile string                       `json:"secret_file"`
	SecretEnv  string                       `json:"secret_env"`
	Policy     jsontext.Value               `json:"policy"`
	NoEmail    Decision                     `json:"no_email"`
	OnError    Decision                     `json:"on_error"`
	Timeout    string                       `json:"timeout"`
	Rate       *int                         `json:"rate"`
	Language   string                       `json:"language"`
	Messages   map[string]map[Reason]string `json:"messages"`
}

// Load reads a file of hooks, their secrets and policies, which engine checks. Paths in
// the file are relative to its directory. No error has a secret.
func Load(ctx context.Context, engine *host.Engine, path string) (*Set, error) {
	_, text, err := readFile(path, "", maxFile)
	if err != nil {
		return nil, fmt.Errorf("hooks: %w", err)
	}
	set, err := parse(ctx, engine, []byte(text), filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("hooks of %s: %w", path, err)
	}
	return set, nil
}

// readFile reads a regular file, whose path is relative to directory: to open a pipe might never end.
func readFile(given, directory string, most int64) (path, text string, err error) {
	path = given
	if !filepath.IsAbs(path) {
		path = filepath.Join(directory, path)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return path, "", err
	case !info.Mode().IsRegular():
		return path, "", fmt.Errorf("%s is not a regular file", path)
	case info.Size() > most:
		return path, "", fmt.Errorf("%s is over %s", path, humanize.IBytes(uint64(most)))
	}
	content, err := os.ReadFile(path)
	return path, string(content), err
}

func parse(ctx context.Context, engine *host.Engine, text []byte, directory string) (*Set, error) {
	var document struct {
		Hooks []entry `json:"hooks"`
	}
	if err := json.Unmarshal(text, &document, json.RejectUnknownMembers(true)); err != nil {
		return nil, located(text, err)
	}
	if len(document.Hooks) == 0 || len(document.Hooks) > maxHooks {
		return nil, fmt.Errorf(`"hooks" must be an array of 1 to %d hooks, and has %d`, maxHooks, len(document.Hooks))
	}
	set := &Set{}
	for n, e := range document.Hooks {
		h, err := e.hook(ctx, engine, directory)
		if err == nil && set.Find(h.Name) != nil {
			err = errors.New("an earlier hook has this name too")
		}
		if err != nil {
			return nil, fmt.Errorf("hook %d (%.70q): %w", n+1, e.Name, err)
		}
		set.hooks = append(set.hooks, h)
	}
	return set, nil
}

// located says on which line of the file an error is and what is expected there.
func located(text []byte, err error) error {
	line := func(offset int64) int {
		return 1 + bytes.Count(text[:min(max(offset, 0), int64(len(text)))], []byte("\n"))
	}
	var syntax *jsontext.SyntacticError
	var semantic *json.SemanticError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("line %d is not valid JSON: %w", line(syntax.ByteOffset), cmp.Or(syntax.Err, err))
	case errors.Is(err, json.ErrUnknownName) && errors.As(err, &semantic):
		return fmt.Errorf("line %d: %q is not a member that a hook has; the members are in origin/deploy/hooks.md",
			line(semantic.ByteOffset), semantic.JSONPointer.LastToken())
	case errors.As(err, &semantic):
		return fmt.Errorf("line %d: %q has the wrong type or value (%s in the file); see origin/deploy/hooks.md",
			line(semantic.ByteOffset), semantic.JSONPointer.LastToken(), semantic.JSONKind)
	}
	return err
}

// validName matches the names of hooks. A name is a part of a path, a label of metrics and the
// name of a key.
var validName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,48}[a-z0-9])?$`)

// hook checks the entry, and reads the files that it names.
func (e *entry) hook(ctx context.Context, engine *host.Engine, directory string) (*Hook, error) {
	if !validName.MatchString(e.Name) {
		return nil, errors.New(`"name" must be 1 to 50 of a-z, 0-9 and -, without - at its start or end; ` +
			`it is the end of the path /v1/hooks/NAME`)
	}
	seat, known := seats[e.Format]
	if !known {
		return nil, fmt.Errorf(`"format" is %.40q: it must be "generic", "supabase" or "supabase-mailer"`, e.Format)
	}
	timeout, late := time.ParseDuration(cmp.Or(e.Timeout, seat.timeout.String()))
	h := &Hook{Name: e.Name, Account: e.Account, OnError: e.OnError, Timeout: timeout,
		noEmail: cmp.Or(e.NoEmail, Allow), seat: seat}
	perSecond := defaultRate
	if e.Rate != nil {
		perSecond = *e.Rate
	}
	h.limit = rate.NewLimiter(rate.Limit(perSecond), 2*perSecond)
	payer, domain, _ := strings.Cut(e.Account, "@")
	switch {
	case payer == "" || domain == "":
		return nil, errors.New(`"account" must be the email of the account that pays`)
	case !slices.Contains([]Decision{Allow, Review, Deny}, h.noEmail):
		return nil, fmt.Errorf(`"no_email" is %.40q: it must be "allow", "review" or "deny", `+
			`the decision about a user without an address`, h.noEmail)
	case h.OnError != Allow && h.OnError != Deny:
		return nil, fmt.Errorf(`"on_error" is %.40q: it must be "allow" or "deny", the decision `+
			`if an address cannot be checked: no points, no database, no DNS`, h.OnError)
	case late != nil || h.Timeout < shortestTimeout || h.Timeout > seat.longest:
		return nil, fmt.Errorf(`"timeout" is %.40q: it must be from %s to %s for the format %s, such as "%s"`,
			e.Timeout, shortestTimeout, seat.longest, e.Format, seat.timeout)
	case perSecond < 1 || perSecond > maxRate:
		return nil, fmt.Errorf(`"rate" is %d: it must be from 1 to %d requests a second`, perSecond, maxRate)
	}
	var err error
	h.verifier, err = e.readSecrets(directory)
	if err == nil {
		err = e.readPolicy(ctx, engine, directory, h)
	}
	if err == nil {
		h.messages, err = readMessages(cmp.Or(e.Language, "en"), e.Messages)
	}
	return h, err
}

func (e *entry) readSecrets(directory string) (verifier, error) {
	if (e.SecretFile == "") == (e.SecretEnv == "") {
		return nil, errors.New(`needs either "secret_file", the path of a file with the secret, ` +
			`or "secret_env", the name of an environment variable with it`)
	}
	source := "the environment variable " + e.SecretEnv
	text, found := os.LookupEnv(e.SecretEnv)
	var err error
	switch {
	case e.SecretFile != "":
		source, text, err = readFile(e.SecretFile, directory, maxSecretText)
		if err != nil {
			return nil, fmt.Errorf(`"secret_file": %w`, err)
		}
	case !found:
		return nil, fmt.Errorf(`"secret_env": %s is not set`, source)
	}
	v, err := parseSecrets(text)
	if err != nil {
		return nil, fmt.Errorf("the secret in %s %w", source, err)
	}
	return v, nil
}

// readPolicy takes the document, or reads the file that has it, and has the module check it.
func (e *entry) readPolicy(ctx context.Context, engine *host.Engine, directory string, h *Hook) (err error) {
	document, source := string(e.Policy), `"policy"`
	switch e.Policy.Kind() {
	case '{':
	case '"':
		var path string
		err = json.Unmarshal(e.Policy, &path)
		if err == nil {
			path, document, err = readFile(path, directory, maxDocument)
			source += " " + path
		}
		if err != nil {
			return fmt.Errorf(`"policy": %w`, err)
		}
	case 0:
		return errors.New(`"policy" is missing; a usual choice is ` +
			`"policy": {"block": {"reasons": ["disposable"]}, "review": {"reasons": ["no_mx", "typo"]}}`)
	default:
		return errors.New(`"policy" must be an object, the policy, or a string, the path of a file with it`)
	}
	h.policy, err = engine.NewPolicy(ctx, document)
	if err != nil {
		return fmt.Errorf("%s: %w", source, err)
	}
	h.exchanges = h.policy.HasExchanges()
	return json.Unmarshal([]byte(document), &h.rules)
}
