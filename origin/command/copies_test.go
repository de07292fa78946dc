package command

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/archive"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

// newLedger creates a ledger with one account and rows of its audit log: about 0.3 MB a
// thousand.
func newLedger(t *testing.T, rows int) (database string) {
	database = origintest.NewDatabase(t)
	l := ledgertest.Open(t, database)
	ledgertest.NewAccount(t, l, testAccount)
	require.NoError(t, l.Close())
	db := must(sql.Open("sqlite", "file:"+strings.TrimPrefix(database, "sqlite:")+"?_pragma=busy_timeout(5000)"))(t)
	defer db.Close()
	must(db.Exec(`WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO audit (account, at_ns, actor, action, subject) SELECT 1, i, 'owner', 'key.create', hex(randomblob(90)) FROM n`, rows))(t)
	return database
}

func exported(t *testing.T, database string) string {
	t.Helper()
	var out bytes.Buffer
	must(archive.Export(t.Context(), database, &out))(t)
	return out.String()
}

// A backup and a restore that are killed at any moment leave the file of before or
// the whole new one.
func TestKilledBackupAndRestore(t *testing.T) {
	t.Parallel()
	database, old, directory := newLedger(t, 30_000), newLedger(t, 10), t.TempDir()
	want, before := exported(t, database), exported(t, old)
	whole, copied, place := directory+"/whole", directory+"/copy", directory+"/place"
	backup := []string{"backup", copied, "--force", "--database", database}
	restore := []string{"restore", whole, "--force", "--keep-sessions", "--database", "sqlite:" + place}
	run := func(args ...string) {
		_, problem, code := operator(t, args...)
		require.Zero(t, code, problem)
	}
	run("backup", copied, "--database", old)
	run("backup", place, "--database", old)
	began := time.Now()
	require.NoError(t, program("backup", whole, "--database", database).Run())
	took, finished, rounds := time.Since(began), 0, 8 // real time: spreads the kills; no moment is expected
	if testing.Short() {
		rounds = 3
	}
	for i := range rounds {
		for file, args := range map[string][]string{copied: backup, place: restore} {
			cmd := program(args...)
			require.NoError(t, cmd.Start())
			time.Sleep(took * time.Duration(i+1) / time.Duration(rounds)) // real time: a kill at any moment
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			got := exported(t, "sqlite:"+file)
			require.True(t, got == want || got == before, "%s is neither the old file nor the new one", file)
			if got == want {
				finished++
			}
		}
	}
	t.Logf("%d of %d files were the new one", finished, 2*rounds)
	run(restore...)
	require.Equal(t, want, exported(t, "sqlite:"+place))
}

func TestCopyCommandErrors(t *testing.T) {
	t.Parallel()
	database, directory := newLedger(t, 0), t.TempDir()
	for _, c := range []struct {
		args    string
		code    int
		message string
	}{
		{"backup x.db --database postgres://u:s3cret@h/n?sslmode=require", 2, "pg_dump --format=custom --file=FILE 'postgres://u@h/n'"},
		{"restore x.db --database postgres://u:s3cret@h/n", 2, "pg_restore --clean --if-exists --no-owner --dbname='postgres://u@h/n' FILE"},
		{"backup x.db --database data/addrspec.db", 2, "sqlite:PATH"},
		{"export DIRECTORY/x --database data/addrspec.db", 1, "sqlite:PATH"},
		{"export DIRECTORY/x --database sqlite:DIRECTORY/none.db", 1, "there is no ledger"},
		{"restore DIRECTORY/none --database DB --force", 1, "no such file"},
		{"import DIRECTORY/none --database DB", 1, "no such file"},
		{"backup", 2, "<file>"},
	} {
		args := strings.Fields(strings.NewReplacer("DIRECTORY", directory, "DB", database).Replace(c.args))
		_, err, code := operator(t, args...)
		require.Equal(t, c.code, code, "%s: %s", c.args, err)
		require.Contains(t, err, c.message, c.args)
		require.NotContains(t, err, "s3cret")
	}
	left := must(os.ReadDir(directory))(t)
	require.Empty(t, left, "these commands create nothing")
}

// A terminal shows how far a copy is: in percent, or in bytes if the whole is not known.
func TestProgressOfCopies(t *testing.T) {
	t.Parallel()
	terminal, other, err := pty.Open()
	require.NoError(t, err)
	defer terminal.Close()
	defer other.Close()
	screen, p := &screen{t: t, File: terminal}, showProgress(other, "backup")
	p.copied(1, 4)
	screen.waitFor("backup: 25 %")
	p.copied(0, 0)
	must(p.Write(make([]byte, 5000)))(t)
	screen.waitFor("backup: 5.0 kB")
	require.EqualError(t, p.end(context.Canceled), "interrupted; nothing was changed")
}

