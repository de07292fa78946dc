package command

import (
	"bytes"
	"context"
	"fmt"
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
	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"

	"github.com/addrspec/addrspec/origin/rig/mxtest"
)

func checkArgs(t testing.TB, args ...string) []string {
	return append(withModule(t, "check"), args...)
}

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

	output := filepath.Join(t.TempDir(), "out.csv")
	for args, message := range map[string]string{
		"missing.csv": `there is no file "missing.csv"`,
		t.TempDir():   " is a directory; give the files in it",
		fileOf(t, "list.csv", "name;email\n") + " " + fileOf(t, "other.csv", "email;name\n"): "not the columns of",

		fileOf(t, "names.csv", "name,age\nJane,31\n"): "no column has addresses; name one by its number or name",

		"--policy missing.json jane@mail.example": "--policy: open missing.json: no such file",

		"-o " + output + " jane@mail.example --policy " + fileOf(t, "p.json", `{"block": {"reasons": ["disposible"]}}`): `p.json:1:24: block.reasons[0]: "disposible" is no reason`,
	} {
		out, err, code := runCheck(t, nil, strings.Fields(args)...)
		require.NotZero(t, code)
		require.Empty(t, out)
		require.Contains(t, err, message)
		require.Equal(t, 1, strings.Count(err, "\n"), "one line that says why, and no table of zeros: %s", err)
		require.NoFileExists(t, output)
	}
	_, err, code = runCheck(t, nil, fileOf(t, "empty.csv", ""))
	require.Zero(t, code)
	require.Equal(t, "Nothing was checked: the input is empty, or has only a header.\n", err)
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
		"":                               {0, ""},
		"--fail-on typo,role,disposable": {exitFailOn, "1 mistyped, 1 disposable, 1 of a role"},
		"--fail-on nonsense":             {2, "must be one or more of invalid, typo, disposable"},
		"--fail-on block":                {2, "--fail-on block needs the policy that decides: give --policy"},
		"--policy FILE --fail-on block":  {exitVerdict, "--fail-on: 2 with the verdict block"},

		"--policy FILE --fail-on review,gibberish,block": {exitVerdict, "verdict block, 1 with the verdict review"},
		"--policy FILE --fail-on block,typo":             {exitFailOn, "1 mistyped, 2 with the verdict block"},
		"--resume 5":                                     {2, ""},
		"--from ndjson":                                  {1, "line 4: not JSON"}, // the rest is checked
		"-o FILE":                                        {2, "exists; remove it, give another name"},
		"-o FILE.none --resume 1":                        {2, "does not exist, so there is nothing to resume"},
	} {
		flags := strings.Fields(strings.ReplaceAll(args, "FILE", policy))
		_, err, code := runCheck(t, strings.NewReader(emails), flags...)
		require.Equal(t, want.code, code, "%s: %s", args, err)
		require.Contains(t, err, want.says, args)
	}
}

const signUpPolicy = `{"allow": {"domains": ["*.corp.example"]}, "block": {"reasons": ["disposable", "no_mx"]}, "review": {"reasons": ["role", "typo"]}}`

// check says at its end that no resolver replies, or that one lies, in every form of the
// summary.
func TestCheckWithABadResolver(t *testing.T) {
	t.Parallel()
	_, problem, code := runOn(t.Context(), strings.NewReader(listOf(300)), checkArgs(t, "--dns", "127.0.0.1:1", "-")...)
	require.Equal(t, 1, code)
	require.Contains(t, problem, "--offline")
	server := mxtest.New(t, "mail.example. 300 IN MX 10 mx.mail.example.\n")
	for args, warning := range map[string]string{
		"-":                                   `(?m)^Do not trust the results of MX lookups: .*denies the MX`,
		"--summary json -":                    `"warning":"[^"]*denies the MX records`,
		"--quiet -":                           "^$",
		"--dns-with-mx none a@gmail.com":      "^$",
		"--dns-with-mx none --summary json -": `"warning":null`,
	} {
		out, problem, code := runOn(t.Context(), strings.NewReader("a@gmail.com\n"),
			checkArgs(t, append(strings.Fields(args), "--dns", server.Addr, "--to", "ndjson")...)...)
		require.Zero(t, code, problem)
		require.Contains(t, out, `"mx":false`)
		require.Regexp(t, warning, problem, args)
	}
}

