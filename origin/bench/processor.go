package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit in which Linux counts processor time for programs (USER_HZ).
const tick = 10 * time.Millisecond

// processorTime returns the processor time that a process has used so far, of the
// user and the system. It is 0 where there is no /proc.
func processorTime(pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	return readStat(string(text))
}

// readStat reads fields 14 and 15 of /proc/PID/stat (proc_pid_stat(5)). Field 2 is the
// name, which may contain spaces and parentheses, so it counts from the last one.
func readStat(text string) time.Duration {
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	const user, system = 14 - 3, 15 - 3 // the first field is the third
	if len(fields) <= system {
		return 0
	}
	var ticks int64
	for _, field := range []string{fields[user], fields[system]} {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0
		}
		ticks += n
	}
	return time.Duration(ticks) * tick
}

// perUnit returns the microseconds of processor time for each of n units of work.
func perUnit(used time.Duration, n float64) float64 {
	if n <= 0 {
		return 0
	}
	return float64(used.Nanoseconds()) / 1000 / n
}
