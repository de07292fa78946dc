// Command peers asks other tools the rows on which core is measured:
//
//	go -C core/eval/peers run . <ROWS
//
// It reads rows {"question", "value"} as JSON lines and writes a line for each tool and
// question, with the results in the order of the rows. It installs pinned versions from npm,
// PyPI and the Go proxy, whose integrity the lock files here record. A tool of npm or PyPI is
// asked by node/serve.mjs or python/serve.py, which read the same rows and write a line with the
// result of each. A tool that cannot be installed is left out with the reason; a row for which
// it has no result is returned as such.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/mail"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	emailverifier "github.com/AfterShip/email-verifier"
)

type row struct {
	Question string `json:"question"`
	Value    string `json:"value"`
}

// result is a tool's result for one row: yes if an address is valid, a local part random or a
// role, a domain listed; the text of a suggested domain, or what identifies the mailbox.
type result struct {
	Yes   bool    `json:"yes"`
	Text  string  `json:"text"`
	Score float64 `json:"score"` // higher is more random
	None  string  `json:"none"`  // why there is no result
}

// outcome is what is written for a tool and a question.
type outcome struct {
	Tool, Version, Question, LeftOut string
	Results                          []result
}

type tool struct {
	name, registry string // npm, PyPI or Go
	questions      string
}

// tools are in the order of the tables.
var tools = []tool{
	{"net/mail", "Go", "valid"},
	{"validator", "npm", "valid canonical"},
	{"isemail", "npm", "valid"},
	{"asdfjkl", "npm", "random"},
	{"gibberish-detective", "npm", "random"},
	{"mailcheck", "npm", "typo"},
	{"@zootools/email-spell-checker", "npm", "typo"},
	{"email-misspelled", "npm", "typo"},
	{"mailchecker", "npm", "disposable"},
	{"disposable-email-domains", "npm", "disposable"},
	{"free-email-domains", "npm", "public"},
	{"role-based-email-addresses", "npm", "role"},
	{"email-validator", "PyPI", "valid"},
	{"nostril-detector", "PyPI", "random"},
	{"gibberish-detector", "PyPI", "random"},
	{"disposable-email-domains", "PyPI", "disposable"},
	{"email-normalize", "PyPI", "canonical"},
	{"github.com/AfterShip/email-verifier", "Go", "valid typo disposable public role"},
}

// Limits of one command of an installation, and of one adapter.
const (
	installTime = 5 * time.Minute
	askTime     = 10 * time.Minute
)

// python is where the tools of PyPI are installed, in a virtual environment that they share.
const python = "../../../dist/eval/python"

func main() {
	log.SetFlags(0)
	log.SetPrefix("eval: ")
	var rows []row
	for in := json.NewDecoder(os.Stdin); in.More(); {
		var r row
		if err := in.Decode(&r); err != nil {
			log.Fatal(err)
		}
		rows = append(rows, r)
	}
	leftOut := installAll()
	hideEnvironment()
	out := json.NewEncoder(os.Stdout)
	for _, t := range tools {
		for question := range strings.FieldsSeq(t.questions) {
			asked := slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.Question != question })
			o := outcome{Tool: t.name + " (" + t.registry + ")", Question: question}
			version, err := t.version()
			if err = cmp.Or(leftOut[t], err); err == nil && len(asked) > 0 {
				began := time.Now()
				o.Version, o.Results = version, t.ask(asked)
				took := time.Since(began).Round(time.Millisecond)
				log.Printf("%s: %s: %d rows in %s", question, o.Tool, len(asked), took)
				if !slices.ContainsFunc(o.Results, func(r result) bool { return r.None == "" }) {
					err = errors.New("it has no result for any row: " + o.Results[0].None)
				}
			}
			if err != nil {
				o.LeftOut, o.Results = err.Error(), nil
			}
			if err := out.Encode(o); err != nil {
				log.Fatal(err)
			}
		}
	}
}

// installAll installs the tools and returns why some are missing. No script of a package runs.
func installAll() map[tool]error {
	log.Print("install packages of npm and PyPI")
	var npm error
	if !newer("node/node_modules/.package-lock.json", "node/package-lock.json") {
		npm = run("npm", "ci", "--prefix", "node", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1",
			"--loglevel=error")
	}
	leftOut := map[tool]error{}
	for _, t := range tools {
		switch t.registry {
		case "npm":
			leftOut[t] = npm
		case "PyPI":
			requirements, done := "python/requirements/"+t.name+".txt", filepath.Join(python, t.name+".installed")
			if newer(done, requirements) {
				continue
			}
			err := run("python3", "-m", "venv", python)
			if err == nil {
				err = run(python+"/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries=1",
					"--no-deps", "--require-hashes", "--only-binary=:all:", "-r", requirements)
			}
			if err == nil {
				err = os.WriteFile(done, nil, 0o644)
			}
			leftOut[t] = err
		}
	}
	return leftOut
}

