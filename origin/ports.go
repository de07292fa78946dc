package main

import (
	"errors"
	"fmt"
	"net"
	"syscall"
)

// ports are the listeners; operator is nil without --operator-listen.
type ports struct{ public, operator net.Listener }

func (c *serveCmd) takePorts() (p ports, err error) {
	if p.public, err = listen("--listen", c.Listen); err != nil || c.OperatorListen == "" {
		return p, err
	}
	if p.operator, err = listen("--operator-listen", c.OperatorListen); err != nil {
		p.public.Close()
	}
	return p, err
}

func (p ports) close() {
	p.public.Close()
	if p.operator != nil {
		p.operator.Close()
	}
}

// operatorAddress is for the log; "" without the listener.
func (p ports) operatorAddress() string {
	if p.operator == nil {
		return ""
	}
	return p.operator.Addr().String()
}

// listen takes a port before anything else is touched; flag names it in errors.
func listen(flag, address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is taken by another program; stop it or give another %s HOST:PORT", address, flag)
	case err != nil:
		return nil, fmt.Errorf("%s %s: %w", flag, address, err)
	}
	return listener, nil
}
