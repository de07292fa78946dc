package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/mail"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// usualAddresses are of every kind of provider.
var usualAddresses = []string{"jane.doe@example.org", "j.smith@gmail.com", "hans.mueller@stadtwerke-muenchen.de",
	"info@mycompany.de", "user1234@yahoo.co.uk"}

// peerRows compare our packages, the service and the command with what people use in their place. The
// programs are in the directory peers.
func peerRows() (list []row) {
	for _, r := range []struct{ what, language, ours, peer, peerName string }{
		{"an address", "python", "addrspec", "email_validator", "email-validator, syntax"},
		{"an address", "python", "addrspec", "emval", "emval, syntax"},
		{"an address", "node", "addrspec", "isEmail", "validator.js, syntax"},
		{"an address", "node", "addrspec", "three", "validator.js, mailchecker, mailcheck"},
		{"an address", "java", "addrspec", "commons", "commons-validator, syntax"},
		{"an address", "java", "addrspec", "hibernate", "Hibernate Validator, syntax"},
		{"an address", "php", "addrspec", "filter_var", "filter_var, syntax"},
		{"an address", "ruby", "addrspec", "uri", "URI::MailTo::EMAIL_REGEXP, syntax"},
		{"a column, check_many", "python", "check_many", "emval", "emval, syntax"},
		{"a column, Polars", "python", "polars", "emval_polars", "emval in Polars, syntax"},
		{"a column, DuckDB", "python", "duckdb", "duckdb_regex", "regular expression"},
	} {
		list = append(list, row{fmt.Sprintf("peers: %s, %s beside %s", r.what, r.language, r.peer), "µs", r.peerName,
			target{}, func(l *lab) pair {
				var emails []string
				for range 100 {
					emails = append(emails, usualAddresses...)
				}
				if r.what != "an address" {
					emails = mixedAddresses(l.sized(listLines))
				}
				return l.inLanguage(r.language, emails, r.ours, r.peer)
			}})
	}
	list = append(list, row{"peers: an address, go beside net/mail", "µs", "net/mail, syntax", target{},
		besideNetMail})
	for _, r := range []struct{ language, service, script string }{
		{"python", "FastAPI, email-validator, dnspython", "email-validator, dnspython"},
		{"node", "Express, validator.js, dns", "validator.js, dns"},
	} {
		list = append(list,
			row{"peers: GET, c = 32, beside " + r.language, "requests/s", r.service, target{},
				func(l *lab) pair { return l.besideService(r.language) }},
			row{"peers: a list with MX, beside " + r.language, "lines/s", r.script, target{},
				func(l *lab) pair { return l.besideScript(r.language) }})
	}
	return list
}

// besideNetMail measures processor time: core.Check allocates, so that its wall time grows with what else
// the machine does.
func besideNetMail(l *lab) (p pair) {
	const calls = 1000
	used := func(check func(email string)) float64 {
		var before, after syscall.Rusage
		l.check(syscall.Getrusage(syscall.RUSAGE_SELF, &before))
		for n := range calls {
			check(usualAddresses[n%len(usualAddresses)])
		}
		l.check(syscall.Getrusage(syscall.RUSAGE_SELF, &after))
		nanoseconds := after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano()
		return float64(nanoseconds) / 1000 / calls
	}
	rounds := 0.0
	for begun := time.Now(); time.Since(begun) < l.span/2 || rounds == 0; rounds++ {
		p.Ours += used(func(email string) { core.Check(email) })
		p.Peer += used(func(email string) { _, _ = mail.ParseAddress(email) })
	}
	return pair{Ours: p.Ours / rounds, Peer: p.Peer / rounds}
}

// sized returns a number of lines, or half of it for a quick run.
func (l *lab) sized(lines int) int { return int(time.Duration(lines) * l.span / (2 * time.Second)) }

