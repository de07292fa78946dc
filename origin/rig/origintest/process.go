package origintest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/addrspec/addrspec/wasm/moduletest"
)

// A Process is a program that has written its first line.
type Process struct {
	FirstLine string

	cmd   *exec.Cmd
	ended chan struct{} // closed once the process has ended
}

// OnStdout makes [Start] read the first line from standard output.
func OnStdout(cmd *exec.Cmd, pipe *os.File) { cmd.Stdout = pipe }

// OnDescriptor3 makes [Start] read the first line from file descriptor 3, to which
// workerd writes it with --control-fd=3.
func OnDescriptor3(cmd *exec.Cmd, pipe *os.File) { cmd.ExtraFiles = []*os.File{pipe} }

// Start starts cmd and returns once it has written its first line, to the pipe that
// attach gives it: [OnStdout] or [OnDescriptor3]. Later output to the pipe is
// discarded. Start returns an error if the program ends before the line. On Linux the
// program ends with this process.
func Start(cmd *exec.Cmd, attach func(*exec.Cmd, *os.File)) (*Process, error) {
	out, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	attach(cmd, in)
	DieWithParent(cmd)
	err = cmd.Start()
	in.Close()
	if err != nil {
		out.Close()
		return nil, err
	}
	p := &Process{cmd: cmd, ended: make(chan struct{})}
	go func() { _ = cmd.Wait(); close(p.ended) }()
	p.FirstLine, err = FirstLine(out)
	if err != nil {
		p.Kill()
		return nil, err
	}
	return p, nil
}

// PID returns the id of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Memory returns a size from /proc in bytes (proc_pid_status(5)), such as VmRSS, the
// memory now, or VmHWM, the most so far. It returns 0 where there is no /proc.
func (p *Process) Memory(name string) (size int64) {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	for line := range strings.Lines(string(status)) {
		if value, found := strings.CutPrefix(line, name+":"); found {
			fmt.Sscanf(strings.TrimSpace(value), "%d kB", &size)
		}
	}
	return size << 10
}

// Signal sends the process a signal.
func (p *Process) Signal(signal os.Signal) error { return p.cmd.Process.Signal(signal) }

// Kill ends the process as a crash would, and returns once it has ended.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// Terminate sends SIGTERM and waits. A process that does not end in time is
// killed; that is an error, and so is any exit code but 0.
func (p *Process) Terminate(within time.Duration) error {
	_ = p.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(within):
		p.Kill()
		return fmt.Errorf("the process still ran %s after SIGTERM", within)
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("the process exited with code %d", code)
	}
	return nil
}

// Wait returns once the process has ended.
func (p *Process) Wait() { <-p.ended }

// FirstLine returns a program's first line, and discards later output in the
// background. It returns an error if the output ends before the line does.
func FirstLine(out io.ReadCloser) (string, error) {
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("the program ended before its first line: %w", err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, out)
		out.Close()
	}()
	return strings.TrimSpace(line), nil
}

// AddressIn returns the HOST:PORT of the http URL at the end of a server's first
// line, with 127.0.0.1 in place of localhost.
func AddressIn(line string) (string, error) {
	_, address, found := strings.Cut(line, "http://")
	if !found {
		return "", fmt.Errorf("no address in %q", line)
	}
	if _, _, err := net.SplitHostPort(address); err != nil {
		return "", fmt.Errorf("no address in %q: %w", line, err)
	}
	return strings.Replace(address, "localhost:", "127.0.0.1:", 1), nil
}

// FreeAddress returns a loopback address with a free port. The port is below those
// that systems assign to clients, so that no client takes it while a server at that
// address restarts.
func FreeAddress() (string, error) {
	for range 100 {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 15_000+rand.IntN(15_000)))
		if err == nil {
			return listener.Addr().String(), listener.Close()
		}
	}
	return "", errors.New("no port is free between 15000 and 30000")
}

// EdgeSecret is the --edge-secret of the tests.
const EdgeSecret = "the secret of a test's deployment"

