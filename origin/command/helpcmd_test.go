package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
)

func model(t *testing.T) *kong.Kong {
	t.Helper()
	parser, err := newParser(t.Context(), streams{strings.NewReader(""), new(strings.Builder), new(strings.Builder)})
	require.NoError(t, err)
	return parser
}

// eachCommand calls visit for every command that has no commands.
func eachCommand(n *kong.Node, visit func(*kong.Node)) {
	if len(n.Children) == 0 {
		visit(n)
	}
	for _, child := range n.Children {
		eachCommand(child, visit)
	}
}

// arguments returns the words of an example after the program's name, up to a pipe
// or a redirection.
func arguments(t *testing.T, e commandExample) []string {
	words := strings.Fields(e.line)
	require.Equal(t, "addrspec", words[0], e.line)
	require.NotContains(t, e.line, "'", "the test does not read quotes")
	if i := slices.IndexFunc(words, func(w string) bool { return strings.Contains("|<>", w) }); i >= 0 {
		words = words[:i]
	}
	return words[1:]
}

// exampleDirectory makes a directory with the files of the examples the current one.
func exampleDirectory(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"addresses.txt": "jane@example.org\ninfo@hotmial.com\n",
		"plans.json":    `[{"name": "team", "rate": 20, "points": "unlimited"}]`,
		"hooks.json": `{"hooks": [{"name": "signup", "format": "generic", "account": "shop@example.org", "secret_file": "hook.secret",
			"policy": {"block": {"reasons": ["disposable"]}}, "on_error": "deny"}]}`,
		"hook.secret": hookSecret,
		"policy.json": `{"block": {"reasons": ["disposable"]}}`,
		"extra.txt":   "[known]\nmailinator.com\n",
	} {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	key, err, code := operator(t, "lists", "keygen", "lists.key", "--no-password")
	require.Zero(t, code, err, key)
}

// Every command has an example, its help ends with it, and the parser accepts it.
func TestEveryCommandHasExamples(t *testing.T) {
	exampleDirectory(t)
	known := []string{""}
	eachCommand(model(t).Model.Node, func(n *kong.Node) {
		path := n.Path()
		known = append(known, path)
		require.NotEmpty(t, commandExamples[path], "%s has no example in examples.go", path)
		out, err, code := operator(t, append(strings.Fields(path), "--help")...)
		require.Zero(t, code, err)
		require.NotContains(t, out, "%%", path)
		for _, e := range commandExamples[path] {
			require.Contains(t, out, "\n  "+e.line+"\n", path)
			if path != "help" { // it prints
				_, err := model(t).Parse(arguments(t, e))
				require.NoError(t, err, e.line)
			}
			require.True(t, strings.HasPrefix(e.line, "addrspec "+path), e.line)
		}
	})
	for path := range commandExamples {
		require.Contains(t, known, path, "examples of no command")
	}
	for _, e := range commandExamples[""][:2] {
		_, err := model(t).Parse(arguments(t, e))
		require.NoError(t, err, e.line)
	}
}

// The examples of the operator's commands work in the order of an account's life.
// Those of webhooks and feeds need a public receiver and signed lists.
func TestExamplesOfOperatorsRun(t *testing.T) {
	exampleDirectory(t)
	require.NoError(t, os.Mkdir("data", 0o700))
	for _, path := range strings.Split("account create,account list,plan list,plan load,account change,account link,key create,key list,"+
		"policy set,policy list,policy show,key change,policy delete,key rotate,key revoke,usage,account log,account suspend,account resume,account sign-out,"+
		"hooks check,account delete,lists show,lists why,version,completion,man,help", ",") {
		for _, e := range commandExamples[path] {
			if strings.Contains(e.line, "lists.blob") {
				continue // there is none
			}
			var out, err strings.Builder
			code := run(t.Context(), arguments(t, e), streams{strings.NewReader("jane@example.org\n"), &out, &err})
			require.Zero(t, code, "%s: %s", e.line, &err)
			require.NotEmpty(t, out.String(), e.line)
		}
	}
}

// Without a command, or without the second word of one, the commands are printed.
func TestWithoutACommand(t *testing.T) {
	t.Parallel()
	for args, wanted := range map[string]string{"": "Accounts and keys:", "key": "key rotate"} {
		out, err, code := operator(t, strings.Fields(args)...)
		require.Equal(t, 2, code)
		require.Empty(t, out)
		require.Contains(t, err, wanted)
		require.Contains(t, err, "--help")
	}
	out, _, code := operator(t, "--help")
	require.Zero(t, code)
	require.Less(t, strings.Count(out, "\n"), 60, "the help is short")
	require.Less(t, strings.Index(out, "Check addresses:"), strings.Index(out, "Run the service:"))
	require.Less(t, strings.Index(out, "Run the service:"), strings.Index(out, "Accounts and keys:"))
	require.NotContains(t, out, "\nCommands:", "each command has a group")
}

func TestHelpOfACommand(t *testing.T) {
	t.Parallel()
	asked, _, code := operator(t, "help", "key", "create")
	require.Zero(t, code)
	flag, _, _ := operator(t, "key", "create", "--help")
	require.Equal(t, flag, asked)
	all, _, code := operator(t, "help")
	require.Zero(t, code)
	flag, _, _ = operator(t, "--help")
	require.Equal(t, flag, all)
	_, err, code := operator(t, "help", "key", "crate")
	require.Equal(t, 2, code)
	require.Contains(t, err, `did you mean "create"`)
}

