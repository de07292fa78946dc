package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// besideDNSPerf compares look-ups of new domains with the queries of dnsperf, which
// shows what the DNS server of the benchmark can answer.
func besideDNSPerf(ctx context.Context, l *lab) (p pair, err error) {
	path, err := exec.LookPath("dnsperf")
	if err != nil {
		return p, skip("dnsperf is not installed (apt-get install dnsperf)")
	}
	r, server, err := l.resolver()
	if err != nil {
		return p, err
	}
	defer r.Close()
	ours, err := l.callAll(mxCallers, func(domain string) error { _, err := r.Lookup(ctx, 1, domain); return err })
	if err != nil {
		return p, err
	}
	p.Ours, p.Used = ours.rate, ours.used
	p.Peer, err = l.dnsperf(ctx, path, server)
	return p, err
}

// dnsperfNames is how many names dnsperf asks for, one after another, over and over.
const dnsperfNames = 1 << 17

// dnsperf returns how many queries a second are answered if as many as our callers
// may be under way.
func (l *lab) dnsperf(ctx context.Context, path, server string) (rate float64, err error) {
	names, err := l.namesFile()
	if err != nil {
		return 0, err
	}
	defer os.Remove(names)
	host, port, err := net.SplitHostPort(server)
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, path, "-s", host, "-p", port, "-d", names, "-q", strconv.Itoa(mxCallers),
		"-c", strconv.Itoa(mxCallers), "-l", strconv.Itoa(max(1, int((l.span/2)/time.Second))))
	dieWithParent(cmd)
	out, err := cmd.Output()
	if err != nil {
		return 0, explain(err)
	}
	return readDNSPerf(string(out))
}

// namesFile writes questions as dnsperf reads them.
func (l *lab) namesFile() (name string, err error) {
	file, err := os.CreateTemp(l.dir, "names-")
	if err != nil {
		return "", err
	}
	defer file.Close()
	w, from := bufio.NewWriter(file), l.unused()
	for n := range int64(dnsperfNames) {
		fmt.Fprintf(w, "n%d.bulk.example MX\n", from+n)
	}
	return file.Name(), w.Flush()
}

var (
	dnsperfRate = regexp.MustCompile(`Queries per second: +([0-9.]+)`)
	dnsperfLost = regexp.MustCompile(`Queries lost: +([0-9]+)`)
)

// readDNSPerf reads the rate from what dnsperf prints. Lost queries fail it.
func readDNSPerf(out string) (rate float64, err error) {
	found, lost := dnsperfRate.FindStringSubmatch(out), dnsperfLost.FindStringSubmatch(out)
	if found == nil || lost == nil || lost[1] != "0" {
		return 0, fmt.Errorf("dnsperf lost queries or printed no rate:\n%s", strings.TrimSpace(out))
	}
	return strconv.ParseFloat(found[1], 64)
}
