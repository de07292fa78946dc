package signuphook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/result"
)

// A Decision is that of a sign-up.
type Decision string

// The decisions. Review is to allow a sign-up with a flag.
const (
	Allow  Decision = "allow"
	Review Decision = "review"
	Deny   Decision = "deny"
)

// A Reason is why a sign-up is denied or flagged: that of a verdict without a role or a
// threshold, or one of the hook's own.
type Reason string

// The reasons that no document has.
const (
	NoEmail   Reason = "no_email"  // the user has no address, such as one who signs up by phone
	Invalid   Reason = "invalid"   // the address is not valid
	Domain    Reason = "domain"    // the document has an entry for the domain
	Unchecked Reason = "unchecked" // on_error decided
)

// A Verdict is the decision for one sign-up.
type Verdict struct {
	decision   Decision
	reason     Reason // that decided; "" if none did
	Suggestion string // the corrected domain of a typo
}

// Decision returns Allow or Deny.
func (v *Verdict) Decision() Decision {
	if v.decision == Deny {
		return Deny
	}
	return Allow
}

// reasons returns the reason in a list if it led to decision d.
func (v *Verdict) reasons(d Decision) []Reason {
	if v.decision != d {
		return nil
	}
	return []Reason{v.reason}
}

// policy is the document of a hook, and what the hook adds to it.
type policy struct {
	document string
	source   string // of the document, for errors
	compiled *host.Policy
	rules    rules
	noEmail  Decision
	invalid  Decision // Deny, unless settings from before policies have another one
	replaces string   // by what to replace such settings; "" if the file has none
}

// rules are the reasons of a document, which the module checks.
type rules struct {
	Block  section `json:"block,omitzero"`
	Review section `json:"review,omitzero"`
}

type section struct {
	Reasons []string `json:"reasons,omitzero"`
}

func (r *rules) uses(reason string) bool {
	return slices.Contains(r.Block.Reasons, reason) || slices.Contains(r.Review.Reasons, reason)
}

// Summary describes the hook's policy in a line.
func (h *Hook) Summary() string {
	return fmt.Sprintf("reasons to deny %v, to flag %v, on error %s", h.policy.rules.Block.Reasons, h.policy.rules.Review.Reasons, h.OnError)
}

type policyEntry struct {
	Policy  jsontext.Value `json:"policy"`
	NoEmail *Decision      `json:"no_email"`
	oldPolicy
}

// readPolicy reads the document. compile checks it.
func (e *policyEntry) readPolicy(h *Hook, directory string) error {
	h.policy = policy{source: `"policy"`, noEmail: Allow, invalid: Deny}
	if e.NoEmail != nil {
		h.policy.noEmail = *e.NoEmail
	}
	switch {
	case e.oldPolicy.given() && (e.Policy != nil || e.NoEmail != nil):
		return errors.New(`"policy" and "no_email" replace "deny", "flag" and "gibberish_score": a hook has either these or those`)
	case e.oldPolicy.given():
		return e.oldPolicy.translate(&h.policy)
	case e.Policy == nil:
		return errors.New(`"policy" is missing; a usual choice is "policy": {"block": {"reasons": ["disposable"]}, "review": {"reasons": ["no_mx", "typo"]}}`)
	case !slices.Contains([]Decision{Allow, Review, Deny}, h.policy.noEmail):
		return fmt.Errorf(`"no_email" is %.40q: it must be "allow", "review" or "deny", the decision about a user without an address`, string(h.policy.noEmail))
	}
	return h.policy.read(e.Policy, directory)
}

// maxDocument is more than a document may have: the module refuses one that is cut off there.
const maxDocument = 4 << 20

// read takes the document, or reads the file that has it.
func (p *policy) read(value jsontext.Value, directory string) (err error) {
	switch value.Kind() {
	case '{':
		p.document = string(value)
		return nil
	case '"':
		var path string
		if err = json.Unmarshal(value, &path); err == nil {
			path = beside(directory, path)
			p.source += " " + path
			p.document, err = readDocument(path)
		}
		if err != nil {
			err = fmt.Errorf(`"policy": %w`, err)
		}
		return err
	}
	return errors.New(`"policy" must be an object, the policy, or a string, the path of a file with it`)
}

