package signuphook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/moduletest"
	"github.com/addrspec/addrspec/wasm/result"
)

var engineOfTests struct {
	sync.Once
	*host.Engine
}

// testEngine returns the engine of all tests.
func testEngine(t testing.TB) *host.Engine {
	e := &engineOfTests
	e.Do(func() {
		var err error
		e.Engine, err = host.New(context.Background(), moduletest.Bytes(t), host.Options{Size: 2, CacheDir: moduletest.CacheDir()})
		require.NoError(t, err)
	})
	return e.Engine
}

// lookups counts lookups and has the same result for each.
type lookups struct {
	found   host.Lookup
	err     error
	domains []string
	address bool // the last one was for an address record too
}

func (l *lookups) lookUp(_ context.Context, domain string, address bool) (host.Lookup, error) {
	l.domains, l.address = append(l.domains, domain), address
	return l.found, l.err
}

var (
	withMX    = host.Lookup{MX: true, Exchanges: "mx.example.net"}
	burner    = host.Lookup{MX: true, Exchanges: "mx.mailinator.com"}
	withoutMX = host.Lookup{AddressRecord: host.AddressPresent}
	noMail    = host.Lookup{AddressRecord: host.AddressAbsent}
	unknown   = host.Lookup{} // neither MX nor known whether there is an address record
	errDNS    = errors.New("the resolver is away")
)

// decide returns the verdict on an address.
func decide(t testing.TB, h *Hook, email string, l *lookups) Verdict {
	t.Helper()
	v, err := decideOrFail(t, h, email, l)
	require.NoError(t, err, email)
	return v
}

func decideOrFail(t testing.TB, h *Hook, email string, l *lookups) (Verdict, error) {
	t.Helper()
	view := testEngine(t).View()
	facts, err := view.Check(context.Background(), nil, email, 0)
	require.NoError(t, err)
	return h.Decide(context.Background(), view, &facts, l.lookUp)
}

// policyHook returns a hook with a policy.
func policyHook(t testing.TB, document string) *Hook {
	t.Helper()
	return testHook(t, map[string]any{"deny": nil, "policy": json.RawMessage(document)})
}

// signUps have an address for each reason of the settings from before policies, for some
// two, and for some none.
var signUps = []string{"jane.doe@example.org", "jane..doe@example.org", "jane.doe@mailinator.com", "info@example.org", "info+x@mailinator.com",
	"jane.doe@gmail.com", "jane.doe+news@gmail.com", "jane.doe@gmial.com", "info@gmial.com", "xqzvkjwpth@example.org", "xqzvkjwpth+a@gmail.com",
	"jane.doe@duck.com", "sales@duck.com", "jane.doe@[192.0.2.1]", "noreply@[192.0.2.1]", "bücher@example.org", "", "a@b", "kq7x@example.org", "asdfgh@example.org"}

// before decides as hooks did before policies, with lists of reasons.
func before(o *oldPolicy, r *result.Result) (reasons, flags []Reason) {
	gibberishFound := r.Gibberish
	if o.GibberishScore != nil {
		gibberishFound = r.GibberishScore > *o.GibberishScore
	}
	found := map[Reason]bool{Invalid: true}
	if r.Valid {
		found = map[Reason]bool{"disposable": r.Disposable, "no_mx": !r.MX, "typo": r.Typo, gibberish: gibberishFound,
			"relay": r.Relay, "role": r.Role != "", "public": r.Public, "alias": r.Alias}
	}
	for _, reason := range oldReasons {
		switch {
		case found[reason] && slices.Contains(o.Deny, reason):
			reasons = append(reasons, reason)
		case found[reason] && slices.Contains(o.Flag, reason):
			flags = append(flags, reason)
		}
	}
	return reasons, flags
}

// resultOf returns the result for an address after a lookup, or as if there was MX.
func resultOf(t *testing.T, email string, l *host.Lookup) *result.Result {
	view := testEngine(t).View()
	facts, err := view.Check(t.Context(), nil, email, 0)
	require.NoError(t, err)
	if facts.Host != "" && l != nil {
		require.NoError(t, view.Resolve(t.Context(), &facts, *l))
	}
	r, err := result.Parse(facts.Result())
	require.NoError(t, err)
	r.MX = r.MX || l == nil && facts.Host != "" // a literal is known to have none
	return &r
}

