package bindings_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/moduletest"
	"github.com/addrspec/addrspec/wasm/vectors"
)

// phpExtension builds the extension as a user does, from the archive and the library, and
// returns the directory of its sources.
func phpExtension(t *testing.T) (directory string) {
	t.Helper()
	for _, tool := range []string{"php", "phpize", "cc", "make"} {
		find(t, tool)
	}
	prefix := libaddrspec(t)
	built := builtOnce(t, "php", func(directory string) {
		build(t, directory, "tar", "-xzf", artifact(t, "php"), "--strip-components=1")
		build(t, filepath.Join(directory, "ext"), "sh", "-ec", `phpize && ./configure --quiet --with-addrspec="$1" CFLAGS='-O2 -Wall -Wextra -Wno-unused-parameter -Werror' && make --silent`, "sh", prefix)
	}, digest(readBytes(t, filepath.Join(prefix, "lib", "libaddrspec.a"))))
	return filepath.Join(built, "ext")
}

func shared(extension string) string { return filepath.Join(extension, "modules", "addrspec.so") }

// php returns a command of PHP with the extension and no other configuration.
func php(extension string, args ...string) []string {
	return with([]string{"php", "-n", "-d", "extension=" + shared(extension)}, args...)
}

func TestPHPExtension(t *testing.T) {
	many := php(phpExtension(t), "-f", "php/examples/check.php", "--")
	single := with(many, "-1")
	pack{many: many, single: single}.requireSameBytes(t)
	policySample(t).requireSame(t, with(many, "-p"))
}

// PHP loads extensions globally: another with another version of the library must not get ours.
func TestPHPExtensionHidesLibrary(t *testing.T) {
	extension, err := elf.Open(shared(phpExtension(t)))
	require.NoError(t, err)
	defer extension.Close()
	symbols, err := extension.DynamicSymbols()
	require.NoError(t, err)
	for _, symbol := range symbols {
		require.False(t, symbol.Section != elf.SHN_UNDEF && strings.HasPrefix(symbol.Name, "addrspec_") && symbol.Name != "addrspec_module_entry" && symbol.Name != "addrspec_globals", symbol.Name)
	}
}

// The extension's own tests, by PHP's runner; and in valgrind without PHP's own memory
// management, which hides errors.
func TestPHPUnits(t *testing.T) {
	extension := phpExtension(t)
	t.Run("usual", func(t *testing.T) { phpTests(t, extension) })
	t.Run("valgrind", func(t *testing.T) {
		find(t, "valgrind")
		phpTests(t, extension, "-m")
	})
}

// phpTests runs a copy of the tests, since the runner writes files beside them.
func phpTests(t *testing.T, extension string, options ...string) {
	t.Helper()
	directory := t.TempDir()
	build(t, directory, "cp", "-R", filepath.Join(extension, "run-tests.php"), filepath.Join(extension, "tests"), ".")
	runner := []string{"php", "-n", "run-tests.php", "-P", "-q", "-n", "-d", "extension=" + shared(extension), "--show-diff"}
	build(t, directory, with(with(runner, options...), "tests")...)
}

// The stub for editors has what the extension has.
func TestPHPStub(t *testing.T) {
	extension := phpExtension(t)
	want := run(t, "", php(extension, "php/tests/stub.php"))
	require.Contains(t, want, "Addrspec\\check(string $email, bool $details = false")
	require.Equal(t, want, run(t, "", []string{"php", "-n", "php/tests/stub.php", "php/ext/addrspec.stub.php"}))
}

// The rules, by the real validators of Symfony and Laravel. Debian has both.
func TestPHPRules(t *testing.T) {
	extension := phpExtension(t)
	for framework, want := range map[string]string{"symfony": symfonyRules, "laravel": laravelRules} {
		t.Run(framework, func(t *testing.T) {
			command := []string{"php", "-d", "extension=" + shared(extension), "php/tests/rules.php", framework}
			if err := exec.Command(command[0], command[1:]...).Run(); err != nil && err.(*exec.ExitError).ExitCode() == missingTool {
				t.Skip(framework + " is not installed for PHP")
			}
			require.Equal(t, want, run(t, "", command))
		})
	}
}

