package main

import (
	"fmt"
	"os"
	"strings"
)

// memory is a figure of the process in octets, as Linux counts: VmRSS is what
// it has now, VmHWM the most it had. It is 0 where it cannot be had.
func (p *process) memory(name string) (octets int64) {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	for line := range strings.Lines(string(status)) {
		if value, found := strings.CutPrefix(line, name+":"); found {
			fmt.Sscanf(strings.TrimSpace(value), "%d kB", &octets)
		}
	}
	return octets << 10
}
