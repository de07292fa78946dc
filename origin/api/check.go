package api

import (
	"context"
	"time"

	"github.com/addrspec/addrspec/origin/api/wire"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/result"
)

// A check is the work on the addresses of a single validation or a batch: the module, then DNS, then
// the module again for what it decides by DNS.
type check struct {
	*exchange
	view    *host.View // the same lists for all addresses
	flags   host.Flags
	policy  *host.Policy // nil for none
	address bool         // whether the address record of a domain without MX matters
	items   []item
}

// An item is one address with its facts and its lookup.
type item struct {
	email   string
	checked bool // facts is set
	facts   host.Facts
	lookup  lookup
	verdict []byte        // of the policy; nil without one
	subject *host.Subject // what the table of test keys has for the policy; nil for other keys
}

// finished reports whether both the facts and the lookup are known.
func (i *item) finished() bool { return i.checked && i.lookup.finished }

// newCheck returns the check of addresses with the options of the request.
func (x *exchange) newCheck(addresses int, o wire.Options) (*check, *wire.Problem) {
	policy, p := x.policy(o.Policy)
	if p != nil {
		return nil, p
	}
	c := &check{exchange: x, view: x.Engine.View(), flags: x.Flags, policy: policy, items: make([]item, addresses)}
	if o.Details {
		c.flags |= host.Details
	}
	c.address = o.Details || policy.WantsAddress()
	return c, nil
}

const (
	// share is how many addresses are checked with one instance of the module before another request may
	// have it. With less, callers that wait for an instance take longer to wake than to check.
	share = 16
	// usualJSON is more than the JSON of a usual address has, in bytes.
	usualJSON = 384
	// usualVerdict is the length of the longest verdict in bytes (wasm/ABI.md).
	usualVerdict = 77
)

// run runs the module on the addresses. Items are unchecked if ctx ends first.
func (c *check) run(ctx context.Context, emails []string) error {
	json := c.memory.buffer(len(emails) * usualJSON)
	for start := 0; start < len(emails); start += share {
		end := min(start+share, len(emails))
		err := c.view.CheckMany(ctx, emails[start:end], c.flags, func(n int, facts host.Facts) {
			kept := facts.Keep(json)
			c.items[start+n] = item{email: emails[start+n], checked: true, facts: kept}
			json = kept.JSON[len(kept.JSON):]
		})
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
	}
	return nil
}

// lookUp sets the lookups of the checked items.
func (c *check) lookUp(ctx context.Context) *wire.Problem {
	if len(c.items) == 1 && c.items[0].checked {
		l, p := c.exchange.lookUp(ctx, c.items[0].facts.Host, c.address)
		c.items[0].lookup = l
		return p
	}
	var missing []string
	for n := range c.items {
		i := &c.items[n]
		if !i.checked {
			continue
		}
		l, known := c.peek(i.facts.Host, c.address)
		i.lookup = l
		if !known {
			missing = append(missing, i.facts.Host)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	lookups, p := c.lookUpAll(ctx, missing, c.address)
	for n := range c.items {
		i := &c.items[n]
		if i.checked && !i.lookup.finished {
			i.lookup = lookups[i.facts.Host]
		}
	}
	return p
}

// decide adds the lookups to the facts and, with a policy, sets the verdicts, in a turn of the account's.
// An item is unfinished if ctx ends before.
func (c *check) decide(ctx context.Context) error {
	var subjects []host.Subject
	var of []*item
	for n := range c.items {
		i := &c.items[n]
		if !i.finished() || i.lookup.err != nil {
			continue
		}
		switch err := c.view.Resolve(ctx, &i.facts, i.lookup.found); {
		case err != nil && ctx.Err() != nil:
			i.lookup = lookup{}
		case err != nil:
			return err
		case c.policy == nil:
		case i.subject != nil:
			subjects, of = append(subjects, *i.subject), append(of, i)
		default:
			s := host.Subject{Facts: &i.facts, Address: i.email, Found: i.lookup.found.Found(), Exchanges: i.lookup.found.Exchanges}
			subjects, of = append(subjects, s), append(of, i)
		}
	}
	if c.policy == nil {
		return nil
	}
	turn, stop := context.WithTimeout(ctx, resolveTime)
	defer stop()
	err := c.policies.Take(turn, c.memory.owner, 1)
	if err == nil {
		defer c.policies.Free(c.memory.owner, 1)
		buffer := make([]byte, 0, len(of)*usualVerdict)
		err = c.view.Verdicts(ctx, c.policy, subjects, func(n int, verdict []byte) {
			start := len(buffer)
			buffer = append(buffer, verdict...)
			of[n].verdict = buffer[start:len(buffer):len(buffer)]
		})
	}
	if err == nil || ctx.Err() == nil {
		return err
	}
	for _, i := range of {
		if i.verdict == nil {
			i.lookup = lookup{}
		}
	}
	return nil
}

// finished returns the items that are reported and charged.
func (c *check) finished() (finished []*item) {
	for n := range c.items {
		if c.items[n].finished() {
			finished = append(finished, &c.items[n])
		}
	}
	return finished
}

// workContext returns a context for work on many addresses. It ends with ctx, after BatchTimeout, or
// when the server stops.
func (s *Server) workContext(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, s.BatchTimeout)
	stop := context.AfterFunc(s.stopping, cancel)
	return ctx, func() { stop(); cancel() }
}

// foundIn counts items for the usage history.
func foundIn(items []*item) (found book.Found) {
	for _, i := range items {
		if i.lookup.err != nil {
			found.LookupErrors++
			continue
		}
		f := result.FlagsOf(&i.facts)
		for _, fact := range []struct {
			is    bool
			count *int64
		}{
			{f.Valid, &found.Valid}, {!f.Valid, &found.Invalid}, {f.Role, &found.Role}, {f.Gibberish, &found.Gibberish},
			{f.Disposable, &found.Disposable}, {f.Public, &found.Public}, {f.Relay, &found.Relay}, {f.Typo, &found.Typo},
		} {
			if fact.is {
				*fact.count++
			}
		}
	}
	return found
}

// appendResult appends the JSON of the result to dst.
func (i *item) appendResult(dst []byte) []byte {
	dst = i.facts.AppendResult(dst)
	if i.verdict != nil {
		dst = host.AppendVerdict(dst, i.verdict)
	}
	return dst
}

// resolveTime is how long a request waits for the module once its lookups are done or their time has
// passed. What was looked up is finished, and the module needs microseconds for it, or tens of
// milliseconds where it reads the largest policy again.
const resolveTime = time.Second
