package command

import (
	"bytes"
	"errors"
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

	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

// checkArgs returns the arguments of a check with the module under test.
func checkArgs(t testing.TB, args ...string) []string {
	return append([]string{"check", "--module", origintest.ModuleFile(t), "--cache-dir", moduletest.CacheDir()}, args...)
}

// fileOf writes a file for a test.
func fileOf(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

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

	for arg, message := range map[string]string{
		"missing.csv": `"missing.csv" is not a file`,
		t.TempDir():   "is a directory",
	} {
		_, err, code := runCheck(t, nil, arg)
		require.NotZero(t, code)
		require.Contains(t, err, message)
	}
}

func TestCheckKeepsTheColumnsOfCSV(t *testing.T) {
	t.Parallel()
	file := fileOf(t, "list.csv", "name;email;note\nJane;jane@gmial.com;\"a;\nb\"\nInfo;info@mail.example;=1+1\n")
	out, err, code := runCheck(t, nil, file)
	require.Zero(t, code, err)
	require.Regexp(t, `^name;email;note;valid;`, out)
	require.Contains(t, out, "Jane;jane@gmial.com;\"a;\nb\";true;")
	require.Contains(t, out, "\nInfo;info@mail.example;=1+1;true;")
	require.Contains(t, out, ";gmail.com;")
	out, _, _ = runCheck(t, nil, file, "--csv-safe")
	require.Contains(t, out, ";'=1+1;")

	other := fileOf(t, "other.csv", "email;name\na@mail.example;A\n")
	_, err, code = runCheck(t, nil, file, other)
	require.Equal(t, 2, code)
	require.Contains(t, err, "not the columns of")
	_, err, code = runCheck(t, nil, file, other, "--to", "ndjson")
	require.Zero(t, code, err)
}

func TestCheckExitCodes(t *testing.T) {
	t.Parallel()
	const emails = "jane@mail.example\njane@gmial.com\na..b@mail.example\ninfo@mailinator.com\n"
	for args, want := range map[string]int{
		"":                                 0,
		"--fail-on typo":                   exitFailOn,
		"--fail-on gibberish,relay,errors": 0,
		"--fail-on gibberish,invalid":      exitFailOn,
		"--fail-on nonsense":               2,
		"--resume 5":                       2,
		"--resume 4":                       0,
		"--resume -1":                      2,
		"--workers 0":                      2,
		"--to xml":                         2,
	} {
		_, err, code := runCheck(t, strings.NewReader(emails), strings.Fields(args)...)
		require.Equal(t, want, code, "%s: %s", args, err)
	}
	_, err, _ := runCheck(t, strings.NewReader(emails), "--fail-on", "typo,role,disposable")
	require.Contains(t, err, "1 mistyped, 1 disposable, 1 of a role")
}

const signUpPolicy = `{"allow": {"domains": ["*.corp.example"]}, "block": {"reasons": ["disposable", "no_mx"]}, "review": {"reasons": ["role", "typo"]}}`

// With --policy each format has the verdict, at its end, and changes nothing else.
func TestCheckDecidesByAPolicy(t *testing.T) {
	t.Parallel()
	policy := fileOf(t, "policy.json", signUpPolicy)
	list := fileOf(t, "list.csv", "verdict;email\nx;jane@mail.example\ny;info@mail.corp.example\nz;jane@mailinator.com\n-;jane@\n;\n-;info@gmial.com\n")
	plain, _, _ := runCheck(t, nil, list)
	out, problem, code := runCheck(t, nil, list, "--policy", policy)
	require.Zero(t, code, problem)
	ends := []string{";addrspec_verdict;addrspec_verdict_reason;addrspec_verdict_rule", ";allow;;", ";allow;domain;allow.domains[0]", ";block;disposable;block.reasons[0]",
		";block;invalid;", ";;;", ";review;role;review.reasons[0]"}
	before := strings.Split(plain, "\n")
	for n, line := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
		rest, found := strings.CutSuffix(line, ends[n])
		require.True(t, found, line)
		if n > 0 {
			require.Equal(t, before[n], rest)
		}
	}
	require.Regexp(t, `(?m)^ +allow +2 .*\n +review +1 .*\n +block +2 `, problem)
	require.Contains(t, problem, "the policy's reasons that need DNS were skipped: no_mx, no_mail")

	out, _, _ = runCheck(t, nil, list, "--policy", policy, "--to", "ndjson", "--details", "--keep")
	require.Contains(t, out, `,"exchange":null},"verdict":{"action":"block","reason":"disposable","rule":"block.reasons[0]"},"line":4,"input":{"verdict":"z",`)
	out, _, _ = runCheck(t, nil, list, "--policy", policy, "--to", "table")
	require.Contains(t, out, "block                disposable, block.reasons[0]")
	_, problem, _ = runCheck(t, nil, list, "--policy", policy, "--summary", "json")
	require.Contains(t, problem, `"allow":2,"review":1,"block":2,"skipped_reasons":["no_mx","no_mail"]}`)

	whole, _, _ := runCheck(t, nil, list, "--policy", policy)
	rest, _, _ := runCheck(t, nil, list, "--policy", policy, "--resume", "2")
	require.Equal(t, strings.SplitAfterN(whole, "\n", 4)[3], rest)
}

