package main

import (
	"errors"
	"fmt"
	"net"
	"syscall"
)

// listeners are those of --listen and --operator-listen. operator is nil without
// the second flag.
type listeners struct{ public, operator net.Listener }

func (c *serveCmd) openListeners() (p listeners, err error) {
	if p.public, err = listen("--listen", c.Listen); err != nil || c.OperatorListen == "" {
		return p, err
	}
	if p.operator, err = listen("--operator-listen", c.OperatorListen); err != nil {
		p.public.Close()
	}
	return p, err
}

func (p listeners) close() {
	p.public.Close()
	if p.operator != nil {
		p.operator.Close()
	}
}

// operatorAddress returns the operator's address for the log, or "".
func (p listeners) operatorAddress() string {
	if p.operator == nil {
		return ""
	}
	return p.operator.Addr().String()
}

// listen listens at the address of a flag, which its errors name.
func listen(flag, address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is in use by another program; stop it or choose another %s HOST:PORT", address, flag)
	case err != nil:
		return nil, fmt.Errorf("%s %s: %w", flag, address, err)
	}
	return listener, nil
}
