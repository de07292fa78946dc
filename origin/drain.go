package main

import (
	"net"
	"time"
)

// How long the end of the service takes at least, in two steps.
const (
	lingering = 250 * time.Millisecond // while connections that are open may ask again
	draining  = 50 * time.Millisecond  // while connections that wait are taken up
)

// drain lets clients leave before their connections are closed, so that no
// request meets the end of its connection: for a while each further answer says
// "Connection: close" (RFC 9112 section 9.6), and then no new connection is
// made while those that the system has made already are taken up. Closing the
// listener at once would reset these, with the requests they bring.
func drain(listener net.Listener) {
	time.Sleep(lingering)
	if turnAway(listener) == nil {
		time.Sleep(draining)
	}
}