// A file from before policies decides as it did, with the first of its reasons or flags. So
// does the policy that replaces it, in both formats.
func TestOldFiles(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	decided := map[string]int{}
	for range 50 {
		old := randomSettings(random)
		own := map[string]any{"deny": old.Deny, "flag": old.Flag, "gibberish_score": old.GibberishScore}
		if old.GibberishScore == nil {
			delete(own, "gibberish_score")
		}
		h := testHook(t, own)
		hooks := []*Hook{h}
		if h.policy.invalid == Deny {
			hooks = append(hooks, replaced(t, h))
		}
		for _, email := range signUps {
			for _, l := range []host.Lookup{withMX, burner, withoutMX, noMail} {
				reasons, flags := before(&old, resultOf(t, email, nil))
				if len(reasons) == 0 { // no lookup was made for an address that is denied already
					reasons, flags = before(&old, resultOf(t, email, &l))
				}
				for n, h := range hooks {
					v := decide(t, h, email, &lookups{found: l})
					where := fmt.Sprint(old, " ", email, " ", l, " ", n)
					require.Equal(t, len(reasons) > 0, v.Decision() == Deny, where)
					requireFirst(t, reasons, v.reasons(Deny), where)
					if len(reasons) == 0 {
						requireFirst(t, flags, v.reasons(Review), where)
					}
					requireSupabase(t, h, v)
					decided[string(v.decision)+" "+string(v.reason)]++
				}
			}
		}
	}
	require.Len(t, decided, 2+2*(len(oldReasons)-1), "allow, also what is not valid, and each reason that denies and flags: %v", decided)
}

// randomSettings returns settings from before policies.
func randomSettings(random *rand.Rand) (o oldPolicy) {
	for _, r := range oldReasons {
		switch random.IntN(3) {
		case 0:
			o.Deny = append(o.Deny, r)
		case 1:
			o.Flag = append(o.Flag, r)
		}
	}
	if len(o.Deny)+len(o.Flag) == 0 {
		o.Deny = []Reason{Invalid}
	}
	if score := float64(random.IntN(1000)) / 1000; o.decision(gibberish) != Allow && random.IntN(2) == 0 {
		o.GibberishScore = &score
	}
	return o
}

// replaced returns a hook with the members that a hook is advised to have.
func replaced(t *testing.T, h *Hook) *Hook {
	var members map[string]any
	_, text, found := strings.Cut(h.Advice(), " by ")
	require.True(t, found)
	require.NoError(t, json.Unmarshal([]byte("{"+text+"}"), &members))
	members["deny"] = nil
	now := testHook(t, members)
	require.Equal(t, h.NoEmailVerdict(), now.NoEmailVerdict())
	require.Empty(t, now.Advice())
	return now
}

// requireFirst requires that got is the first of all, if there is one.
func requireFirst(t *testing.T, all, got []Reason, where string) {
	require.Equal(t, append([]Reason{}, all[:min(len(all), 1)]...), append([]Reason{}, got...), where)
}

// requireSupabase requires that the other format has the same decision.
func requireSupabase(t *testing.T, h *Hook, v Verdict) {
	other := *h
	other.format = supabase{}
	require.Equal(t, v.Decision() == Deny, strings.Contains(string(other.Response(v, Call{})), `"error"`))
}

// A score above gibberish_score is the next of the hundred scores or a higher one.
func TestGibberishScore(t *testing.T) {
	for text, want := range map[string]string{"0": "gibberish>=0.01", "0.5": "gibberish>=0.51", "0.8": "gibberish>=0.81", "0.29": "gibberish>=0.3",
		"0.57": "gibberish>=0.58", "0.285": "gibberish>=0.29", "0.99": "gibberish>=1", "0.999": "gibberish>=1", "-0": "gibberish>=0.01", "1e-9": "gibberish>=0.01"} {
		h := testHook(t, map[string]any{"deny": []Reason{gibberish}, "gibberish_score": json.RawMessage(text)})
		require.Equal(t, []string{want}, h.policy.rules.Block.Reasons, text)
	}
}

// The advice says what changes if an address that is not valid was let in.
func TestAdvice(t *testing.T) {
	for _, c := range []struct {
		deny, flag []Reason
		want       string
	}{
		{[]Reason{Invalid}, nil, `replace "deny", "flag" and "gibberish_score" by "policy": {}`},
		{[]Reason{Invalid, "role", NoEmail, "disposable"}, []Reason{"alias"},
			`replace "deny", "flag" and "gibberish_score" by "policy": {"block":{"reasons":["disposable","role"]},"review":{"reasons":["alias"]}}, "no_email": "deny"`},
		{nil, []Reason{NoEmail, "alias"}, `replace "deny", "flag" and "gibberish_score" by "policy": {"review":{"reasons":["alias"]}}, "no_email": "review"; then an address that is not valid is denied, which it is not now`},
	} {
		require.Equal(t, c.want, testHook(t, map[string]any{"deny": c.deny, "flag": c.flag}).Advice())
	}
}