// A verdict that --fail-on names has an exit code of its own, after that of facts.
func TestCheckFailsOnAVerdict(t *testing.T) {
	t.Parallel()
	policy := fileOf(t, "policy.json", signUpPolicy)
	for _, c := range []struct {
		flags, says string
		code        int
	}{
		{"--fail-on block", "--fail-on: 1 with the verdict block", exitVerdict},
		{"--fail-on review", "--fail-on: 2 with the verdict review", exitVerdict},
		{"--fail-on review,block", "--fail-on: 1 with the verdict block, 2 with the verdict review", exitVerdict},
		{"--fail-on block,typo", "--fail-on: 1 mistyped, 1 with the verdict block", exitFailOn},
		{"--fail-on block,gibberish", "--fail-on: 1 with the verdict block", exitVerdict},
		{"--fail-on gibberish", "", 0},
		{"--fail-on allow", "must be one or more of invalid, typo, disposable", 2},
	} {
		_, problem, code := runCheck(t, nil, append(strings.Fields(c.flags), "--policy", policy, "--to", "csv", "jane@mail.example", "info@mail.example", "jane@gmial.com", "jane@mailinator.com")...)
		require.Equal(t, c.code, code, problem)
		require.Contains(t, problem, c.says)
	}
	_, problem, code := runCheck(t, nil, "--fail-on", "block", "jane@mail.example")
	require.Equal(t, 2, code)
	require.Contains(t, problem, "--fail-on block needs the policy that decides: give --policy")
	_, _, code = runCheck(t, nil, "--fail-on", "block,review", "--policy", policy, "jane@mail.example")
	require.Zero(t, code)
}

// A file that is no policy is named, with the place in it, before any address is read or
// a resolver is asked. Output that was begun is removed.
func TestCheckRefusesABadPolicy(t *testing.T) {
	t.Parallel()
	for document, says := range map[string]string{
		`{"block": {"reasons": ["no_mx", "role", "disposible"]}}`: `block.reasons[2]: "disposible" is no reason; did you mean "disposable"?`,
		`{"block": {"domains": ["a.*.example"]}}`:                 `block.domains[0]: `,
		"{\n\"block\": 7}":                   `block: `,
		"":                                   `line 1, column 1: `,
		strings.Repeat(" ", maxPolicyFile+1): `the document: it has more than 2625536 bytes`,
		`{"block": {}, "block": {}}`:         `block: the member is there twice; join the two`,
	} {
		file, output := fileOf(t, "policy.json", document), filepath.Join(t.TempDir(), "out.csv")
		out, problem, code := runCheck(t, unread{t}, "--policy", file, "--offline=false", "--dns", "127.0.0.1:1", "-o", output, "-")
		require.Equal(t, 1, code)
		require.Empty(t, out)
		require.Contains(t, problem, "--policy "+file+":")
		require.Contains(t, problem, ": "+says)
		require.NoFileExists(t, output)
	}
	_, problem, code := runCheck(t, unread{t}, "--policy", "missing.json", "-")
	require.Equal(t, 1, code)
	require.Contains(t, problem, "--policy: open missing.json: no such file")
	_, problem, code = runCheck(t, unread{t}, "--policy", "p.json", "--offline=false", "--server", "https://addrspec.example", "-")
	require.Equal(t, 1, code)
	require.Contains(t, problem, "--policy: open p.json: no such file")
	require.Contains(t, problem, "a name of a-z, 0-9, - and _ is a policy of the account")
}

// unread is an input that nothing may read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the input was read")
	return 0, io.EOF
}

// A line that cannot be read is reported, and the rest is checked.
func TestCheckGoesOnAfterABadLine(t *testing.T) {
	t.Parallel()
	const emails = "{\"email\":\"a@mail.example\"}\nnonsense\n{\"email\":\"b@mail.example\"}\n"
	out, err, code := runCheck(t, strings.NewReader(emails), "--from", "ndjson")
	require.Equal(t, 1, code)
	require.Contains(t, err, "standard input line 2: ")
	require.Contains(t, err, "1 line could not be read")
	require.Contains(t, out, `"email":"b@mail.example"`)
	require.Equal(t, 3, strings.Count(out, "\n"), "a line of output for each of input")

	out, err, code = runCheck(t, strings.NewReader(emails), "--from", "ndjson", "--strict")
	require.Equal(t, 1, code)
	require.Contains(t, err, "line 2: ")
	require.Equal(t, 1, strings.Count(out, "\n"))
}

