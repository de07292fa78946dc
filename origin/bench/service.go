package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/addrspec/addrspec/origin/origintest"
)

// A service is a running `addrspec serve` with an account that has no limits.
type service struct {
	*origintest.Process
	database string // its URL
	url, key string
}

// sqlite returns the service on a SQLite database that many rows share.
func (l *lab) sqlite() (*service, error) { return l.service("sqlite", l.sqliteDatabase) }

// sqliteDatabase returns the URL of a new database.
func (l *lab) sqliteDatabase() (string, error) {
	dir, err := os.MkdirTemp(l.dir, "database-")
	return "sqlite:" + filepath.Join(dir, "ledger.db"), err
}

// service returns the service of that name, and starts it on the first call.
func (l *lab) service(name string, database func() (string, error)) (s *service, err error) {
	if s = l.services[name]; s != nil {
		return s, nil
	}
	url, err := database()
	if err != nil {
		return nil, err
	}
	if s, err = l.newServiceOn(url, name); err == nil {
		l.services[name] = s
	}
	return s, err
}

// newService starts the service on a new SQLite database.
func (l *lab) newService() (*service, error) {
	url, err := l.sqliteDatabase()
	if err != nil {
		return nil, err
	}
	return l.newServiceOn(url, "new")
}

// newServiceOn starts the service on a database, with a new account of that name.
func (l *lab) newServiceOn(url, name string) (*service, error) {
	key, err := l.account(url, name)
	if err != nil {
		return nil, err
	}
	dns, err := l.dns()
	if err != nil {
		return nil, err
	}
	s, err := l.serve(url, dns.FirstLine)
	if err != nil {
		return nil, err
	}
	s.key = key
	return s, nil
}

// edgeSecret is what the edge worker and the service share.
const edgeSecret = "a secret of the benchmark"

// serve starts the program on a database, with a resolver.
func (l *lab) serve(database, dns string) (*service, error) {
	program, err := l.program()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, "serve", "--listen", "127.0.0.1:0", "--database", database, "--dns", dns)
	cmd.Env = append(os.Environ(), "ADDRSPEC_EDGE_SECRET="+edgeSecret)
	log, err := os.CreateTemp(l.dir, "log-")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd.Stderr = log
	p, err := l.start(cmd, origintest.OnStdout)
	if err != nil {
		return nil, err
	}
	address, err := origintest.AddressIn(p.FirstLine)
	return &service{Process: p, database: database, url: "http://" + address}, err
}

// account makes an account without limits, and a key for it.
func (l *lab) account(database, name string) (key string, err error) {
	email := name + "@bench.test"
	if _, err = l.operator(database, "account", "create", "--email", email, "--rate", "unlimited", "--points", "unlimited"); err != nil {
		return "", err
	}
	text, err := l.operator(database, "key", "create", "--account", email, "--name", "bench")
	if err != nil {
		return "", err
	}
	words := strings.Fields(text)
	return words[len(words)-1], nil
}

// freshKey returns the key of a new account without limits. wrk hangs up at the end of a
// load, and an account with more than 1,024 addresses whose checks were not paid for is
// refused for a while.
func (l *lab) freshKey(s *service) (key string, err error) {
	return l.account(s.database, fmt.Sprintf("load%d", l.unused()))
}

// operator runs a command of the program on a database.
func (l *lab) operator(database string, args ...string) (string, error) {
	program, err := l.program()
	if err != nil {
		return "", err
	}
	out, err := exec.Command(program, append(args, "--database", database)...).Output()
	return string(out), explain(err)
}
