package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/addrspec/addrspec/origin/origintest"
)

// A service is a running `addrspec serve` with an account that has no limits.
type service struct {
	*origintest.Process
	url, key string
}

// sqlite starts the service on a new SQLite database.
func (l *lab) sqlite() (*service, error) {
	return l.service("sqlite", func() (string, error) { return "sqlite:" + filepath.Join(l.dir, "ledger.db"), nil })
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
	key, err := l.account(url, name)
	if err != nil {
		return nil, err
	}
	dns, err := l.dns()
	if err != nil {
		return nil, err
	}
	if s, err = l.serve(url, dns); err == nil {
		s.key, l.services[name] = key, s
	}
	return s, err
}

// serve starts the program on a database, with a resolver.
func (l *lab) serve(database, dns string) (*service, error) {
	program, err := l.program()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, "serve", "--listen", "127.0.0.1:0", "--database", database, "--dns", dns)
	log, err := os.CreateTemp(l.dir, "log-")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd.Stderr = log
	p, err := l.start(cmd)
	if err != nil {
		return nil, err
	}
	address, err := origintest.AddressIn(p.FirstLine)
	return &service{Process: p, url: "http://" + address}, err
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

// operator runs a command of the program on a database.
func (l *lab) operator(database string, args ...string) (string, error) {
	program, err := l.program()
	if err != nil {
		return "", err
	}
	out, err := exec.Command(program, append(args, "--database", database)...).Output()
	return string(out), explain(err)
}
