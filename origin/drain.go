package main

import (
	"net"
	"time"
)

// The two steps of a stop each take a fixed time.
const (
	closingTime = 250 * time.Millisecond // open connections are closed after their next response
	acceptTime  = 50 * time.Millisecond  // connections in the system's queue are accepted
)

// drain lets clients close their connections first, so that no request is lost
// on a connection that ends. For a while each response has "Connection: close"
// (RFC 9112 section 9.6). Then the system refuses new connections while the
// server accepts those that the system has already established. Closing the
// listener at once would reset them together with their requests.
func drain(listener net.Listener) {
	time.Sleep(closingTime)
	if refuseConnections(listener) == nil {
		time.Sleep(acceptTime)
	}
}