// readDocument reads a regular file. A pipe might never end.
func readDocument(path string) (string, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", path)
	}
	if err != nil {
		return "", err
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxDocument))
	return string(text), err
}

// compile has the module check the document.
func (p *policy) compile(ctx context.Context, engine *host.Engine) (err error) {
	if p.compiled, err = engine.NewPolicy(ctx, p.document); err != nil {
		return fmt.Errorf("%s: %w", p.source, err)
	}
	return json.Unmarshal([]byte(p.document), &p.rules)
}

// oldPolicy are the settings from before policies.
type oldPolicy struct {
	Deny           []Reason `json:"deny"`
	Flag           []Reason `json:"flag"`
	GibberishScore *float64 `json:"gibberish_score"`
}

func (o *oldPolicy) given() bool { return o.Deny != nil || o.Flag != nil || o.GibberishScore != nil }

// oldReasons are the reasons of these settings. The first of them that denies decides,
// else the first that flags.
var oldReasons = []Reason{NoEmail, Invalid, "disposable", "no_mx", "typo", gibberish, "relay", "role", "public", "alias"}

const gibberish Reason = "gibberish"

// translate makes a document of the settings.
func (o *oldPolicy) translate(p *policy) error {
	if err := o.check(); err != nil {
		return err
	}
	p.noEmail, p.invalid = o.decision(NoEmail), o.decision(Invalid)
	reasons := map[Decision][]string{}
	for _, r := range oldReasons[2:] { // without no_email and invalid
		reasons[o.decision(r)] = append(reasons[o.decision(r)], o.written(r))
	}
	p.rules = rules{section{reasons[Deny]}, section{reasons[Review]}}
	p.document = string(encode(p.rules))
	p.replaces = `"policy": ` + p.document
	if p.noEmail != Allow {
		p.replaces += fmt.Sprintf(`, "no_email": %q`, p.noEmail)
	}
	return nil
}

func (o *oldPolicy) decision(r Reason) Decision {
	switch {
	case slices.Contains(o.Deny, r):
		return Deny
	case slices.Contains(o.Flag, r):
		return Review
	}
	return Allow
}

// written returns a reason as a document has it. A score above gibberish_score is the next
// of the hundred scores, or a higher one.
func (o *oldPolicy) written(r Reason) string {
	if r != gibberish || o.GibberishScore == nil {
		return string(r)
	}
	percent := 1
	for float64(percent)/100 <= *o.GibberishScore {
		percent++
	}
	return "gibberish>=" + strconv.FormatFloat(float64(percent)/100, 'f', -1, 64)
}

// check refuses settings that cannot do what they say.
func (o *oldPolicy) check() error {
	s := o.GibberishScore
	switch {
	case s != nil && (*s < 0 || *s >= 1):
		return fmt.Errorf(`"gibberish_score" is %v: it must be from 0 to below 1; an address whose score is above it is gibberish`, *s)
	case len(o.Deny)+len(o.Flag) == 0:
		return errors.New(`"deny" and "flag" are both empty: such a hook decides nothing`)
	case s != nil && o.decision(gibberish) == Allow:
		return errors.New(`"gibberish_score" has no effect: add "gibberish" to "deny" or "flag"`)
	}
	all := slices.Concat(o.Deny, o.Flag)
	for n, r := range all {
		if !slices.Contains(oldReasons, r) {
			return fmt.Errorf(`%.40q is not a reason of "deny" and "flag"; these are %v`, string(r), oldReasons)
		}
		if slices.Contains(all[:n], r) {
			return fmt.Errorf(`%q is twice in "deny" and "flag": leave it in one`, r)
		}
	}
	return nil
}

// Advice says how to write the settings from before policies now; it is "" if the file has
// a policy.
func (h *Hook) Advice() string {
	if h.policy.replaces == "" {
		return ""
	}
	advice := `replace "deny", "flag" and "gibberish_score" by ` + h.policy.replaces
	if h.policy.invalid != Deny {
		advice += `; then an address that is not valid is denied, which it is not now`
	}
	return advice
}