// NewDatabase returns the --database of an SQLite file that does not exist yet. It is in a
// directory of the test, in memory if there is room. While browsers and compilers write to the
// same disk, a flush can hang for seconds, and the ledger then responds with 503 as it should. Only
// the database is there: Deno may not read /dev.
func NewDatabase(t testing.TB) string {
	t.Helper()
	directory, err := "", error(nil)
	if memoryHasRoom() {
		directory, err = os.MkdirTemp(memory, "addrspec-test-")
	}
	if directory == "" || err != nil {
		directory = t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(directory); err != nil {
			t.Error(err)
		}
	})
	return "sqlite:" + filepath.Join(directory, "addrspec.db")
}

// ServeArgs returns the arguments of `addrspec serve` on a free port, with a module
// built from the current sources. A later flag overrides an earlier one.
func ServeArgs(t testing.TB, database string, flags ...string) []string {
	t.Helper()
	return append([]string{"serve", "--listen", "127.0.0.1:0", "--database", database,
		"--module", ModuleFile(t), "--cache-dir", moduletest.CacheDir()}, flags...)
}

// ModuleFile writes the module, built from the current sources, to a file.
func ModuleFile(t testing.TB) string {
	t.Helper()
	return writeFile(t, "addrspec.wasm", moduletest.Bytes(t))
}

// SecurityTxt writes a file for --security-txt.
func SecurityTxt(t testing.TB) string {
	t.Helper()
	return writeFile(t, "security.txt", []byte("Contact: mailto:security@addrspec.example\r\n"+
		"Expires: "+time.Now().AddDate(0, 6, 0).UTC().Format(time.RFC3339)+"\r\n"))
}

func writeFile(t testing.TB, name string, content []byte) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A Log collects a program's output while the test reads it. Its zero value is
// empty and ready to use.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String returns the output so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Contains reports whether the output so far contains text.
func (l *Log) Contains(text string) bool { return strings.Contains(l.String(), text) }

// A List is a file of addresses that every way to check one reads.
type List struct {
	Name, File string
	Content    []byte
}

// Lists reads lists from a table of texts and their encodings.
func Lists(t testing.TB, path string) (lists []List) {
	t.Helper()
	table, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var texts []struct{ Name, File, Encoding, Text string }
	if err := json.Unmarshal(table, &texts); err != nil {
		t.Fatal(err)
	}
	encodings := map[string]encoding.Encoding{"": encoding.Nop, "latin1": charmap.ISO8859_1,
		"utf-16le": unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), "utf-16be": unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)}
	for _, l := range texts {
		content, err := encodings[l.Encoding].NewEncoder().Bytes([]byte(l.Text))
		if err != nil {
			t.Fatal(err)
		}
		lists = append(lists, List{l.Name, l.File, content})
	}
	return lists
}

// SourceDirectory returns the directory of the project's sources, for programs that are
// Go modules of their own too.
func SourceDirectory(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/addrspec/addrspec").Output()
	return strings.TrimSpace(string(out)), Explain(err)
}

// BuildProgram builds addrspec as ./build.sh does.
func BuildProgram(ctx context.Context, to string) error {
	root, err := SourceDirectory(ctx)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "-C", root, "build", "-trimpath", "-buildvcs=false", "-o", to, "./origin")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	_, err = cmd.Output()
	return Explain(err)
}

// Explain adds to the error of a command what it wrote to standard error.
func Explain(err error) error {
	if exit := new(exec.ExitError); errors.As(err, &exit) && len(exit.Stderr) > 0 {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
	}
	return err
}

// An Operator runs commands of the program on a database.
type Operator struct {
	Program  string // its path
	Database string // URL
}

// Run runs a command and returns what it prints.
func (o Operator) Run(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, o.Program, append(args, "--database", o.Database)...).Output()
	if err != nil {
		return "", fmt.Errorf("addrspec %s: %w", args[0], Explain(err))
	}
	return string(out), nil
}

// NewAccount creates an account with these limits, and a key named test.
func (o Operator) NewAccount(ctx context.Context, email, rate, points string) (key string, err error) {
	if _, err := o.Run(ctx, "account", "create", "--email", email, "--rate", rate, "--points", points); err != nil {
		return "", err
	}
	text, err := o.Run(ctx, "key", "create", "--account", email, "--name", "test")
	if err != nil {
		return "", err
	}
	words := strings.Fields(text)
	return words[len(words)-1], nil
}
