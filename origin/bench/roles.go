package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"

	"github.com/addrspec/addrspec/origin/mx/mxtest"
)

// answerSize is the length of the body of a usual answer to a GET in bytes.
const answerSize = 305

// serveBare is the peer of HTTP: net/http alone, which writes a body as long as the
// service does, of the same type.
func serveBare([]string) int {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return failed(err)
	}
	fmt.Println(listener.Addr())
	body := strings.Repeat("x", answerSize)
	return failed(http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, body)
	})))
}

// zone has an MX for every name that rows ask for.
const zone = `
	example.          300 IN SOA ns.example. hostmaster.example. 1 2 3 4 60
	mail.example.     3600 IN MX  10 mx1.mail.example.
	*.bulk.example.   3600 IN MX  10 mx1.mail.example.
`

// serveDNS is the resolver of the service.
func serveDNS([]string) int {
	server, err := mxtest.Listen("127.0.0.1:0", zone)
	if err != nil {
		return failed(err)
	}
	fmt.Println(server.Addr)
	select {}
}

func failed(err error) int {
	fmt.Fprintln(os.Stderr, "bench:", err)
	return 1
}
