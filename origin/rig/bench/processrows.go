package main

import (
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// processRows compare the time from the start of a process to its first response, and the resident
// memory of the service, with fixed limits.
func processRows() []row {
	return []row{
		{"start: check, one address", "ms", "limit", atMost(1), startCheck},
		{"start: serve to the first response", "ms", "limit", atMost(1), startServe},
		{"memory at the start", "MB", "limit", atMost(1), func(l *lab) pair {
			s := l.newService()
			defer s.Kill()
			return pair{Ours: l.memory(s) / megabyte, Peer: 45}
		}},
		{"memory after load", "MB", "limit", atMost(1), func(l *lab) pair {
			s := l.newService()
			defer s.Kill()
			for _, d := range []load{{Target: single}, {Target: batch, Body: batchBody("")}} {
				d.Address, d.Key, d.Connections = s.address, s.key, 128
				l.cost(d, s.PID())
			}
			time.Sleep(l.span / 2)
			return pair{Ours: l.memory(s) / megabyte, Peer: 80}
		}},
		{"memory of each of 4,000 idle connections", "KiB", "limit", atMost(1), memoryOfConnections},
	}
}

const megabyte = 1e6

// memory returns the resident memory of the service in bytes.
func (l *lab) memory(s *service) float64 {
	size := s.Memory("VmRSS")
	if size == 0 {
		l.skip("this system has no /proc")
	}
	return float64(size)
}

// firstResponse returns the time since begun until a service that was started then has responded.
func (l *lab) firstResponse(begun time.Time, s *service, d load, limit float64) pair {
	d.Address, d.Connections = s.address, 1
	_, err := d.send()
	l.check(err)
	return pair{Ours: microseconds(time.Since(begun)) / 1000, Peer: limit, Used: microseconds(processorTime(s.PID()))}
}

// startCheck is the command on one address; compiled code is in the user's cache.
func startCheck(l *lab) pair {
	cmd := exec.CommandContext(l.ctx, l.program(), "check", "--offline", usualAddress)
	begun := time.Now()
	_, err := cmd.Output()
	took := time.Since(begun)
	l.check(origintest.Explain(err))
	return pair{Ours: microseconds(took) / 1000, Peer: 25,
		Used: microseconds(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime())}
}

// startServe starts the service on a database that exists and asks GET /v1/usage,
// which needs a key and the ledger, but no resolver.
func startServe(l *lab) pair {
	database := "sqlite:" + filepath.Join(l.dir, "start.db")
	if l.startKey == "" {
		l.startKey = l.account(database)
	}
	begun := time.Now()
	s := l.serve(database)
	defer s.Kill()
	return l.firstResponse(begun, s, load{Target: "/v1/usage", Key: l.startKey}, 150)
}

// memoryOfConnections opens nearly as many connections as a service takes by default. Each has had
// a response.
func memoryOfConnections(l *lab) pair {
	const idle, spare = 4000, 200 // spare files are for what a process opens besides
	var files syscall.Rlimit
	l.check(syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files)) // Go has raised it as far as it may
	if files.Cur < idle+spare {
		l.skip("a process may open %d files: raise that with ulimit -n", files.Cur)
	}
	s := l.newService()
	defer s.Kill()
	before := l.memory(s)
	request := origintest.Request{Method: "GET", Target: "/v1/usage", Header: []string{"X-API-Key: " + s.key},
		KeepAlive: true}
	for range idle {
		conn, err := origintest.Connect(s.address, time.Minute)
		l.check(err)
		defer conn.Close()
		_, err = conn.Write([]byte(request.Text("bench")))
		l.check(err)
		_, _, err = conn.ReadResponse("GET")
		l.check(err)
	}
	return pair{Ours: (l.memory(s) - before) / idle / 1024, Peer: 25}
}
