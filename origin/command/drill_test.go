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
	programs, err := filepath.Glob("/usr/lib/postgresql/*/bin/pg_dump") // of the same version as the server
	require.NoError(t, err)
	if len(programs) == 0 {
		t.Skip("pg_dump is not installed: apt-get install postgresql-client")
	}
	d := &drill{T: t, directory: t.TempDir(), sections: sections(t)}
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

var block = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

func sections(t *testing.T) map[string]string {
	found := map[string]string{}
	for _, section := range strings.Split(textOf(t, "../deploy/backup.md"), "\n## ")[1:] {
		heading, text, _ := strings.Cut(section, "\n")
		for _, commands := range block.FindAllStringSubmatch(text, -1) {
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

// run runs the commands of a section on the service with the database.
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