// newer reports whether a exists and is newer than b.
func newer(a, b string) bool {
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	return errA == nil && errB == nil && x.ModTime().After(y.ModTime())
}

// run runs a command. If it fails, the error has the line that says why: npm's first
// one, the last of others.
func run(name string, arguments ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), installTime)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, arguments...).CombinedOutput()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("%s is not installed", name)
	case err != nil && name == "npm":
		why, _, _ := strings.Cut(string(out), "\n")
		return fmt.Errorf("npm: %w: %s", err, why)
	case err != nil:
		return fmt.Errorf("%s: %w: %s", filepath.Base(name), err, lastLine(out))
	}
	return nil
}

func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// hideEnvironment removes our secrets from the environment: adapters are programs of others.
func hideEnvironment() {
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if !slices.Contains([]string{"PATH", "HOME", "TMPDIR", "LANG", "SYSTEMROOT"}, name) {
			os.Unsetenv(name)
		}
	}
	os.Setenv("PYTHONDONTWRITEBYTECODE", "1")
}

// version returns the pinned version of a tool.
func (t tool) version() (string, error) {
	file, pattern := "node/package.json", `"`+regexp.QuoteMeta(t.name)+`": "(.*)"`
	switch {
	case t.name == "net/mail":
		return strings.TrimPrefix(runtime.Version(), "go"), nil
	case t.registry == "PyPI":
		file, pattern = "python/requirements/"+t.name+".txt", `(?m)^`+regexp.QuoteMeta(t.name)+`==(\S+)`
	case t.registry == "Go":
		file, pattern = "go.mod", regexp.QuoteMeta(t.name)+` (\S+)`
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	found := regexp.MustCompile(pattern).FindSubmatch(text)
	if found == nil {
		return "", fmt.Errorf("%s does not have its version", file)
	}
	return string(found[1]), nil
}

// ask returns the results of a tool for rows.
func (t tool) ask(rows []row) (results []result) {
	switch {
	case t.name == "net/mail":
		for _, r := range rows {
			results = append(results, askNetMail(r.Value))
		}
		return results
	case t.registry == "Go":
		verifier := emailverifier.NewVerifier()
		for _, r := range rows {
			results = append(results, askVerifier(verifier, r))
		}
		return results
	case t.registry == "npm":
		return askAdapter(rows, "node", "node/serve.mjs", t.name)
	}
	return askAdapter(rows, python+"/bin/python", "python/serve.py", t.name)
}

// askAdapter runs an adapter on rows. Those after its end have no result.
func askAdapter(rows []row, name string, arguments ...string) (results []result) {
	var in bytes.Buffer
	for _, r := range rows {
		json.NewEncoder(&in).Encode(r) // texts
	}
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, arguments...)
	cmd.Stdin = &in
	cmd.WaitDelay = time.Second // a child of it may keep the pipes open
	out, err := cmd.Output()
	for line := range bytes.Lines(out) {
		var r result
		if err := json.Unmarshal(line, &r); err != nil {
			r = result{None: "the adapter's line is not a result: " + err.Error()}
		}
		results = append(results, r)
	}
	why := "the adapter ended"
	var exit *exec.ExitError
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		why = fmt.Sprint("no result in ", askTime)
	case errors.As(err, &exit) && len(exit.Stderr) > 0:
		why += ": " + lastLine(exit.Stderr)
	case err != nil:
		why += ": " + err.Error()
	}
	for len(results) < len(rows) {
		results = append(results, result{None: why})
	}
	return results[:len(rows)]
}

// askNetMail asks the standard library's parser. It reads the value of a header, so a result
// is yes only if there is no name and no angle bracket around the address.
func askNetMail(value string) result {
	parsed, err := mail.ParseAddress(value)
	return result{Yes: err == nil && parsed.Name == "" && !strings.HasSuffix(strings.TrimSpace(value), ">")}
}

// askVerifier asks email-verifier in its defaults, without SMTP or DNS.
func askVerifier(v *emailverifier.Verifier, r row) result {
	switch r.Question {
	case "valid":
		return result{Yes: v.ParseAddress(r.Value).Valid}
	case "typo":
		return result{Text: v.SuggestDomain(r.Value)}
	case "disposable":
		return result{Yes: v.IsDisposable(r.Value)}
	case "public":
		return result{Yes: v.IsFreeDomain(r.Value)}
	}
	return result{Yes: v.IsRoleAccount(r.Value)}
}
