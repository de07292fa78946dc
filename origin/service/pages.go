package service

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/addrspec/addrspec/origin/dashboard"
	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/identity/openid"
)

// openPages adds the pages to the API, unless the dashboard is off.
func (s *Service) openPages(context.Context) error {
	if s.Dashboard == "off" {
		return nil
	}
	public, err := s.URL()
	if err != nil {
		return err
	}
	proxies, err := s.trustedProxies()
	if err != nil {
		return err
	}
	var provider *openid.Provider
	if s.OpenIDIssuer != "" {
		name := s.OpenIDName
		if issuer, err := url.Parse(s.OpenIDIssuer); err == nil && name == "" {
			name = issuer.Hostname()
		}
		provider = openid.New(openid.Config{Issuer: s.OpenIDIssuer, ClientID: s.OpenIDClientID,
			Secret: s.OpenIDClientSecret, Name: name, Redirect: public.JoinPath(dashboard.OpenIDCallback).String()})
	}
	s.api.Pages, err = dashboard.New(dashboard.Config{
		Ledger: s.ledger, Identity: identity.New(s.ledger).WithSealer(s.sealer), API: s.api, Engine: s.engine,
		Log: s.log.Logger, PublicURL: public, TrustedProxies: proxies, SignUp: s.SignUp == "open", SourceURL: s.SourceURL, OpenID: provider, Release: Release,
		Health: s.health, Refused: s.api.Metrics.Refused, Webhooks: s.webhooks,
	})
	return err
}

// health checks the parts of the running service, for operators. doctor checks
// the same of a deployment that does not run.
func (s *Service) health(ctx context.Context) (list []dashboard.Health) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	add := func(part, detail string, err error) {
		if err != nil {
			detail = err.Error()
		}
		list = append(list, dashboard.Health{Part: part, OK: err == nil, Detail: detail})
	}
	start := time.Now()
	err := s.ledger.Ready(ctx)
	add("database", respondsIn(start), err)
	resolvers, err := s.checkResolvers(ctx)
	add("resolver", resolvers, err)
	info := s.engine.View().Info()
	age, err := CheckListsAge(info.Lists, AgingLists, time.Now())
	add("lists", age, err)
	if hooks := s.signUps.Set(); len(hooks.Hooks()) > 0 {
		add("hooks", fmt.Sprintf("%d, and their accounts exist", len(hooks.Hooks())), hooks.CheckAccounts(ctx, s.ledger))
	}
	now, err := s.ledger.Now(ctx)
	if apart := time.Since(now).Abs(); err == nil && apart > 5*time.Second {
		err = fmt.Errorf("the database's clock differs by %s: start NTP on both machines", apart.Round(time.Second))
	}
	add("clock", now.Format("2 Jan 2006, 15:04:05")+" UTC", err)
	add("release", Release, nil)
	add("engine", info.Engine, nil)
	add("model", info.Model, nil)
	return list
}

func respondsIn(start time.Time) string {
	return fmt.Sprintf("responds in %s", time.Since(start).Round(time.Microsecond))
}

// checkResolvers asks whether a resolver responds, and whether one lies. The verdict
// counts for lookups, too.
func (s *Service) checkResolvers(ctx context.Context) (string, error) {
	var lies, undecided error
	var verifying sync.WaitGroup
	verifying.Go(func() { lies, undecided = s.resolver.Verify(ctx) })
	start := time.Now()
	err := s.resolver.Probe(ctx)
	detail := respondsIn(start)
	verifying.Wait()
	if undecided != nil {
		detail += "; whether it lies is not known: " + undecided.Error()
	}
	return detail, errors.Join(err, lies)
}