const symfonyRules = `the document
"jane@example.org" Default 
"jane@example.org" strict 
"jane.@example.org" Default local_part_ends_with_dot email This value is not a valid email address: the local part ends with a dot; remove it.
"jane.@example.org" strict local_part_ends_with_dot email This value is not a valid email address: the local part ends with a dot; remove it.
"jane@hotmial.com" Default 
"jane@hotmial.com" strict typo email This value is not a valid email address: it looks like a misspelling of jane@hotmail.com.
"a@mailinator.com" Default 
"a@mailinator.com" strict disposable email This value is not a valid email address: such addresses are not accepted (disposable).
"info@example.org" Default 
"info@example.org" strict 
"" Default 
"" strict 
null Default 
null strict 
7 Default no_at email This value is not a valid email address: the address has no @; write it as name@domain.
7 strict no_at email This value is not a valid email address: the address has no @; write it as name@domain.
"2097152 bytes" Default address_too_long email This value is not a valid email address: the address is 1048322 bytes too long; at most 254 fit.
"2097152 bytes" strict address_too_long email This value is not a valid email address: the address is 1048322 bytes too long; at most 254 fit.
"\ufffd@example.org" Default malformed_utf8 email This value is not a valid email address: the address has byte 0xFF, which is not well-formed UTF-8; encode the address in UTF-8.
"\ufffd@example.org" strict malformed_utf8 email This value is not a valid email address: the address has byte 0xFF, which is not well-formed UTF-8; encode the address in UTF-8.
This value should be of type string.
disposable from the cache
`

const laravelRules = `the document
"jane@example.org" 
"jane@example.org" 
"jane.@example.org" The email is not a valid email address: the local part ends with a dot; remove it.
"jane.@example.org" The email is not a valid email address: the local part ends with a dot; remove it.
"jane@hotmial.com" 
"jane@hotmial.com" The email is not a valid email address: it looks like a misspelling of jane@hotmail.com.
"a@mailinator.com" 
"a@mailinator.com" The email is not a valid email address: such addresses are not accepted (disposable).
"info@example.org" 
"info@example.org" 
"" 
"" 
null 
null 
7 The email is not a valid email address: it is no text.
7 The email is not a valid email address: it is no text.
[] The email is not a valid email address: it is no text.
[] The email is not a valid email address: it is no text.
"2097152 bytes" The email is not a valid email address: the address is 1048322 bytes too long; at most 254 fit.
"2097152 bytes" The email is not a valid email address: the address is 1048322 bytes too long; at most 254 fit.
"\ufffd@example.org" The email is not a valid email address: the address has byte 0xFF, which is not well-formed UTF-8; encode the address in UTF-8.
"\ufffd@example.org" The email is not a valid email address: the address has byte 0xFF, which is not well-formed UTF-8; encode the address in UTF-8.
`

// Composer installs the package into a user's project, if PHP has the extension.
func TestPHPComposer(t *testing.T) {
	composer := find(t, "composer")
	extension, project := phpExtension(t), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(project, "composer.json"), []byte("{}"), 0o600))
	t.Setenv("COMPOSER_HOME", t.TempDir())
	t.Setenv("COMPOSER_ALLOW_SUPERUSER", "1")
	for _, repository := range [][]string{{"addrspec", "path", filepath.Dir(extension)}, {"packagist.org", "false"}} {
		build(t, project, with([]string{composer, "-n", "config", "repositories." + repository[0]}, repository[1:]...)...)
	}
	without := exec.Command(composer, "-n", "require", "addrspec/addrspec")
	without.Dir = project
	out, err := without.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "ext-addrspec")
	build(t, project, "php", "-d", "extension="+shared(extension), composer, "-n", "require", "addrspec/addrspec")
	const program = `require $argv[1]; echo (new Addrspec\Rule())->problem("jane@")[0];`
	require.Equal(t, "domain_missing", run(t, "", php(extension, "-r", program, filepath.Join(project, "vendor", "autoload.php"))))
}

func TestPHPExtensionIsReproducible(t *testing.T) {
	requireReproducible(t, "php")
}

// A fpm is php-fpm with 50 workers in a directory of its own.
type fpm struct {
	directory, extension string
	process              *exec.Cmd
}

const workers = 50

