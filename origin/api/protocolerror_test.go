package api

import (
	"strings"
	"testing"
)

// FuzzProtocolProblem checks that only error answers are replaced, and that each
// gets a status and a sentence.
func FuzzProtocolProblem(f *testing.F) {
	f.Add("HTTP/1.1 400 Bad Request: missing required Host header\r\n" + plainHeader + "400")
	f.Add("HTTP/1.1 417 Expectation Failed\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
	f.Add("HTTP/1.1 417\r\n")
	f.Add("HTTP/1.1 -99 x\r\n" + plainHeader)
	f.Add("HTTP/1.1 200 OK\r\n" + plainHeader)
	f.Fuzz(func(t *testing.T, written string) {
		p := protocolProblem([]byte(written))
		if p == nil {
			return
		}
		line, _, _ := strings.Cut(written, "\r\n")
		if p.status < 400 || p.status > 999 || p.message == "" || !strings.HasPrefix(line, "HTTP/1.") {
			t.Fatalf("%d %q", p.status, p.message)
		}
	})
}