// The memory of backup, restore, export and import does not depend on the size of
// the ledger. The test runs alone: a process's peak is at least what its parent, here
// all other tests, had when it was started.
func TestCopiesHaveConstantMemory(t *testing.T) {
	leftToCI(t)
	if runtime.GOOS != "linux" {
		t.Skip("skipped: other systems count the peak in other units")
	}
	const moreMemory = 12 << 20 // that ten times as many rows may take; their export is longer
	peaks := map[string][]int64{}
	for name, rows := range map[string]int{"small": 10_000, "large": 100_000} {
		database, place := newLedger(t, rows), filepath.Join(t.TempDir(), name)
		postgres := pgtest.NeedDatabase(t)
		for _, args := range [][]string{
			{"backup", place + ".db", "--database", database},
			{"restore", place + ".db", "--database", "sqlite:" + place + ".restored"},
			{"export", place + ".ndjson", "--database", database},
			{"import", place + ".ndjson", "--database", "sqlite:" + place + ".imported"},
			{"import", place + ".ndjson", "--database", postgres},
			{"export", place + ".again", "--database", postgres},
		} {
			cmd := program(args...)
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, string(out))
			peaks[name] = append(peaks[name], int64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)<<10)
		}
		info := must(os.Stat(place + ".again"))(t)
		require.True(t, name == "small" || info.Size() > 3*moreMemory/2, "%d bytes", info.Size())
	}
	t.Log("bytes:", peaks)
	for i := range peaks["large"] {
		require.Less(t, peaks["large"][i], peaks["small"][i]+moreMemory, "command %d", i)
	}
}

// systemctl is used in place of systemd: it starts and stops the service that the drill's
// environment describes.
const systemctl = `#!/bin/sh
set -eu
case $1 in
start)
	: >"$DRILL/out"
	addrspec serve --module "$DRILL_MODULE" --cache-dir "$DRILL_CACHE" --listen "$DRILL_LISTEN" --dns 127.0.0.1:1 >"$DRILL/out" 2>"$DRILL/log" &
	echo $! >"$DRILL/pid"
	for i in $(seq 600); do grep -q listens "$DRILL/out" && exit; sleep 0.1; done
	cat "$DRILL/log" >&2
	exit 1 ;;
stop)
	kill "$(cat "$DRILL/pid")"
	while kill -0 "$(cat "$DRILL/pid")" 2>/dev/null; do sleep 0.05; done ;;
esac
`

// A drill runs the commands of deploy/backup.md in a directory of its own.
type drill struct {
	*testing.T
	directory, postgres, listen string
	sections                    map[string]string // the commands of each section
	environment                 []string
}

func newDrill(t *testing.T) *drill {
	programs, err := filepath.Glob("/usr/lib/postgresql/*/bin/pg_dump") // of the same version as the server
	require.NoError(t, err)
	if len(programs) == 0 {
		t.Skip("pg_dump is not installed: apt-get install postgresql-client")
	}
	d := &drill{T: t, directory: t.TempDir(), sections: sectionsOf(t, "../deploy/backup.md")}
	server := pgtest.Need(t)
	require.NoError(t, server.Exec(t.Context(), server.URL("public"), "CREATE DATABASE drill"))
	d.postgres = fmt.Sprintf("postgres:///drill?host=%s&user=postgres", server.Dir)
	d.listen, err = origintest.FreeAddress()
	require.NoError(t, err)
	bin := filepath.Join(d.directory, "bin")
	for _, directory := range []string{bin, d.directory + "/var/lib/addrspec", d.directory + "/var/tmp"} {
		require.NoError(t, os.MkdirAll(directory, 0o700))
	}
	require.NoError(t, os.Symlink(os.Args[0], filepath.Join(bin, "addrspec")))
	require.NoError(t, os.WriteFile(filepath.Join(bin, "systemctl"), []byte(systemctl), 0o700))
	d.environment = append(os.Environ(), programVariable+"=1",
		"PATH="+bin+":"+filepath.Dir(programs[len(programs)-1])+":"+os.Getenv("PATH"),
		"DRILL="+d.directory, "DRILL_MODULE="+origintest.ModuleFile(t), "DRILL_CACHE="+moduletest.CacheDir(),
		"DRILL_LISTEN="+d.listen)
	t.Cleanup(func() { _ = d.command("", "systemctl stop 2>/dev/null").Run() })
	return d
}

func sectionsOf(t *testing.T, page string) map[string]string {
	found := map[string]string{}
	for _, section := range strings.Split(textOf(t, page), "\n## ")[1:] {
		heading, text, _ := strings.Cut(section, "\n")
		for _, commands := range regexp.MustCompile("(?ms)^```sh\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
			found[heading] += commands[1]
		}
	}
	return found
}