// startFPM starts php-fpm with no configuration but the line that loads the extension.
func startFPM(t *testing.T) *fpm {
	t.Helper()
	f := &fpm{directory: t.TempDir(), extension: phpExtension(t)}
	copyFile(t, "php/tests/worker.php", filepath.Join(f.directory, "worker.php"))
	require.NoError(t, os.WriteFile(filepath.Join(f.directory, "php.ini"), []byte("extension="+shared(f.extension)+"\n"), 0o600))
	f.configure(t, "")
	f.process = exec.Command(findFPM(t), "-F", "-R", "-c", filepath.Join(f.directory, "php.ini"), "-y", filepath.Join(f.directory, "fpm.conf"))
	var log bytes.Buffer
	f.process.Stderr = &log
	require.NoError(t, f.process.Start())
	t.Cleanup(func() {
		require.NoError(t, f.process.Process.Signal(syscall.SIGQUIT))
		require.NoError(t, f.process.Wait(), "%s", &log)
	})
	require.Eventually(t, func() bool { // the socket is there before php-fpm listens
		connection, err := net.Dial("unix", f.socket())
		if err == nil {
			err = connection.Close()
		}
		return err == nil
	}, time.Minute, 10*time.Millisecond, "%s", &log)
	return f
}

// findFPM finds php-fpm, which Debian keeps out of the path of users, under its version.
func findFPM(t *testing.T) string {
	t.Helper()
	leftToCI(t)
	for _, pattern := range []string{"/usr/sbin/php-fpm*", "/usr/local/sbin/php-fpm*"} {
		if found, err := filepath.Glob(pattern); err == nil && len(found) > 0 {
			return found[0]
		}
	}
	t.Skip("php-fpm is not installed")
	return ""
}

func (f *fpm) socket() string { return filepath.Join(f.directory, "socket") }

// configure writes the configuration with another line for the pool.
func (f *fpm) configure(t *testing.T, line string) {
	t.Helper()
	const text = `[global]
error_log = /dev/stderr
process_control_timeout = 60s
[www]
user = %d
group = %d
listen = %s
listen.backlog = 511
pm = static
pm.max_children = %d
%s
`
	content := fmt.Sprintf(text, os.Getuid(), os.Getgid(), f.socket(), workers, line)
	require.NoError(t, os.WriteFile(filepath.Join(f.directory, "fpm.conf"), []byte(content), 0o600))
}

// A fcgi is a request that a worker of php-fpm has taken up but whose body has not ended.
type fcgi struct {
	net.Conn
	response *bytes.Buffer
}

// The types of records of FastCGI 1.0, section 8.
const (
	fcgiBegin, fcgiEnd, fcgiParams, fcgiStdin, fcgiStdout = 1, 3, 4, 5, 6
)

// begin sends a request without its body, and waits until a worker has begun its response.
// Until the body ends, that worker takes no other request. PHP reads the body of POST before
// it starts the script, but not that of PUT.
func (f *fpm) begin(t *testing.T, s sample) fcgi {
	t.Helper()
	connection, err := net.Dial("unix", f.socket())
	require.NoError(t, err)
	require.NoError(t, connection.SetDeadline(time.Now().Add(2*time.Minute)))
	c := fcgi{connection, new(bytes.Buffer)}
	c.send(t, fcgiBegin, []byte{0, 1, 0, 0, 0, 0, 0, 0})
	var params []byte
	for _, pair := range [][2]string{{"SCRIPT_FILENAME", filepath.Join(f.directory, "worker.php")}, {"REQUEST_METHOD", "PUT"},
		{"CONTENT_TYPE", "text/plain"}, {"CONTENT_LENGTH", strconv.Itoa(len(s.input))}} {
		params = append(params, byte(len(pair[0])))
		params = append(binary.BigEndian.AppendUint32(params, uint32(len(pair[1]))|1<<31), pair[0]+pair[1]...)
	}
	c.send(t, fcgiParams, params)
	c.send(t, fcgiParams, nil)
	for !strings.Contains(c.response.String(), "\r\n\r\n") {
		c.receive(t)
	}
	return c
}

func (c fcgi) send(t *testing.T, kind byte, content []byte) {
	t.Helper()
	header := []byte{1, kind, 0, 1, byte(len(content) >> 8), byte(len(content)), 0, 0}
	_, err := c.Write(append(header, content...))
	require.NoError(t, err)
}