// What cannot be read gets one line that says why, and no table of zeros.
func TestCheckSaysWhyNothingWasRead(t *testing.T) {
	t.Parallel()
	locked := fileOf(t, "locked.csv", "email\na@mail.example\n")
	require.NoError(t, os.Chmod(locked, 0))
	for name, c := range map[string]struct {
		file string
		code int
		says string
	}{
		"an empty file":         {fileOf(t, "empty.csv", ""), 0, "Nothing was checked: the input is empty, or has only a header."},
		"a header alone":        {fileOf(t, "header.csv", "name,email\n"), 0, "Nothing was checked: the input is empty, or has only a header."},
		"a directory":           {t.TempDir(), 1, " is a directory; give the files in it"},
		"no permission":         {locked, 1, "cannot read the addresses: open " + locked + ": permission denied"},
		"NUL bytes":             {fileOf(t, "nul.txt", strings.Repeat("\x00", 5000)), 1, "nul.txt: this is not text: it has a NUL byte"},
		"a spreadsheet":         {fileOf(t, "list.csv", "PK\x03\x04 xl/workbook.xml"), 1, "list.csv: this is an Excel workbook (.xlsx) and not text: open it and save the sheet as CSV UTF-8"},
		"no column":             {fileOf(t, "names.csv", "name,age\nJane,31\n"), 1, `names.csv: no column has addresses; name one by its number or name (--column), or give --from text if each line is an address; the columns are 1 "name", 2 "age"`},
		"another encoding":      {fileOf(t, "utf16.csv", "\xff\xfea\x00"), 1, "utf16.csv: the encoding utf-8 was given, but the input begins with the byte order mark of utf-16le"},
		"gzip that was cut off": {fileOf(t, "list.gz", "\x1f\x8b\x08"), 1, "list.gz: the gzip data ends too early"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "no permission" && os.Geteuid() == 0 {
				t.Skip("root may read every file")
			}
			args := []string{c.file}
			if name == "another encoding" {
				args = append(args, "--encoding", "utf-8")
			}
			out, problem, code := runCheck(t, nil, args...)
			require.Equal(t, c.code, code, problem)
			require.Contains(t, problem, c.says)
			require.Equal(t, 1, strings.Count(problem, "\n"), problem)
			if code != 0 {
				require.Empty(t, out)
			}
			_, problem, _ = runCheck(t, nil, append(args, "--quiet")...)
			require.Equal(t, code != 0, problem != "")
		})
	}
}

// An encoding that is guessed is reported, also where no summary is wanted.
func TestCheckReportsTheEncoding(t *testing.T) {
	t.Parallel()
	file := fileOf(t, "list.csv", "name;email\nAndr\xe9;andre@mail.example\nZo\xeb;zo\xeb@mail.example\n")
	const says = "list.csv was read as windows-1252: line 2 is not UTF-8. If letters look wrong, give another one with --encoding.\n"
	for _, flags := range [][]string{nil, {"--quiet"}, {"--summary", "none"}} {
		out, problem, code := runCheck(t, nil, append([]string{file}, flags...)...)
		require.Zero(t, code, problem)
		require.Contains(t, problem, says)
		require.Contains(t, out, "\nAndré;andre@mail.example;true;")
		require.Contains(t, out, "\nZoë;zoë@mail.example;true;")
	}
	out, problem, code := runCheck(t, nil, file, "--encoding", "windows-1252", "--quiet")
	require.Zero(t, code)
	require.Empty(t, problem)
	require.Contains(t, out, "\nZoë;zoë@mail.example;true;")
	_, problem, _ = runCheck(t, nil, file, "--summary", "json")
	require.Contains(t, problem, `"encoding":"windows-1252","why":"line 2 is not UTF-8","guessed":true}]}`)
	_, problem, code = runCheck(t, nil, file, "--encoding", "utf-8")
	require.Equal(t, 1, code)
	require.Contains(t, problem, "list.csv line 2: the line is not UTF-8")
	require.Contains(t, problem, "2 records could not be read.")
}

func TestCheckLooksUpMX(t *testing.T) {
	t.Parallel()
	emails, _, _ := mailList(300)
	cmd := program(append(checkArgs(t, "--dns", contract.Serve(t)), "-q", "jane@mail.example", "jane@[192.0.2.1]")...)
	out, err := cmd.Output()
	require.NoError(t, err)
	require.Contains(t, string(out), `"mx":true`)
	require.Contains(t, string(out), `"mx":false`)

	cmd = program(append(checkArgs(t, "--dns", "127.0.0.1:1"), "-")...)
	cmd.Stdin = strings.NewReader(strings.Join(emails, "\n"))
	cmd.Stderr = new(bytes.Buffer)
	require.Error(t, cmd.Run())
	require.Contains(t, cmd.Stderr.(*bytes.Buffer).String(), "--offline")
}

