package command

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/mxtest"
)

// checkArgs returns the arguments of a check with the module under test.
func checkArgs(t testing.TB, args ...string) []string {
	return append(withModule(t, "check"), args...)
}

// runCheck runs `addrspec check --offline` on input.
func runCheck(t testing.TB, in io.Reader, args ...string) (out, err string, code int) {
	return runOn(context.Background(), in, checkArgs(t, append([]string{"--offline"}, args...)...)...)
}

// The exit codes of check.
const (
	exitFailOn      = 3
	exitVerdict     = 4
	exitInterrupted = 130
)

func TestCheckTakesAddressesAndFiles(t *testing.T) {
	t.Parallel()
	file := fileOf(t, "odd@name.txt", "in@file.example\n")
	out, err, code := runCheck(t, strings.NewReader("in@pipe.example"), "first@mail.example", file, "-", "last@mail.example")
	require.Zero(t, code, err)
	var got []string
	for _, match := range regexp.MustCompile(`"email":"([^"]*)"`).FindAllStringSubmatch(out, -1) {
		got = append(got, match[1])
	}
	require.Equal(t, []string{"first@mail.example", "in@file.example", "in@pipe.example", "last@mail.example"}, got)

	for args, message := range map[string]string{
		"missing.csv": `there is no file "missing.csv"`,
		t.TempDir():   " is a directory; give the files in it",
		fileOf(t, "list.csv", "name;email\n") + " " + fileOf(t, "other.csv", "email;name\n"): "not the columns of",

		fileOf(t, "names.csv", "name,age\nJane,31\n"): "no column has addresses; name one by its number or name",

		"--policy missing.json jane@mail.example": "--policy: open missing.json: no such file",
	} {
		out, err, code := runCheck(t, nil, strings.Fields(args)...)
		require.NotZero(t, code)
		require.Empty(t, out)
		require.Contains(t, err, message)
		require.Equal(t, 1, strings.Count(err, "\n"), "one line that says why, and no table of zeros: %s", err)
	}
	_, err, code = runCheck(t, nil, fileOf(t, "empty.csv", ""))
	require.Zero(t, code)
	require.Equal(t, "Nothing was checked: the input is empty, or has only a header.\n", err)
}

// A line that cannot be read is reported, and the rest is checked. An encoding that is guessed
// is reported, also where no summary is wanted.
func TestCheckReportsBadLines(t *testing.T) {
	t.Parallel()
	const emails = "{\"email\":\"a@mail.example\"}\nnonsense\n{\"email\":\"b@mail.example\"}\n"
	for flags, lines := range map[string]int{"": 3, "--strict": 1} {
		out, err, code := runCheck(t, strings.NewReader(emails), append(strings.Fields(flags), "--from", "ndjson")...)
		require.Equal(t, 1, code)
		require.Contains(t, err, "line 2: not JSON")
		require.Equal(t, lines, strings.Count(out, "\n"), "a line of output for each of input")
	}
	file := fileOf(t, "list.csv", "name;email\nAndr\xe9;andre@mail.example\n=1+1;b@mail.example\n")
	for _, flag := range []string{"--quiet", "--summary=none", "--encoding=windows-1252"} {
		out, problem, code := runCheck(t, nil, file, flag, "--csv-safe")
		require.Zero(t, code, problem)
		require.Contains(t, out, "\nAndré;andre@mail.example;true;")
		require.Contains(t, out, "\n'=1+1;b@mail.example;true;")
		guessed := strings.Contains(problem, "list.csv was read as windows-1252: line 2 is not UTF-8, and all words fit.")
		require.Equal(t, flag != "--encoding=windows-1252", guessed, problem)
	}
}

// What --fail-on names has an exit code, facts before verdicts.
func TestCheckExitCodes(t *testing.T) {
	t.Parallel()
	policy := fileOf(t, "policy.json", signUpPolicy)
	const emails = "jane@mail.example\njane@gmial.com\na..b@mail.example\ninfo@mailinator.com\n"
	for args, want := range map[string]struct {
		code int
		says string
	}{
		"":                                 {0, ""},
		"--fail-on typo,role,disposable":   {exitFailOn, "1 mistyped, 1 disposable, 1 of a role"},
		"--fail-on gibberish,relay,errors": {0, ""},
		"--fail-on gibberish,invalid":      {exitFailOn, ""},
		"--fail-on nonsense":               {2, "must be one or more of invalid, typo, disposable"},
		"--fail-on block":                  {2, "--fail-on block needs the policy that decides: give --policy"},
		"--policy FILE --fail-on block":    {exitVerdict, "--fail-on: 2 with the verdict block"},

		"--policy FILE --fail-on review,gibberish,block": {exitVerdict, "verdict block, 1 with the verdict review"},
		"--policy FILE --fail-on block,typo":             {exitFailOn, "1 mistyped, 2 with the verdict block"},
		"--policy FILE --fail-on gibberish":              {0, ""},
		"--resume 5":                                     {2, ""},
		"--resume 4":                                     {0, ""},
		"--resume -1":                                    {2, ""},
		"--workers 0":                                    {2, ""},
		"-o FILE":                                        {2, "exists; remove it, give another name"},
		"-o FILE.none --resume 1":                        {2, "does not exist, so there is nothing to resume"},
		"--to xml":                                       {2, ""},
	} {
		flags := strings.Fields(strings.ReplaceAll(args, "FILE", policy))
		_, err, code := runCheck(t, strings.NewReader(emails), flags...)
		require.Equal(t, want.code, code, "%s: %s", args, err)
		require.Contains(t, err, want.says, args)
	}
}