// A lookup is made only if it may change the decision. If it fails, a policy with no_mx or
// no_mail does not decide; for disposable the lists do.
func TestLookups(t *testing.T) {
	const other = "jane.doe@example.org"
	for _, c := range []struct {
		policy, email  string
		asked, address bool
		decision       Decision
		reason         Reason
		fails          bool // without DNS
	}{
		{`{}`, other, false, false, Allow, "", false},
		{`{"block":{"reasons":["role","gibberish","quoted"]}}`, other, false, false, Allow, "", false},
		{`{"block":{"reasons":["disposable"]}}`, other, true, false, Allow, "", false},
		{`{"review":{"reasons":["disposable"]}}`, "jane.doe@gmail.com", false, false, Allow, "", false},
		{`{"review":{"reasons":["disposable"]}}`, "jane.doe@gmial.com", false, false, Allow, "", false},
		{`{"block":{"reasons":["no_mx"]}}`, other, true, false, Deny, "no_mx", true},
		{`{"review":{"reasons":["no_mail"]}}`, other, true, true, Review, "no_mail", true},
		{`{"review":{"reasons":["role","no_mx"]}}`, "info@example.org", true, false, Review, "role", true},
		{`{"block":{"reasons":["no_mx"]},"allow":{"domains":["example.org"]}}`, other, false, false, Allow, Domain, false},
		{`{"block":{"reasons":["no_mx"]},"review":{"domains":["*.org"]}}`, other, false, false, Review, Domain, false},
		{`{"block":{"reasons":["no_mx","disposable"]}}`, "jane.doe@mailinator.com", false, false, Deny, "disposable", false},
		{`{"block":{"reasons":["no_mx"]}}`, "jane..doe@example.org", false, false, Deny, Invalid, false},
		{`{"block":{"reasons":["no_mx"]}}`, "jane.doe@[192.0.2.1]", false, false, Deny, "no_mx", false},
		{`{"block":{"reasons":["no_mail"]}}`, "jane.doe@[192.0.2.1]", false, false, Allow, "", false},
	} {
		h, l := policyHook(t, c.policy), &lookups{found: noMail}
		v := decide(t, h, c.email, l)
		require.Equal(t, Verdict{decision: c.decision, reason: c.reason}, v, c)
		require.Equal(t, c.asked, len(l.domains) == 1, c)
		require.Equal(t, c.address, l.address, c)
		v, err := decideOrFail(t, h, c.email, &lookups{err: errDNS})
		if !c.fails {
			require.NoError(t, err)
			require.Equal(t, c.decision, v.decision, c)
			continue
		}
		var failed *LookupError
		require.ErrorAs(t, err, &failed)
		require.ErrorIs(t, err, errDNS)
	}
	require.Equal(t, Verdict{decision: Deny, reason: "disposable"}, decide(t, policyHook(t, `{"block":{"reasons":["disposable"]}}`), other, &lookups{found: burner}))
	require.Equal(t, Verdict{decision: Allow}, decide(t, policyHook(t, `{"block":{"reasons":["no_mail"]}}`), other, &lookups{found: withoutMX}), "mail goes to its address record")
	require.Equal(t, Verdict{decision: Allow}, decide(t, policyHook(t, `{"block":{"reasons":["no_mail"]}}`), other, &lookups{found: unknown}))
	require.Equal(t, Verdict{decision: Deny, reason: "no_mx"}, decide(t, policyHook(t, `{"block":{"reasons":["no_mail","no_mx"]}}`), other, &lookups{found: unknown}))
}