// An interrupt ends the run although a pipe sends nothing that could be read. A run that is resumed
// then has written the same bytes as one run.
func TestCheckResumes(t *testing.T) {
	t.Parallel()
	list, output := "id,email\n"+strings.ReplaceAll(listOf(20_000), "user", "1,user"), t.TempDir()+"/out.csv"
	want, _, code := runCheck(t, strings.NewReader(list), "--from", "csv")
	require.Zero(t, code)
	ctx, interrupt := context.WithCancel(t.Context())
	in, feed := io.Pipe()
	go func() {
		_, _ = io.WriteString(feed, list[:len(list)/2])
		for info, err := os.Stat(output); err != nil || info.Size() < 100_000; info, err = os.Stat(output) {
			time.Sleep(time.Millisecond) // real time: waits for what was written
		}
		interrupt()
	}()
	_, problem, code := runOn(ctx, in, checkArgs(t, "--offline", "--from", "csv", "-o", output)...)
	require.Equal(t, exitInterrupted, code, problem)
	hint := regexp.MustCompile(`; go on with (--resume \d+), with the same input again\n`).FindStringSubmatch(problem)
	require.NotNil(t, hint, problem)
	_, again, code := runCheck(t, strings.NewReader(list), append(strings.Fields(hint[1]), "--from", "csv", "-o", output)...)
	require.Zero(t, code, again)
	require.Equal(t, want, textOf(t, output))
}

// A run that is interrupted while it reads a workbook leaves nothing of it.
func TestInterruptedWorkbookLeavesNothing(t *testing.T) {
	t.Parallel()
	book := excelize.NewFile()
	rows := must(book.NewStreamWriter("Sheet1"))(t)
	for n := range 50_000 {
		require.NoError(t, rows.SetRow(fmt.Sprint("A", n+1), []any{fmt.Sprintf("user%d@mail.example", n)}))
	}
	require.NoError(t, rows.Flush())
	list, temporary := filepath.Join(t.TempDir(), "list.xlsx"), t.TempDir()
	require.NoError(t, book.SaveAs(list))
	cmd := program(checkArgs(t, "--offline", "-o", filepath.Join(t.TempDir(), "out.csv"), list)...)
	cmd.Env = append(cmd.Env, "TMPDIR="+temporary)
	require.NoError(t, cmd.Start())
	await(t, func() bool { return len(must(filepath.Glob(temporary+"/*/*/scanned.xlsx"))(t)) > 0 })
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	_ = cmd.Wait()
	require.Empty(t, must(os.ReadDir(temporary))(t))
}

// On a terminal: a hint instead of silence, a table, and an end at once on Ctrl-C.
func TestCheckOnATerminal(t *testing.T) {
	t.Parallel()
	cmd := program(checkArgs(t, "--offline")...)
	cmd.Env = append(cmd.Env, "TERM=xterm", "NO_COLOR=")
	terminal := must(pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 90}))(t)
	defer terminal.Close()
	screen := &screen{t: t, File: terminal}
	screen.waitFor("Type an address a line")
	_, _ = io.WriteString(screen, "jane@gmial.com\n")
	screen.waitFor("Did you mean jane@gmail.com?")
	require.Contains(t, screen.text.String(), "\x1b[")
	_, _ = screen.Write([]byte{3}) // Ctrl-C
	screen.waitFor("interrupted: 1 record written")
	require.Error(t, cmd.Wait())
	require.Equal(t, exitInterrupted, cmd.ProcessState.ExitCode())
}

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
	must(read.Read(make([]byte, 100)))(t)
	read.Close()
	require.Error(t, cmd.Wait())
	require.Equal(t, syscall.SIGPIPE, cmd.ProcessState.Sys().(syscall.WaitStatus).Signal())
	require.Empty(t, problem.String())
}

// The shell reads a quoted word as it was.
func FuzzShellQuote(f *testing.F) {
	for _, word := range []string{"", "a b", "it's", "$HOME", "`id`", "a\nb", "*", "~", "!x", "\\", "-n", "#"} {
		f.Add(word)
	}
	f.Fuzz(func(t *testing.T, word string) {
		if strings.Contains(word, "\x00") {
			t.Skip("no word has a NUL")
		}
		out := must(exec.Command("sh", "-c", "printf %s. "+shellQuote(word)).Output())(t)
		require.Equal(t, word+".", string(out))
	})
}
