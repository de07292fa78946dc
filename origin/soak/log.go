package main

import (
	"os"
	"regexp"
	"strings"
)

// expectNoSecrets expects no address and no key in a process's log.
func (s *session) expectNoSecrets(p *process) {
	log, err := os.ReadFile(p.log)
	s.expect(err == nil, "%v", err)
	if found := secret.Find(log); found != nil {
		s.expect(false, "a log contains %q", found)
	}
}

// lastError returns the last error in the process's log.
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

// secret matches an address or a key.
var secret = regexp.MustCompile(`[\w.]+@[\w.]+|ask_\w*`)
