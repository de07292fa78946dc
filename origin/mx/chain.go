package mx

import "context"

// chase asks for the MX of name and, where an answer ends at a CNAME, for that
// of its target. A recursive resolver follows CNAMEs itself; a server that is
// only authoritative stops at the edge of its zones.
func (r *Resolver) chase(ctx context.Context, name string) (answer, *Error) {
	name += "."
	ttl, hops := forever, 0
	for {
		a, err := r.race(ctx, name)
		if err != nil {
			return answer{}, err
		}
		ttl, hops = min(ttl, a.ttl), hops+a.hops
		if hops > maxHops {
			return answer{}, &Error{Kind: Failure, Reason: Loop}
		}
		if a.next == "" {
			a.ttl = ttl
			return a, nil
		}
		name = a.next
	}
}
