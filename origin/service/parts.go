package service

import (
	"net"
	"net/url"
	"time"

	"github.com/addrspec/addrspec/lists/update"
	"github.com/addrspec/addrspec/origin/api"
	"github.com/addrspec/addrspec/origin/api/conn"
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/origin/service/logging"
	"github.com/addrspec/addrspec/origin/signuphook"
	"github.com/addrspec/addrspec/origin/webhook"
	"github.com/addrspec/addrspec/wasm/host"
)

// A Service is the parts of a running service.
type Service struct {
	*Config
	log       *logging.Log
	listeners listeners
	resolver  *mx.Resolver
	probing   *resolverWatch
	ledger    *ledger.Ledger
	sealer    *store.Sealer // nil without a key
	engine    *host.Engine
	lists     *update.Keeper
	signUps   *signuphook.Registry // nil without --hooks
	webhooks  *webhook.Sender      // also if they are off, because owners manage them where other replicas send
	api       *api.Server
	conns     *conn.Metrics
	cleanup   []func() // what Close calls
}

// closeLimit is how long Close waits. The ledger commits what is left meanwhile, which takes a healthy
// database milliseconds.
const closeLimit = 5 * time.Second

// Close closes the parts that were opened, in this order: who calls a part ends before it. It does not wait
// for a database that does not respond, because the process must end.
func (s *Service) Close() {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		for _, end := range s.cleanup {
			end()
		}
	}()
	select {
	case <-closed:
	case <-time.After(closeLimit):
		s.log.Error("the parts of the service did not close in time, so the process ends without their end",
			"limit", closeLimit.String())
	}
}

// later makes Close call end.
func (s *Service) later(end func()) { s.cleanup = append(s.cleanup, end) }

// Ledger returns the service's ledger.
func (s *Service) Ledger() *ledger.Ledger { return s.ledger }

// Addr returns the address of --listen, with the port in place of 0.
func (s *Service) Addr() net.Addr { return s.listeners.public.Addr() }

// URL returns where browsers reach the service.
func (s *Service) URL() (*url.URL, error) {
	_, port, _ := net.SplitHostPort(s.Addr().String())
	return s.At(port)
}
