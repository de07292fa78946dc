package main

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// A machine is where and with what a report was measured.
type machine struct {
	Commit     string            `json:"commit"` // of the source, with "+" if files differ from it
	Processor  string            `json:"processor"`
	Cores      int               `json:"cores"`
	System     string            `json:"system"`
	FileSystem string            `json:"file_system"` // of the databases, as df -T names it
	LoadBefore string            `json:"load_before"` // averages of 1, 5 and 15 minutes
	LoadAfter  string            `json:"load_after"`
	Versions   map[string]string `json:"versions"` // of programs
}

// newMachine describes this machine before the first measurement.
func newMachine(dir string) machine {
	return machine{
		Commit: commit(), Processor: processor(), Cores: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH,
		FileSystem: fileSystem(dir), LoadBefore: loadAverage(), Versions: versions(),
	}
}

func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return unknown
}

const unknown = "unknown"

// fileSystem returns the type of the file system that has dir.
func fileSystem(dir string) string {
	words := strings.Fields(output("df", "-T", dir)) // the first line has eight words
	if len(words) < 10 {
		return unknown
	}
	return words[9]
}

func loadAverage() string {
	text, _ := os.ReadFile("/proc/loadavg")
	words := strings.Fields(string(text))
	return strings.Join(words[:min(3, len(words))], " ")
}

// versions names the programs that take part and are installed.
func versions() map[string]string {
	all := map[string]string{"go": runtime.Version()}
	for name, first := range map[string]string{
		"wrk":        firstLine(output("wrk", "-v")),
		"node":       firstLine(output("node", "--version")),
		"postgresql": firstLine(output("initdb", "--version")),
	} {
		if first != "" {
			all[name] = first
		}
	}
	return all
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(line)
}

// output returns what a command prints, whatever its exit code: wrk -v exits with 1.
func output(name string, args ...string) string {
	out, _ := exec.Command(name, args...).Output()
	return string(out)
}

func commit() string {
	name := strings.TrimSpace(output("git", "rev-parse", "--short", "HEAD"))
	if name == "" {
		return unknown
	}
	if output("git", "status", "--porcelain", "-uno") != "" {
		name += "+"
	}
	return name
}
