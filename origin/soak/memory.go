package main

import (
	"fmt"
	"os"
	"strings"
)

// resetPeak makes VmHWM begin again (Linux 4.0 and later).
func (p *process) resetPeak() {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.PID()), []byte("5"), 0)
}

// memory is a figure of the process in bytes, from Linux: VmRSS is its memory
// now, VmHWM the most it had. Elsewhere it is 0.
func (p *process) memory(name string) (size int64) {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	for line := range strings.Lines(string(status)) {
		if value, found := strings.CutPrefix(line, name+":"); found {
			fmt.Sscanf(strings.TrimSpace(value), "%d kB", &size)
		}
	}
	return size << 10
}