// A reason is reported without role and threshold, by which its message is found.
func TestReasonsOfDocuments(t *testing.T) {
	for document, want := range map[string]string{
		`{"block":{"reasons":["role:general"]}}`:       `{"decision":"deny","reasons":["role"],"flags":[],"message":"Please use a personal email address.","suggestion":null}`,
		`{"review":{"reasons":["role:general"]}}`:      `{"decision":"allow","reasons":[],"flags":["role"],"message":null,"suggestion":null}`,
		`{"block":{"domains":["*.example.org"]}}`:      `{"decision":"deny","reasons":["domain"],"flags":[],"message":"Please use another email address.","suggestion":null}`,
		`{"review":{"domains":["example.org"]}}`:       `{"decision":"allow","reasons":[],"flags":["domain"],"message":null,"suggestion":null}`,
		`{"allow":{"domains":["example.org"]}}`:        `{"decision":"allow","reasons":[],"flags":[],"message":null,"suggestion":null}`,
		`{"review":{"reasons":["gibberish>=0.01"]}}`:   `{"decision":"allow","reasons":[],"flags":["gibberish"],"message":null,"suggestion":null}`,
		`{"review":{"reasons":["typo","role:sales"]}}`: `{"decision":"allow","reasons":[],"flags":[],"message":null,"suggestion":null}`,
	} {
		email := "info@example.org"
		if strings.Contains(document, "gibberish") {
			email = "xqzvkjwpth@example.org"
		}
		h := policyHook(t, document)
		require.Equal(t, want, string(h.Response(decide(t, h, email, &lookups{found: withMX}), Call{})), document)
	}
	h := policyHook(t, `{"block":{"reasons":["no_mx","typo"]}}`)
	require.Contains(t, string(h.Response(decide(t, h, "jane@gmial.com", &lookups{found: noMail}), Call{})), `["typo"]`, "it is denied without a lookup")
	require.Contains(t, string(h.Response(decide(t, h, "jane@gmial.com", &lookups{found: noMail}), Call{})), `"suggestion":"gmail.com"`)
}

// Every reason that the module knows has an English message, which a file can replace, and
// is in the handbook and the description.
func TestEveryReasonHasAMessage(t *testing.T) {
	handbook, err := os.ReadFile("../deploy/hooks.md")
	require.NoError(t, err)
	description, err := os.ReadFile("../api/openapi-hooks.json")
	require.NoError(t, err)
	_, err = testEngine(t).NewPolicy(t.Context(), `{"block":{"reasons":["zzzzzzzzzzzz"]}}`)
	_, list, found := strings.Cut(err.Error(), "write one of ")
	require.True(t, found, err)
	known := strings.Split(list, ", ")
	require.Greater(t, len(known), 15)
	for _, reason := range append(known, "invalid", "domain", "no_email", "unchecked") {
		require.NotEmpty(t, defaultMessages[Reason(reason)], reason)
		require.Contains(t, string(handbook), "`"+reason+"`")
		require.GreaterOrEqual(t, strings.Count(string(description), "                \""+reason+"\""), 2, reason)
	}
	require.Len(t, defaultMessages, len(known)+4, "no other one")
}

// Every mistake in a policy has an error with file, hook and place.
func TestPolicyErrors(t *testing.T) {
	dir := testDirectory(t)
	load := func(own map[string]any) error {
		file := filepath.Join(dir, "hooks.json")
		require.NoError(t, os.WriteFile(file, []byte(hookText(own)), 0o600))
		_, err := Load(t.Context(), testEngine(t), file)
		return err
	}
	write := func(name, text string) string {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		return name
	}
	domains := func(n int) string {
		return `{"block":{"domains":["` + strings.Repeat(`a.example","`, n-1) + `a.example"]}}`
	}
	deep := strings.Repeat(`{"block":`, 5000) + "1" + strings.Repeat("}", 5000)
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	for policy, want := range map[string]string{
		`"pipe"`: "is not a regular file",
		`{"block":{"reasons":["typo","role","disposible"]}}`: `"policy": block.reasons[2]: "disposible" is no reason; did you mean "disposable"?`,
		`{"block":{"reasons":["invalid"]}}`:                  `"policy": block.reasons[0]: "invalid" is no reason; an address that is not valid is always blocked`,
		`{"allow":{"domains":["a.*.example"]}}`:              `"policy": allow.domains[0]: an asterisk is possible only before the first dot`,
		`{"allow":{"reasons":["role"]}}`:                     `only block and review have reasons`,
		`{"deny":{}}`:                                        `"policy": the document: "deny" is no member of a policy`,
		`{"block":{},"block":{}}`:                            "duplicate",
		`{"block":{"reasons":["typo"],"reasons":[]}}`:        "duplicate",
		`{"block":[]}`:                                       `"policy": block: `,
		`[]`:                                                 `"policy" must be an object`,
		`null`:                                               `"policy" must be an object`,
		`5`:                                                  `"policy" must be an object`,
		`"missing.json"`:                                     "no such file",
		`"."`:                                                "is not a regular file",
		`"` + write("reason.json", `{"block": {"reasons": ["spam"]}}`) + `"`:                           dir + `/reason.json: block.reasons[0]: "spam" is no reason`,
		`"` + write("syntax.json", "{\n \"block\": {,}}") + `"`:                                        dir + "/syntax.json: line 2, column 12",
		`"` + write("empty.json", "") + `"`:                                                            "/empty.json: line 1, column 1",
		`"` + write("bom.json", "\uFEFF{}") + `"`:                                                      "byte order mark",
		`"` + write("many.json", domains(10_001)) + `"`:                                                "more than 10000 domains",
		`"` + write("large.json", `{"block":{"reasons":[`+strings.Repeat(" ", 65<<10)+`]}}`) + `"`:     "more than 65536 bytes outside its arrays of domains",
		`"` + write("huge.json", strings.Repeat(" ", 8<<20)) + `"`:                                     "the document: it has more than",
		`"` + write("deep.json", deep) + `"`:                                                           "deep.json: ",
		`"` + write("twice.json", `{"block":{"domains":["a.example"],"domains":["b.example"]}}`) + `"`: "the member is there twice",
	} {
		err := load(map[string]any{"deny": nil, "policy": json.RawMessage(policy)})
		require.ErrorContains(t, err, want, "%.100s", policy)
		if want != "duplicate" { // the whole file is no JSON
			require.ErrorContains(t, err, filepath.Join(dir, "hooks.json")+`: hook 1 ("signup"): `)
		}
		require.Less(t, len(err.Error()), 600)
	}
	for want, members := range map[string]map[string]any{
		`"policy" is missing`:                    map[string]any{"deny": nil},
		`"policy" and "no_email" replace "deny"`: map[string]any{"deny": []string{"typo"}, "policy": map[string]any{}},
		`a hook has either these or those`:       map[string]any{"deny": nil, "gibberish_score": 0.5, "policy": map[string]any{}},
		`either these`:                           map[string]any{"deny": []string{"typo"}, "no_email": "deny"},
		`"no_email" is "flag"`:                   map[string]any{"deny": nil, "policy": map[string]any{}, "no_email": "flag"},
	} {
		require.ErrorContains(t, load(members), want)
	}
	require.NoError(t, load(map[string]any{"deny": nil, "policy": write("limit.json", domains(10_000))}), "the longest list")
}