// finish sends the body, and returns the worker's process and the results.
func (c fcgi) finish(t *testing.T, s sample) (worker int, results string) {
	t.Helper()
	defer c.Close()
	for input := []byte(s.input); len(input) > 0; {
		n := min(len(input), 32<<10)
		c.send(t, fcgiStdin, input[:n])
		input = input[n:]
	}
	c.send(t, fcgiStdin, nil)
	for !c.receive(t) {
	}
	_, body, _ := strings.Cut(c.response.String(), "\r\n\r\n")
	first, results, _ := strings.Cut(body, "\n")
	worker, err := strconv.Atoi(first)
	require.NoError(t, err, body)
	return worker, results
}

// receive reads a record, and reports whether the response has ended.
func (c fcgi) receive(t *testing.T) (end bool) {
	t.Helper()
	header := make([]byte, 8)
	_, err := io.ReadFull(c, header)
	require.NoError(t, err)
	content := make([]byte, int(header[4])<<8+int(header[5])+int(header[6]))
	_, err = io.ReadFull(c, content)
	require.NoError(t, err)
	content = content[:len(content)-int(header[6])]
	require.Contains(t, []byte{fcgiStdout, fcgiEnd}, header[1], "%s", content)
	if header[1] == fcgiStdout {
		c.response.Write(content)
	}
	return header[1] == fcgiEnd
}

// fiftySamples returns addresses for each worker, all in need of another response.
func fiftySamples() (all []sample) {
	for n := range workers {
		all = append(all, newSample(vectors.Generate(uint64(100+n), 400), "\x00", "\x00"))
	}
	return all
}

// Fifty workers check at the same time, again and again, and give the bytes of core.
func TestPHPFPM(t *testing.T) {
	f := startFPM(t)
	samples := fiftySamples()
	for range 4 {
		seen := f.round(t, samples)
		require.Len(t, seen, workers, "each worker took one request")
		t.Log(memory(t, seen))
	}
}

// round passes a request to each worker and returns their processes. No request ends before
// every worker has one.
func (f *fpm) round(t *testing.T, samples []sample) (seen map[int]bool) {
	t.Helper()
	requests := make([]fcgi, len(samples))
	for n, s := range samples {
		requests[n] = f.begin(t, s)
	}
	type response struct {
		worker  int
		results string
	}
	responses := make([]response, len(samples))
	var group sync.WaitGroup
	for n, s := range samples {
		group.Go(func() { responses[n].worker, responses[n].results = requests[n].finish(t, s) })
	}
	group.Wait()
	seen = map[int]bool{}
	for n, s := range samples {
		require.True(t, strings.Join(s.want, "") == responses[n].results, "the results of request %d", n)
		seen[responses[n].worker] = true
	}
	return seen
}

// memory describes what the workers hold alone, in kB. It is bounded: the library keeps no
// memory for what it has seen.
func memory(t *testing.T, seen map[int]bool) string {
	t.Helper()
	var most, total int
	for worker := range seen {
		text := string(readBytes(t, fmt.Sprintf("/proc/%d/smaps_rollup", worker)))
		for line := range strings.Lines(text) {
			if fields := strings.Fields(line); fields[0] == "Private_Dirty:" {
				size, err := strconv.Atoi(fields[1])
				require.NoError(t, err)
				most, total = max(most, size), total+size
			}
		}
	}
	require.Less(t, most, 24<<10, "kB that a worker alone holds")
	return fmt.Sprintf("a worker holds %d kB alone, at most %d", total/len(seen), most)
}

// A reload lets requests in progress end, and then other workers have the newer lists of the
// setting. Damaged ones are an error of each request, which names the setting.
func TestPHPFPMReload(t *testing.T) {
	f := startFPM(t)
	blob := moduletest.NewerLists(t)
	before := newSample(append([]string{"jane@" + moduletest.Swapped}, vectors.Generate(7, 300)...), "\x00", "\x00")
	after := before.withLists(t, blob)
	require.NotEqual(t, before.want[0], after.want[0])
	f.configure(t, "php_admin_value[addrspec.lists] = "+blobFile(t, blob))
	open := f.begin(t, before)
	require.NoError(t, f.process.Process.Signal(syscall.SIGUSR2))
	first, results := open.finish(t, before)
	require.Equal(t, strings.Join(before.want, ""), results)
	require.Eventually(t, func() bool {
		worker, results := f.begin(t, before).finish(t, before)
		return worker != first && results == strings.Join(after.want, "")
	}, time.Minute, time.Millisecond)
}