var resumeHint = regexp.MustCompile(`--resume (\d+)`)

// Runs that are interrupted at any moment and resumed write the same bytes as one
// run.
func TestCheckResumes(t *testing.T) {
	t.Parallel()
	var list strings.Builder
	list.WriteString("id,email\n")
	for n := range shorter(60_000, 20_000) {
		fmt.Fprintf(&list, "%d,user%d@mail.example\n", n, n)
	}
	file := fileOf(t, "list.csv", list.String())
	want, _, code := runCheck(t, nil, file)
	require.Zero(t, code)
	output := filepath.Join(t.TempDir(), "out.csv")
	args, interrupted := checkArgs(t, "--offline", file, "-o", output), 0
	for {
		var problem bytes.Buffer
		cmd := program(args...)
		cmd.Stderr = &problem
		require.NoError(t, cmd.Start())
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		var err error
		if interrupted < 4 {
			err = whenLonger(output, ended, func() { _ = cmd.Process.Signal(os.Interrupt) })
		} else {
			err = <-ended
		}
		if err == nil {
			break
		}
		require.Equal(t, exitInterrupted, cmd.ProcessState.ExitCode(), problem.String())
		hint := resumeHint.FindString(problem.String())
		if hint == "" {
			require.Contains(t, problem.String(), "no record was written")
			continue
		}
		interrupted++
		require.Contains(t, problem.String(), "-o "+output)
		args = checkArgs(t, append([]string{"--offline", file, "-o", output}, strings.Fields(hint)...)...)
	}
	require.Positive(t, interrupted)
	got, err := os.ReadFile(output)
	require.NoError(t, err)
	require.Equal(t, want, string(got))
	t.Logf("interrupted %d times", interrupted)
}

// whenLonger calls interrupt once the file is longer, and returns how the program
// ended.
func whenLonger(file string, ended chan error, interrupt func()) error {
	size := func() int64 {
		if info, err := os.Stat(file); err == nil {
			return info.Size()
		}
		return 0
	}
	before := size()
	for {
		select {
		case err := <-ended:
			return err
		case <-time.After(time.Millisecond):
		}
		if size() > before {
			interrupt()
			return <-ended
		}
	}
}

// On a terminal: a hint instead of silence, a table, and an end at once on Ctrl-C.
func TestCheckOnATerminal(t *testing.T) {
	t.Parallel()
	cmd := program(checkArgs(t, "--offline")...)
	cmd.Env = append(cmd.Env, "TERM=xterm", "NO_COLOR=")
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 90})
	require.NoError(t, err)
	defer terminal.Close()
	screen := &screen{t: t, from: terminal}
	screen.waitFor("Type an address a line")
	io.WriteString(terminal, "jane@gmial.com\n")
	screen.waitFor("Did you mean jane@gmail.com?")
	require.Contains(t, screen.text.String(), "\x1b[")
	terminal.Write([]byte{3}) // Ctrl-C
	screen.waitFor("interrupted: 1 record written")
	failure, ok := errors.AsType[*exec.ExitError](cmd.Wait())
	require.True(t, ok)
	require.Equal(t, exitInterrupted, failure.ExitCode())
}

// A screen collects what a terminal shows.
type screen struct {
	t    *testing.T
	from *os.File
	text strings.Builder
}

// waitFor reads until text appears.
func (s *screen) waitFor(text string) {
	s.t.Helper()
	require.NoError(s.t, s.from.SetReadDeadline(time.Now().Add(hung)))
	buffer := make([]byte, 4096)
	for !strings.Contains(s.text.String(), text) {
		n, err := s.from.Read(buffer)
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
	failure, ok := errors.AsType[*exec.ExitError](cmd.Wait())
	require.True(t, ok)
	require.Equal(t, syscall.SIGPIPE, failure.Sys().(syscall.WaitStatus).Signal())
	require.Empty(t, problem.String())
}

func TestCheckOnAFullDisk(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full")
	}
	defer full.Close()
	var problem bytes.Buffer
	cmd := program(checkArgs(t, "--offline")...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("jane@mail.example\n"), full, &problem
	failure, ok := errors.AsType[*exec.ExitError](cmd.Run())
	require.True(t, ok)
	require.Equal(t, 1, failure.ExitCode())
	require.Contains(t, problem.String(), "no space left on device")
	require.Contains(t, problem.String(), "no record was written")
}
