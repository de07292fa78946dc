//go:build !linux

package mx

func (s *server) dial() (socket, error) { return s.dialNet() }