// A LookUp looks up the exchanges of a domain and, if address, whether it has an address
// record if it has none.
type LookUp func(ctx context.Context, domain string, address bool) (host.Lookup, error)

// A LookupError is why an address cannot be decided about without a lookup that failed.
type LookupError struct{ Err error }

func (e *LookupError) Error() string { return e.Err.Error() }
func (e *LookupError) Unwrap() error { return e.Err }

// Decide decides about an address, after a lookup if that may change the decision. If the
// lookup fails, the error is a *LookupError for a policy with no_mx or no_mail. For
// disposable the lists decide then.
func (h *Hook) Decide(ctx context.Context, view *host.View, facts *host.Facts, lookUp LookUp) (Verdict, error) {
	v, err := h.judge(ctx, view, host.Subject{Facts: facts})
	if err != nil || !h.policy.needsLookup(&v, facts) {
		return v, err
	}
	found, err := h.lookUp(ctx, facts.Host, lookUp)
	switch {
	case err != nil && h.policy.needsMX():
		return Verdict{}, &LookupError{err}
	case err != nil:
		return v, nil
	}
	if err := view.Resolve(ctx, facts, found); err != nil {
		return Verdict{}, err
	}
	return h.judge(ctx, view, host.Subject{Facts: facts, Found: found.Found()})
}

func (h *Hook) lookUp(ctx context.Context, domain string, lookUp LookUp) (host.Lookup, error) {
	ctx, cancel := context.WithTimeout(ctx, h.Timeout)
	defer cancel()
	return lookUp(ctx, domain, h.policy.rules.uses("no_mail"))
}

// needsLookup reports whether exchanges may change v, the verdict without them: for no_mx
// and no_mail, and for disposable if the lists have no entry for the domain. They do not
// change what an entry of the document decided, and if the address is denied already, they
// change nothing but the reason.
func (p *policy) needsLookup(v *Verdict, facts *host.Facts) bool {
	if facts.Host == "" || v.decision == Deny || v.reason == Domain {
		return false
	}
	return p.needsMX() || p.rules.uses("disposable") && !facts.Has(host.Classed|host.Typo)
}

// needsMX reports whether the policy cannot decide if the lookup fails.
func (p *policy) needsMX() bool { return p.rules.uses("no_mx") || p.rules.uses("no_mail") }

// judge has the module evaluate the policy.
func (h *Hook) judge(ctx context.Context, view *host.View, s host.Subject) (Verdict, error) {
	text, err := view.Verdict(ctx, nil, h.policy.compiled, s)
	if err != nil {
		return Verdict{}, err
	}
	found, err := result.SplitVerdict(text)
	if err != nil {
		return Verdict{}, err
	}
	v := Verdict{decision: Decision(found.Action), reason: kind(found.Reason)}
	switch {
	case v.reason == Invalid:
		v.decision = h.policy.invalid
	case found.Action == "block":
		v.decision = Deny
	}
	v.Suggestion, err = h.policy.suggestion(s.Facts)
	return v, err
}

// kind returns a reason without its role ("role:sales") or threshold ("gibberish>=0.8").
func kind(reason string) Reason {
	if end := strings.IndexAny(reason, ":>"); end >= 0 {
		reason = reason[:end]
	}
	return Reason(reason)
}

// suggestion returns the corrected domain of a typo, if the policy has typo.
func (p *policy) suggestion(facts *host.Facts) (string, error) {
	if !facts.Has(host.Typo) || !p.rules.uses("typo") {
		return "", nil
	}
	r, err := result.Parse(facts.JSON)
	return r.TypoSuggestion, err
}

// NoEmailVerdict is the decision about a user without an address.
func (h *Hook) NoEmailVerdict() Verdict { return Verdict{decision: h.policy.noEmail, reason: NoEmail} }

// UncheckedVerdict is the decision about an address that could not be checked.
func (h *Hook) UncheckedVerdict() Verdict {
	if h.OnError == Deny {
		return Verdict{decision: Deny, reason: Unchecked}
	}
	return Verdict{decision: Review, reason: Unchecked}
}
