// Command peers asks other tools the rows on which core is measured:
//
//	go -C core/eval/peers run . <ROWS
//
// It reads rows {"question", "value"} as JSON lines and writes a line for each tool and
// question, with the results in the order of the rows. It installs pinned versions from npm,
// PyPI and the Go proxy, whose integrity the lock files here record. A tool of npm or PyPI is
// asked by node/serve.mjs or python/serve.py, which read the same rows and write a line with the
// result of each. A row for which a tool has no result is returned as such.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/mail"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"

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
	Tool, Version, Question string
	Results                 []result
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
	if err := install(); err != nil {
		log.Fatal(err)
	}
	hideEnvironment()
	out := json.NewEncoder(os.Stdout)
	for _, t := range tools {
		version, err := t.version()
		if err != nil {
			log.Fatal(err)
		}
		for question := range strings.FieldsSeq(t.questions) {
			asked := slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.Question != question })
			log.Printf("%s: ask %s (%s) %d rows", question, t.name, t.registry, len(asked))
			o := outcome{t.name + " (" + t.registry + ")", version, question, t.ask(asked)}
			if err := out.Encode(o); err != nil {
				log.Fatal(err)
			}
		}
	}
}

// install installs the tools of npm and PyPI. No script of a package runs.
func install() error {
	run := func(name string, arguments ...string) error {
		cmd := exec.Command(name, arguments...)
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
		return cmd.Run()
	}
	err := errors.Join(
		run("npm", "ci", "--prefix", "node", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"),
		run("python3", "-m", "venv", python))
	for _, t := range tools {
		if t.registry == "PyPI" {
			err = errors.Join(err, run(python+"/bin/python", "-m", "pip", "install", "--quiet",
				"--disable-pip-version-check", "--no-deps", "--require-hashes", "--only-binary=:all:", "-r", "python/requirements/"+t.name+".txt"))
		}
	}
	return err
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
	cmd := exec.Command(name, arguments...)
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out, err := cmd.Output()
	for line := range bytes.Lines(out) {
		var r result
		if err := json.Unmarshal(line, &r); err != nil {
			r = result{None: "the adapter's line is not a result: " + err.Error()}
		}
		results = append(results, r)
	}
	why := fmt.Sprint("the adapter ended: ", err)
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
