package main

import (
	"os"
	"regexp"
	"strings"
)

// expectPrivate reads a process's log: no address and no key is in it.
func (s *scene) expectPrivate(p *process) {
	log, err := os.ReadFile(p.log)
	s.expect(err == nil, "%v", err)
	if found := secret.Find(log); found != nil {
		s.expect(false, "a log holds %q", found)
	}
}

// lastError is the last error in a process's log, for the report of a failure.
func (p *process) lastError() string {
	log, _ := os.ReadFile(p.log)
	last := ""
	for line := range strings.Lines(string(log)) {
		if strings.Contains(line, `"level":"ERROR"`) || !strings.HasPrefix(line, "{") {
			last = strings.TrimSpace(line)
		}
	}
	return last
}

// secret is an address, or a key.
var secret = regexp.MustCompile(`[\w.]+@[\w.]+|ask_\w*`)