const signUpPolicy = `{"allow": {"domains": ["*.corp.example"]}, "block": {"reasons": ["disposable", "no_mx"]}, "review": {"reasons": ["role", "typo"]}}`

// A policy that cannot decide ends the run before anything is looked up. The output that was
// begun is removed.
func TestCheckRefusesAPolicy(t *testing.T) {
	t.Parallel()
	for document, says := range map[string]string{
		`{"block": {"reasons": ["no_mx", "disposible"]}}`: `block.reasons[1]: "disposible" is no reason; did you mean`,

		"": `line 1, column 1: `,
	} {
		file, output := fileOf(t, "policy.json", document), filepath.Join(t.TempDir(), "out.csv")
		_, problem, code := runOn(t.Context(), nil,
			checkArgs(t, "--policy", file, "--dns", "127.0.0.1:1", "-o", output, "jane@mail.example")...)
		require.Equal(t, 1, code)
		require.Contains(t, problem, "--policy "+file+":")
		require.Contains(t, problem, ": "+says)
		require.NoFileExists(t, output)
	}
}

// check says at its end that no resolver replies, or that one lies, in every form of the
// summary.
func TestCheckWithABadResolver(t *testing.T) {
	t.Parallel()
	_, problem, code := runOn(t.Context(), strings.NewReader(listOf(300)), checkArgs(t, "--dns", "127.0.0.1:1", "-")...)
	require.Equal(t, 1, code)
	require.Contains(t, problem, "--offline")
	server := mxtest.New(t, "mail.example. 300 IN MX 10 mx.mail.example.\n")
	for args, warning := range map[string]string{
		"-":                                      `(?m)^Do not trust the results of MX lookups: .*denies the MX`,
		"a@gmail.com":                            "^Do not trust",
		"--summary json -":                       `"warning":"[^"]*denies the MX records`,
		"--quiet -":                              "^$",
		"--summary none -":                       "^$",
		"--dns-with-mx none a@gmail.com":         "^$",
		"--dns-with-mx mail.example a@gmail.com": "^$",
		"--dns-with-mx none --summary json -":    `"warning":null`,
	} {
		out, problem, code := runOn(t.Context(), strings.NewReader("a@gmail.com\n"),
			checkArgs(t, append(strings.Fields(args), "--dns", server.Addr, "--to", "ndjson")...)...)
		require.Zero(t, code, problem)
		require.Contains(t, out, `"mx":false`)
		require.Regexp(t, warning, problem, args)
	}
}

// The first signal ends the program although a pipe sends nothing that could be read. A run that
// is resumed then has written the same bytes as one run.
func TestCheckResumes(t *testing.T) {
	t.Parallel()
	list, output := "id,email\n"+strings.ReplaceAll(listOf(20_000), "user", "1,user"), t.TempDir()+"/out.csv"
	want, _, code := runCheck(t, strings.NewReader(list), "--from", "csv")
	require.Zero(t, code)
	var problem bytes.Buffer
	cmd := program(checkArgs(t, "--offline", "--from", "csv", "-o", output)...)
	cmd.Stderr = &problem
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	io.WriteString(in, list[:len(list)/2])
	require.Eventually(t, func() bool {
		info, err := os.Stat(output)
		return err == nil && info.Size() > 100_000
	}, hung, time.Millisecond)
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	_ = cmd.Wait()
	require.Equal(t, exitInterrupted, cmd.ProcessState.ExitCode(), problem.String())
	hint := regexp.MustCompile(`; go on with (--resume \d+), with the same input again\n`)
	found := hint.FindStringSubmatch(problem.String())
	require.NotNil(t, found, problem.String())
	args := append(strings.Fields(found[1]), "--from", "csv", "-o", output)
	_, again, code := runCheck(t, strings.NewReader(list), args...)
	require.Zero(t, code, again)
	require.Equal(t, want, textOf(t, output))
}