// install installs once what a language needs, and returns what runs a program of peers.
func (l *lab) install(language string) func(program string, args ...string) *exec.Cmd {
	root, err := origintest.SourceDirectory(l.ctx)
	l.check(err)
	peers := filepath.Join(root, "origin/rig/bench/peers")
	var why bytes.Buffer
	cmd := exec.CommandContext(l.ctx, filepath.Join(peers, "install.sh"), language)
	cmd.Stderr = &why
	out, err := cmd.Output()
	if err != nil {
		l.skip("%s: %s", language, strings.TrimSpace(why.String()))
	}
	dir := strings.TrimSpace(string(out))
	return func(program string, args ...string) *exec.Cmd {
		command := map[string][]string{
			"python": {filepath.Join(dir, "bin/python"), "-B", filepath.Join(peers, program+".py")},
			"node":   {"node", filepath.Join(dir, program+".mjs")},
			"java":   {"java", "-cp", dir + ":" + filepath.Join(dir, "lib/*"), "Address"},
			"php": {"php", "-n", "-d", "extension=" + filepath.Join(dir, "addrspec.so"),
				filepath.Join(peers, program+".php")},
			"ruby": {"env", "GEM_HOME=" + dir, "ruby", filepath.Join(peers, program+".rb")},
		}[language]
		cmd := exec.CommandContext(l.ctx, command[0], append(command[1:], args...)...)
		origintest.DieWithParent(cmd)
		return cmd
	}
}

// inLanguage compares the processor time of an address by two functions of a language.
func (l *lab) inLanguage(language string, emails []string, ours, peer string) pair {
	run := l.install(language)
	file := filepath.Join(l.dir, "emails.txt")
	l.check(os.WriteFile(file, []byte(strings.Join(emails, "\n")+"\n"), 0o600))
	out, err := run("address", fmt.Sprint((l.span / 2).Milliseconds()), file, ours, peer).Output()
	l.check(origintest.Explain(err))
	times := map[string]float64{}
	for line := range bytes.Lines(out) {
		var function struct {
			Name string
			US   float64
		}
		l.check(json.Unmarshal(line, &function))
		times[function.Name] = function.US
	}
	return pair{Ours: times[ours], Peer: times[peer]}
}

// besideService sends the same GETs to ours and to a service of peers. The database of each is new.
func (l *lab) besideService(language string) pair {
	run, ours := l.install(language), l.newService()
	defer ours.Kill()
	database := filepath.Join(l.dir, fmt.Sprintf("%s-%d.db", language, l.unused()))
	peer := l.start(run("service", l.dns().FirstLine, database, ours.key), origintest.OnStdout)
	defer peer.Kill()
	d := load{Address: ours.address, Key: ours.key, Target: single, Connections: 32}
	c := l.cost(d, ours.PID())
	d.Address = peer.FirstLine
	return c.besidePeer(l.cost(d, peer.PID()), 1)
}

// scriptLines are the addresses of a list with MX. Each five have one domain.
const scriptLines = 100_000

// besideScript checks a list, whose domains nobody has asked for, by the command and by a script of
// peers, which both write a line of JSON for each address.
func (l *lab) besideScript(language string) pair {
	script := l.install(language)
	var list strings.Builder
	lines, from := l.sized(scriptLines), l.unused()
	for n := range lines {
		fmt.Fprintf(&list, "jane.doe%d@n%d.bulk.example\n", n, from+int64(n/5))
	}
	file := filepath.Join(l.dir, "list.txt")
	l.check(os.WriteFile(file, []byte(list.String()), 0o600))
	run := func(cmd *exec.Cmd) (c cost) {
		begun := time.Now()
		l.check(origintest.Explain(cmd.Run())) // without a standard output, which goes nowhere
		c.rate = float64(lines) / time.Since(begun).Seconds()
		c.used = microseconds(cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()) / float64(lines)
		return c
	}
	server := l.dns().FirstLine
	ours := run(exec.CommandContext(l.ctx, l.program, "check", "--quiet", "--to", "ndjson", "--dns", server, file))
	return ours.besidePeer(run(script("list", server, file)), 1)
}