// no_email decides about a user without an address.
func TestNoEmail(t *testing.T) {
	for word, want := range map[any]string{nil: `"allow","reasons":[],"flags":[]`, "allow": `"allow","reasons":[],"flags":[]`,
		"review": `"allow","reasons":[],"flags":["no_email"]`, "deny": `"deny","reasons":["no_email"],"flags":[],"message":"Please sign up with an email address."`} {
		h := testHook(t, map[string]any{"deny": nil, "policy": map[string]any{}, "no_email": word})
		require.Contains(t, string(h.Response(h.NoEmailVerdict(), Call{})), want)
	}
}

// Two hooks with opposite policies, and others that replace theirs in the instances, decide
// each by its own.
func TestHooksDisagree(t *testing.T) {
	hooks := []*Hook{policyHook(t, `{"block":{"domains":["example.org"]}}`), policyHook(t, `{"allow":{"domains":["example.org"]},"block":{"reasons":["role"]}}`)}
	want := []Verdict{{decision: Deny, reason: Domain}, {decision: Allow, reason: Domain}}
	for n := range 40 { // more than an instance keeps
		hooks = append(hooks, policyHook(t, fmt.Sprintf(`{"review":{"domains":["x%d.example","example.org"]}}`, n)))
		want = append(want, Verdict{decision: Review, reason: Domain})
	}
	var tasks sync.WaitGroup
	for worker := range 8 {
		tasks.Go(func() {
			for n := range 100 {
				n = (worker + n*(worker%2*6+1)) % len(hooks)
				view := testEngine(t).View()
				facts, err := view.Check(context.Background(), nil, "info@example.org", 0)
				if err != nil {
					t.Error(err)
					return
				}
				v, err := hooks[n].Decide(context.Background(), view, &facts, (&lookups{err: errDNS}).lookUp)
				if err != nil || v != want[n] {
					t.Errorf("hook %d: %v, %v", n, v, err)
				}
			}
		})
	}
	tasks.Wait()
}

// The file of the handbook is valid.
func TestHandbookFile(t *testing.T) {
	handbook, err := os.ReadFile("../deploy/hooks.md")
	require.NoError(t, err)
	_, text, found := strings.Cut(string(handbook), "```json\n")
	text, _, end := strings.Cut(text, "```")
	require.True(t, found && end)
	set, err := parse([]byte(strings.Replace(text, "signup.secret", "secret", 1)), testDirectory(t))
	require.NoError(t, err)
	require.NoError(t, set.compile(t.Context(), testEngine(t)))
	require.Empty(t, set.Hooks()[0].Advice())
}