// All flags of serve but --help and --version are in a group.
func TestServeGroupsItsFlags(t *testing.T) {
	t.Parallel()
	eachCommand(model(t).Model.Node, func(n *kong.Node) {
		for _, f := range n.Flags {
			if n.Name == "serve" && f.Name != "help" {
				require.NotNil(t, f.Group, "--%s", f.Name)
				require.Contains(t, flagGroups, f.Group.Title, "--%s", f.Name)
			}
		}
	})
}

func TestHelpFollowsTheTerminal(t *testing.T) {
	for _, c := range []struct {
		columns       string
		least, widest int
	}{{"60", 50, 72}, {"80", 70, 84}, {"500", 85, helpWidth + 4}} {
		t.Setenv("COLUMNS", c.columns)
		out, _, code := operator(t, "serve", "--help")
		require.Zero(t, code)
		out, _, _ = strings.Cut(out, "\nExamples:")
		longest := 0
		for line := range strings.Lines(out) {
			longest = max(longest, len(line))
		}
		require.GreaterOrEqual(t, longest, c.least, c.columns)
		require.LessOrEqual(t, longest, c.widest, c.columns)
	}
}

// The hint names the command whose help explains it.
func TestWrongCommandLines(t *testing.T) {
	t.Parallel()
	for line, messages := range map[string][]string{
		"sreve":                          {`unexpected argument sreve, did you mean "serve"?`, "Try 'addrspec --help'"},
		"account lst":                    {`did you mean one of "list", "log"?`, "Try 'addrspec account --help'"},
		"serve --lisen 127.0.0.1:0":      {`unknown flag --lisen, did you mean one of "--listen", "--lists"?`, "Try 'addrspec serve --help'"},
		"key create --acount a --name n": {`did you mean "--account"?`, "Try 'addrspec key create --help'"},
		"usage --to xml":                 {`--to must be one of "table","csv","ndjson" but got "xml"`},
		"key create":                     {"--account=E", "--name=N"},
		"completion tcsh":                {`"bash","zsh","fish"`},
	} {
		_, err, code := operator(t, strings.Fields(line)...)
		require.Equal(t, 2, code, line)
		for _, message := range messages {
			require.Contains(t, err, message, line)
		}
	}
}

// rendered returns the man page as a terminal shows it. groff must have no warning.
func rendered(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip("groff is not installed: apt-get install groff")
	}
	page, problem, code := operator(t, "man")
	require.Zero(t, code, problem)
	var warnings strings.Builder
	cmd := exec.Command("groff", "-man", "-Tutf8", "-ww", "-P-cbou")
	cmd.Stdin, cmd.Stderr = strings.NewReader(page), &warnings
	text, err := cmd.Output()
	require.NoError(t, err)
	require.Empty(t, warnings.String())
	return string(text)
}

// The man page has every command, flag and example, and what a man page should have.
func TestManPage(t *testing.T) {
	t.Parallel()
	text := rendered(t)
	joined := strings.NewReplacer("\u2010\n", "-", "\u2212", "-").Replace(text)
	words := strings.Join(strings.Fields(joined), " ")
	for _, section := range strings.Split("NAME,SYNOPSIS,DESCRIPTION,COMMANDS,EXIT STATUS,ENVIRONMENT,FILES,EXAMPLES", ",") {
		require.Contains(t, text, "\n"+section+"\n")
	}
	eachCommand(model(t).Model.Node, func(n *kong.Node) {
		require.Contains(t, words, "addrspec "+n.Path())
		for _, f := range n.Flags {
			if f.Tag.Negatable == "" && !f.Hidden {
				require.Contains(t, words, "--"+f.Name)
			}
		}
		for _, e := range commandExamples[n.Path()] {
			require.Contains(t, words, e.line)
		}
	})
}

// Only the commands whose purpose it is make a database. Every other command leaves no file
// behind where there is none, and says what to do.
func TestOnlyServeAndAccountCreateMakeADatabase(t *testing.T) {
	exampleDirectory(t)
	tried := 0
	eachCommand(model(t).Model.Node, func(n *kong.Node) {
		path := n.Path()
		has := slices.ContainsFunc(n.Flags, func(f *kong.Flag) bool { return f.Name == "database" })
		if !has || slices.Contains([]string{"serve", "account create", "restore", "import"}, path) {
			return
		}
		tried++
		directory := t.TempDir()
		database := filepath.Join(directory, "sub", "a.db")
		args := append(arguments(t, commandExamples[path][0]), "--database", "sqlite:"+database)
		out, problem, code := operator(t, args...)
		require.Equal(t, 1, code, "%s: %s%s", path, out, problem)
		require.Regexp(t, "there is no (ledger|such file)", out+problem)
		require.Contains(t, out+problem, database)
		left, err := os.ReadDir(directory)
		require.NoError(t, err)
		require.Empty(t, left)
	})
	require.Greater(t, tried, 15)
}

func emptyLedger(t *testing.T) string {
	t.Helper()
	url := "sqlite:" + filepath.Join(t.TempDir(), "a.db")
	l, err := ledger.Open(t.Context(), url)
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return url
}