// An interrupted run does not wait for a lookup.
func TestCheckEndsAtOnceWhileItLooksUp(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	server := mxtest.New(t, "")
	server.Respond("slow.example.", func(dns.ResponseWriter, *dns.Msg) { interrupt() })
	_, problem, code := runOn(ctx, nil, checkArgs(t, "--dns", server.Addr, "--dns-timeout", "5m", "a@slow.example")...)
	require.Equal(t, exitInterrupted, code)
	require.Contains(t, problem, "interrupted: no record was written")
}

func onTerminal(t *testing.T, args ...string) (*exec.Cmd, *screen) {
	cmd := program(checkArgs(t, append(args, "--offline")...)...)
	cmd.Env = append(cmd.Env, "TERM=xterm", "NO_COLOR=")
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 90})
	require.NoError(t, err)
	t.Cleanup(func() { terminal.Close() })
	return cmd, &screen{t: t, File: terminal}
}

// On a terminal: a hint instead of silence, a table, and an end at once on Ctrl-C.
func TestCheckOnATerminal(t *testing.T) {
	t.Parallel()
	cmd, screen := onTerminal(t)
	screen.waitFor("Type an address a line")
	io.WriteString(screen, "jane@gmial.com\n")
	screen.waitFor("Did you mean jane@gmail.com?")
	require.Contains(t, screen.text.String(), "\x1b[")
	screen.Write([]byte{3}) // Ctrl-C
	screen.waitFor("interrupted: 1 record written")
	require.Error(t, cmd.Wait())
	require.Equal(t, exitInterrupted, cmd.ProcessState.ExitCode())
}

// With records in a file, the terminal has progress and then the summary; in a pipe, standard
// error has the summary alone.
func TestCheckShowsProgressOnATerminal(t *testing.T) {
	t.Parallel()
	file := fileOf(t, "list.txt", strings.Repeat("jane@mail.example\n", 150_000))
	cmd, screen := onTerminal(t, file, "-o", t.TempDir()+"/out.ndjson")
	screen.waitFor("%")
	screen.waitFor("150,000")
	require.NoError(t, cmd.Wait())
	_, problem, _ := runCheck(t, nil, file)
	require.NotContains(t, problem, "\x1b")
	require.NotContains(t, problem, "\r")
	require.Contains(t, problem, "150,000")
}

// A screen collects what a terminal shows.
type screen struct {
	*os.File
	t    *testing.T
	text strings.Builder
}

func (s *screen) waitFor(text string) {
	s.t.Helper()
	require.NoError(s.t, s.File.SetReadDeadline(time.Now().Add(hung)))
	buffer := make([]byte, 4096)
	for !strings.Contains(s.text.String(), text) {
		n, err := s.File.Read(buffer)
		s.text.Write(buffer[:n])
		require.NoError(s.t, err, "%q is not in %q", text, s.text.String())
	}
}

// A reader that has enough, as head does, ends the program without a message.
func TestCheckEndsWithItsReader(t *testing.T) {
	t.Parallel()
	read, write, err := os.Pipe()
	require.NoError(t, err)
	var problem bytes.Buffer
	cmd := program(checkArgs(t, "--offline", "-q")...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(strings.Repeat("jane@mail.example\n", 100_000)), write, &problem
	require.NoError(t, cmd.Start())
	write.Close()
	_, err = read.Read(make([]byte, 100))
	require.NoError(t, err)
	read.Close()
	require.Error(t, cmd.Wait())
	require.Equal(t, syscall.SIGPIPE, cmd.ProcessState.Sys().(syscall.WaitStatus).Signal())
	require.Empty(t, problem.String())
}

func TestCheckOnAFullDisk(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full")
	}
	defer full.Close()
	var problem strings.Builder
	args := checkArgs(t, "--offline", "jane@mail.example")
	require.Equal(t, 1, run(t.Context(), args, streams{nil, full, &problem}))
	require.Contains(t, problem.String(), "no space left on device; no record was written")
}

// The shell reads a quoted word as it was.
func FuzzShellQuote(f *testing.F) {
	for _, word := range []string{"", "a b", "it's", "$HOME", "`id`", "a\nb", "*", "~", "!x", "\\", "-n", "#"} {
		f.Add(word)
	}
	f.Fuzz(func(t *testing.T, word string) {
		for _, r := range word {
			if r == 0 {
				t.Skip("no word has a NUL")
			}
		}
		out, err := exec.Command("sh", "-c", "printf %s. "+shellQuote(word)).Output()
		require.NoError(t, err)
		require.Equal(t, word+".", string(out))
	})
}
