package command

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/service"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

func model(t *testing.T) *kong.Kong {
	t.Helper()
	parser, err := newParser(t.Context(), streams{strings.NewReader(""), new(strings.Builder), new(strings.Builder)})
	require.NoError(t, err)
	return parser
}

func commands(t *testing.T) []*kong.Node { return model(t).Model.Leaves(false) }

func arguments(t *testing.T, e commandExample) []string {
	words := strings.Fields(e.line)
	require.Equal(t, "addrspec", words[0], e.line)
	require.NotContains(t, e.line, "'", "the test does not read quotes")
	if i := slices.IndexFunc(words, func(w string) bool { return strings.Contains("|<>", w) }); i >= 0 {
		words = words[:i]
	}
	return words[1:]
}

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

// Every command has an example, its help ends with it, and the parser accepts it. All flags of serve but --help
// are in a group.
func TestEveryCommandHasExamples(t *testing.T) {
	exampleDirectory(t)
	known := []string{""}
	for _, n := range commands(t) {
		path := n.Path()
		known = append(known, path)
		for _, f := range n.Flags {
			if path == "serve" && f.Name != "help" {
				require.NotNil(t, f.Group, "--%s", f.Name)
				require.Contains(t, flagGroups, f.Group.Title, "--%s", f.Name)
			}
		}
		require.NotEmpty(t, commandExamples[path], "%s has no example in help.go", path)
		out, err, code := operator(t, append(strings.Fields(path), "--help")...)
		require.Zero(t, code, err)
		require.NotContains(t, out, "%%", path)
		for _, e := range commandExamples[path] {
			require.Contains(t, out, "\n  "+e.line+"\n", path)
			require.True(t, strings.HasPrefix(e.line, "addrspec "+path), e.line)
		}
	}
	for path, examples := range commandExamples {
		require.Contains(t, known, path, "examples of no command")
		for _, e := range examples {
			if !strings.HasPrefix(e.line, "addrspec help") { // it prints
				_, err := model(t).Parse(arguments(t, e))
				require.NoError(t, err, e.line)
			}
		}
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
			out, problem, code := runOn(t.Context(), strings.NewReader("jane@example.org\n"), arguments(t, e)...)
			require.Zero(t, code, "%s: %s", e.line, problem)
			require.NotEmpty(t, out, e.line)
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
	for _, command := range []string{"key create", ""} {
		asked, _, code := operator(t, append([]string{"help"}, strings.Fields(command)...)...)
		require.Zero(t, code)
		flag, _, _ := operator(t, append(strings.Fields(command), "--help")...)
		require.Equal(t, flag, asked)
	}
	_, err, code := operator(t, "help", "key", "crate")
	require.Equal(t, 2, code)
	require.Contains(t, err, `did you mean "create"`)
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

func TestVersions(t *testing.T) {
	t.Parallel()
	on, release := &shell{TB: t}, service.Version()
	require.Contains(t, on.must("--version"), release)
	require.Regexp(t, "^"+regexp.QuoteMeta(release)+`\nengine \S+\nlists \S+\nmodel \S+\nunicode \d+\.0\.0\n$`,
		on.must("version --cache-dir "+moduletest.CacheDir()))
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

// The man page has every command, flag and example, and what a man page should have. groff shows it
// without a warning.
func TestManPage(t *testing.T) {
	t.Parallel()
	page, problem, code := operator(t, "man")
	require.Zero(t, code, problem)
	var warnings strings.Builder
	cmd := exec.Command(moduletest.Tool(t, "groff"), "-man", "-Tutf8", "-ww", "-P-cbou")
	cmd.Stdin, cmd.Stderr = strings.NewReader(page), &warnings
	text := must(cmd.Output())(t)
	require.Empty(t, warnings.String())
	words := strings.Join(strings.Fields(strings.NewReplacer("\u2010\n", "-", "\u2212", "-").Replace(string(text))), " ")
	for _, section := range strings.Split("NAME,SYNOPSIS,DESCRIPTION,COMMANDS,EXIT STATUS,ENVIRONMENT,FILES,EXAMPLES", ",") {
		require.Contains(t, string(text), "\n"+section+"\n")
	}
	for _, n := range commands(t) {
		require.Contains(t, words, "addrspec "+n.Path())
		for _, f := range n.Flags {
			if f.Tag.Negatable == "" && !f.Hidden {
				require.Contains(t, words, "--"+f.Name)
			}
		}
		for _, e := range commandExamples[n.Path()] {
			require.Contains(t, words, e.line)
		}
	}
}

// Only the commands whose purpose it is make a database. Every other command leaves no file
// behind where there is none, and says what to do.
func TestOnlyServeAndAccountCreateMakeADatabase(t *testing.T) {
	exampleDirectory(t)
	tried := 0
	for _, n := range commands(t) {
		path := n.Path()
		has := slices.ContainsFunc(n.Flags, func(f *kong.Flag) bool { return f.Name == "database" })
		if !has || slices.Contains([]string{"serve", "account create", "restore", "import"}, path) {
			continue
		}
		tried++
		directory := t.TempDir()
		database := filepath.Join(directory, "sub", "a.db")
		out, problem, code := operator(t, append(arguments(t, commandExamples[path][0]), "--database", "sqlite:"+database)...)
		require.Equal(t, 1, code, "%s: %s%s", path, out, problem)
		require.Regexp(t, "there is no (ledger|such file)", out+problem)
		require.Contains(t, out+problem, database)
		left := must(os.ReadDir(directory))(t)
		require.Empty(t, left)
	}
	require.Greater(t, tried, 15)
}

func shellDirectory(t *testing.T) (directory string) {
	t.Helper()
	directory = t.TempDir()
	require.NoError(t, os.Symlink(os.Args[0], filepath.Join(directory, "addrspec")))
	for _, name := range []string{"plans file.json", "platform.txt", "$(touch danger)"} {
		require.NoError(t, os.WriteFile(filepath.Join(directory, name), nil, 0o600))
	}
	return directory
}

// inShell runs a script in a shell, or skips the test where it is missing.
func inShell(t *testing.T, directory string, command ...string) string {
	t.Helper()
	cmd := exec.Command(moduletest.Tool(t, command[0]), command[1:]...)
	cmd.Dir = directory
	cmd.Env = append(os.Environ(), programVariable+"=1", "PATH="+directory+":"+os.Getenv("PATH"), "HOME="+directory)
	cmd.Stderr = logIfFailed(t)
	out := must(cmd.Output())(t)
	return string(out)
}

// completions have one of each kind: a command, a command below another, a flag, a value, a file,
// and what nobody can complete, as a line that ends where a person types Tab, and the words that must
// then be proposed. Package complete tests the rest.
var completions = map[string]string{
	"addrspec acc":            "account",
	"addrspec key r":          "revoke\nrotate",
	"addrspec serve --dns-t":  "--dns-timeout",
	"addrspec usage --to ":    "csv\nndjson\ntable",
	"addrspec plan load plat": "platform.txt",
	"addrspec nonsense here ": "",
}

func TestCompletionInBash(t *testing.T) {
	t.Parallel()
	directory, lines := shellDirectory(t), map[string]string{"addrspec usage --to=c": "csv", "addrspec version $(touch": "",
		"addrspec plan load $(to": "$(touch danger)"}
	maps.Copy(lines, completions)
	for line, want := range lines {
		// bash sets these variables; "=" is a word of its own in COMP_WORDS.
		out := inShell(t, directory, "bash", "-c", `source <(addrspec completion bash); compopt() { :; }
			COMP_WORDS=(); for word in $1; do case $word in --*=*) COMP_WORDS+=("${word%%=*}" = "${word#*=}");; *) COMP_WORDS+=("$word");; esac; done
			[[ $1 == *" " ]] && COMP_WORDS+=("")
			COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 )); _addrspec addrspec
			(( ${#COMPREPLY[@]} )) && printf '%s\n' "${COMPREPLY[@]}" | sort || true`, "bash", line)
		require.Equal(t, want, strings.TrimSpace(out), line)
	}
	require.NoFileExists(t, filepath.Join(directory, "danger"), "a file's name was run as a command")
}

func TestCompletionInFish(t *testing.T) {
	leftToCI(t)
	t.Parallel()
	directory := shellDirectory(t)
	for line, want := range completions {
		out := inShell(t, directory, "fish", "--no-config", "-c", `addrspec completion fish | source; complete -C $argv[1] | sort`, line)
		require.Equal(t, want, strings.TrimSpace(regexp.MustCompile("\t.*").ReplaceAllString(out, "")), line)
	}
}

// zsh completes only at a terminal: its module zpty gives it one. The script works
// both from a start-up file and as the function _addrspec of a directory in $fpath.
func TestCompletionInZsh(t *testing.T) {
	leftToCI(t)
	t.Parallel()
	directory := shellDirectory(t)
	for line, want := range completions {
		for _, setUp := range []string{`compinit -u -d $HOME/.zcompdump; source <(addrspec completion zsh)`,
			`mkdir -p f; addrspec completion zsh > f/_addrspec; fpath=($PWD/f $fpath); compinit -u -d $HOME/.zcompdump2`} {
			out := inShell(t, directory, "zsh", "-f", "-c", `
				zmodload zsh/zpty
				zpty shell "COLUMNS=300 zsh -f -i"
				zpty -w shell "PS1=; stty -echo; autoload -U compinit; $2"
				zpty -w shell 'compadd() { builtin compadd -A found "$@"; builtin compadd "$@"; for word in $found; do print -r -- "FOUND<$word>"; done }'
				zpty -w shell 'finish() { print "FINISHED"; zle kill-whole-line }; zle -N finish; bindkey "^X" finish; print RE""ADY'
				while zpty -r shell line '*READY*'; do break; done
				zpty -w -n shell "$1"$'\t'$'\x18'
				zpty -r shell line '*FINISHED*'
				print -r -- "$line"
				zpty -d shell`, "zsh", line, setUp)
			var words []string
			for _, found := range regexp.MustCompile(`FOUND<([^>]*)>`).FindAllStringSubmatch(out, -1) {
				words = append(words, found[1])
			}
			slices.Sort(words)
			require.Equal(t, want, strings.Join(slices.Compact(words), "\n"), "%s: %q", line, out)
		}
	}
}
