package main

import (
	"fmt"
	"os"
	"strings"
)

// resetPeak sets VmHWM to the present memory (Linux 4.0 and later).
func (p *process) resetPeak() {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.PID()), []byte("5"), 0)
}

// memory returns the process's VmRSS, its memory now, or VmHWM, the most so far, in
// bytes. It returns 0 on other systems than Linux.
func (p *process) memory(name string) (size int64) {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	for line := range strings.Lines(string(status)) {
		if value, found := strings.CutPrefix(line, name+":"); found {
			fmt.Sscanf(strings.TrimSpace(value), "%d kB", &size)
		}
	}
	return size << 10
}