// command returns commands of the page with the drill's paths and URL, for a service
// with the database. The shell ends at the first that fails.
func (d *drill) command(database, commands string) *exec.Cmd {
	commands = strings.ReplaceAll(commands, "postgres://addrspec@db.example/addrspec", "'"+d.postgres+"'")
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", strings.ReplaceAll(commands, "/var/", d.directory+"/var/"))
	cmd.Env = append(d.environment[:len(d.environment):len(d.environment)], "ADDRSPEC_DATABASE="+database)
	return cmd
}

func (d *drill) run(section, database string) string {
	d.Helper()
	require.Contains(d, d.sections, section)
	commands := d.sections[section]
	delete(d.sections, section)
	// doctor asks a resolver, which the test's machine may not have.
	commands = regexp.MustCompile(`(?m)^addrspec doctor (.*)$`).ReplaceAllString(commands, `(addrspec doctor --dns 127.0.0.1:1 --dns-timeout 10ms $1 || true) | grep '^database *ok'`)
	return d.must(database, commands)
}

func (d *drill) must(database, commands string) string {
	d.Helper()
	out, err := d.command(database, commands).CombinedOutput()
	require.NoError(d, err, string(out))
	return string(out)
}

func (d *drill) charge(key string, n int) {
	d.Helper()
	status, e, err := (&instance{hostPort: d.listen}).post(key, strings.Fields(listOf(n)))
	require.NoError(d, err)
	require.Equal(d, []int{200, n}, []int{status, e.Points})
}

func (d *drill) requireUsed(database string, points int64) {
	d.Helper()
	l := ledgertest.Open(d, database)
	defer l.Close()
	require.Equal(d, points, ledgertest.Used(d, l, testAccount))
	history, _ := ledgertest.Usage(d, l, testAccount)
	require.Equal(d, points, history, "the points are the sum of the usage history")
}

// The commands of deploy/backup.md do what it says, one section after another.
func TestDrill(t *testing.T) {
	t.Parallel()
	leftToCI(t)
	d := newDrill(t)
	sqlite := "sqlite:" + d.directory + "/var/lib/addrspec/addrspec.db"
	l := ledgertest.Open(t, sqlite)
	key := ledgertest.NewAccount(t, l, testAccount)
	require.NoError(t, l.Close())
	d.must(sqlite, "systemctl start addrspec")

	d.charge(key, 5)
	require.Contains(t, d.run("Back up SQLite", sqlite), "is a backup of")
	d.charge(key, 4)
	require.Contains(t, d.run("Restore drill", sqlite), testAccount)
	out := d.run("Restore", sqlite)
	require.Contains(t, out, "What was done after the backup is lost")
	d.requireUsed(sqlite, 5)

	d.charge(key, 3)
	d.run("Move from SQLite to PostgreSQL", d.postgres)
	d.charge(key, 2)
	d.requireUsed(d.postgres, 10)
	d.requireUsed(sqlite, 8)

	d.must("", "systemctl stop addrspec")
	d.run("Back up and restore PostgreSQL", d.postgres)
	d.requireUsed(d.postgres, 10)
	d.must(d.postgres, "systemctl start addrspec")
	d.run("Move from PostgreSQL to SQLite", sqlite)
	d.charge(key, 1)
	d.requireUsed(sqlite, 11)
	require.Empty(t, d.sections, "a section that no test runs")
}

// The commands of the handbook move an account to a second cluster, with its points, and
// leave the others where they are.
func TestSecondClusterOfTheHandbook(t *testing.T) {
	t.Parallel()
	directory, commands := shellDirectory(t), sectionsOf(t, "../deploy/sizing.md")["A second cluster"]
	require.NotEmpty(t, commands)
	a, b := "sqlite:"+filepath.Join(directory, "a.db"), pgtest.NeedDatabase(t)
	service := ledgertest.Open(t, a)
	mover, stayer := ledgertest.NewAccount(t, service, "mover@example.com"), ledgertest.NewAccount(t, service, "stayer@example.com")
	for _, key := range []string{mover, stayer} {
		r, _, err := service.Begin(t.Context(), key, "")
		require.NoError(t, err)
		_, err = r.Claim(7, nil)
		require.NoError(t, err)
		must(r.Charge(ledger.Charge{Points: 7}))(t)
		r.End()
	}
	inShell(t, directory, "bash", "-euo", "pipefail", "-c",
		"A="+a+" B='"+b+"' OWNER=mover@example.com STAYS=stayer@example.com\n"+commands)
	require.NoFileExists(t, filepath.Join(directory, "move.ndjson.gz"))

	first, second := ledgertest.Open(t, a), ledgertest.Open(t, b) // which know no key yet
	for at, keys := range map[*ledger.Ledger][2]string{first: {stayer, mover}, second: {mover, stayer}} {
		r, d, err := at.Begin(t.Context(), keys[0], "")
		require.NoError(t, err)
		require.EqualValues(t, 7, d.Usage.Current)
		r.End()
		_, d, err = at.Begin(t.Context(), keys[1], "")
		require.NoError(t, err)
		require.Equal(t, ledger.UnknownKey, d.Kind)
	}
}
