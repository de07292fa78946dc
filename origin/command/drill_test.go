package command

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

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
	d := &drill{T: t, directory: t.TempDir(), sections: sections(t)}
	server := pgtest.Need(t)
	name := "drill"
	require.NoError(t, server.Exec(t.Context(), server.URL("public"), "CREATE DATABASE "+name))
	d.postgres = fmt.Sprintf("postgres:///%s?host=%s&user=postgres", name, server.Dir)
	var err error
	d.listen, err = origintest.FreeAddress()
	require.NoError(t, err)
	bin := filepath.Join(d.directory, "bin")
	for _, directory := range []string{bin, d.path("/var/lib/addrspec"), d.path("/var/tmp")} {
		require.NoError(t, os.MkdirAll(directory, 0o700))
	}
	require.NoError(t, os.Symlink(os.Args[0], filepath.Join(bin, "addrspec")))
	require.NoError(t, os.WriteFile(filepath.Join(bin, "systemctl"), []byte(systemctl), 0o700))
	d.environment = append(os.Environ(), programVariable+"=1", "PATH="+bin+":"+postgresPrograms(t)+":"+os.Getenv("PATH"), "DRILL="+d.directory,
		"DRILL_MODULE="+origintest.ModuleFile(t), "DRILL_CACHE="+moduletest.CacheDir(), "DRILL_LISTEN="+d.listen)
	t.Cleanup(func() { _ = d.command("", "systemctl stop 2>/dev/null").Run() })
	return d
}

// postgresPrograms returns the directory of pg_dump, of the same version as the server.
func postgresPrograms(t *testing.T) string {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/pg_dump")
	require.NoError(t, err)
	if len(found) == 0 {
		t.Skip("pg_dump is not installed: apt-get install postgresql-client")
	}
	return filepath.Dir(found[len(found)-1])
}

var (
	heading = regexp.MustCompile(`(?m)^## (.*)$`)
	block   = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")
)

// sections returns the commands of the page by heading.
func sections(t *testing.T) map[string]string {
	page, err := os.ReadFile("../deploy/backup.md")
	require.NoError(t, err)
	found := map[string]string{}
	starts := heading.FindAllSubmatchIndex(page, -1)
	for i, at := range starts {
		end := len(page)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		for _, commands := range block.FindAllSubmatch(page[at[1]:end], -1) {
			found[string(page[at[2]:at[3]])] += string(commands[1])
		}
	}
	return found
}

// path returns where the drill has a path of the page.
func (d *drill) path(p string) string { return d.directory + p }

// command returns commands of the page with the drill's paths and URL, for a service
// with the database. The shell ends at the first that fails.
func (d *drill) command(database, commands string) *exec.Cmd {
	commands = strings.ReplaceAll(commands, "postgres://addrspec@db.example/addrspec", "'"+d.postgres+"'")
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", strings.ReplaceAll(commands, "/var/", d.directory+"/var/"))
	cmd.Env = append(d.environment[:len(d.environment):len(d.environment)], "ADDRSPEC_DATABASE="+database)
	return cmd
}

// run runs the commands of a section on the service with the database.
func (d *drill) run(section, database string) string {
	d.Helper()
	require.Contains(d, d.sections, section)
	commands := d.sections[section]
	delete(d.sections, section)
	// doctor asks a resolver, which the test's machine may not have.
	commands = regexp.MustCompile(`(?m)^addrspec doctor (.*)$`).ReplaceAllString(commands, `(addrspec doctor --dns 127.0.0.1:1 --dns-timeout 10ms $1 || true) | grep '^database *ok'`)
	return d.must(d.command(database, commands))
}

func (d *drill) must(cmd *exec.Cmd) string {
	d.Helper()
	out, err := cmd.CombinedOutput()
	require.NoError(d, err, string(out))
	return string(out)
}

// charge sends a batch of n addresses to the service.
func (d *drill) charge(key string, n int) {
	d.Helper()
	s := &instance{hostPort: d.listen}
	emails := make([]string, n)
	for i := range emails {
		emails[i] = fmt.Sprintf("jane.@%d.example", i)
	}
	status, e, err := s.post(key, emails)
	require.NoError(d, err)
	require.Equal(d, 200, status)
	require.Equal(d, n, e.Points)
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
	sqlite := "sqlite:" + d.path("/var/lib/addrspec/addrspec.db")
	l := ledgertest.Open(t, sqlite)
	key := ledgertest.NewAccount(t, l, testAccount)
	require.NoError(t, l.Close())
	d.must(d.command(sqlite, "systemctl start addrspec"))

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

	d.must(d.command("", "systemctl stop addrspec"))
	d.run("Back up and restore PostgreSQL", d.postgres)
	d.requireUsed(d.postgres, 10)
	d.must(d.command(d.postgres, "systemctl start addrspec"))
	d.run("Move from PostgreSQL to SQLite", sqlite)
	d.charge(key, 1)
	d.requireUsed(sqlite, 11)
	require.Empty(t, d.sections, "a section that no test runs")
}
