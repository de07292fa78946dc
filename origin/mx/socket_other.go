//go:build !linux

package mx

func (s *server) dial() (socket, error) { return s.dialNet() }

func (s *server) release(c socket, _ bool) { c.Close() }

// idleSockets has none: each query has a socket of its own.
type idleSockets struct{ most int }

func (*idleSockets) close() {}
