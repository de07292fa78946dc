package host

import (
	"context"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/core/policy"
	"github.com/addrspec/addrspec/wasm/build/flow"
	"github.com/addrspec/addrspec/wasm/moduletest"
	"github.com/addrspec/addrspec/wasm/vectors"
)

func newEngine(t testing.TB, wasm []byte, size int) *Engine {
	t.Helper()
	engine, err := New(context.Background(), wasm, Options{Size: size, CacheDir: moduletest.CacheDir()})
	require.NoError(t, err)
	t.Cleanup(func() { engine.Close(context.Background()) })
	return engine
}

func newPolicy(t testing.TB, engine *Engine, document string) *Policy {
	t.Helper()
	p, err := engine.NewPolicy(context.Background(), document)
	require.NoError(t, err)
	return p
}

// subject returns an address as a host has it after its lookup.
func subject(t testing.TB, engine *Engine, email string, found Found) Subject {
	facts, err := engine.Check(context.Background(), nil, email, 0)
	require.NoError(t, err)
	return Subject{Facts: &facts, Address: email, Found: found}
}

// Every case of the vectors has its verdict or its error, alone and together.
func TestPolicyVectors(t *testing.T) {
	engine := newEngine(t, moduletest.Bytes(t), 1)
	cases, err := vectors.ReadPolicies("../vectors")
	require.NoError(t, err)
	subjects, want := map[string][]Subject{}, map[string][]string{}
	for _, c := range cases {
		p, err := engine.NewPolicy(t.Context(), c.Document)
		if c.Error != "" {
			var refused *PolicyError
			require.ErrorAs(t, err, &refused, c.Document)
			require.Equal(t, &PolicyError{c.Place, c.Offset, c.Error}, refused)
			continue
		}
		require.NoError(t, err)
		s := subject(t, engine, c.Email, Found(c.Lookup()))
		if c.Disposable {
			s.Facts.Set |= Disposable
		}
		s.Exchanges = strings.Join(c.Exchanges, " ")
		got, err := engine.View().Verdict(t.Context(), []byte("before"), p, s)
		require.NoError(t, err)
		require.Equal(t, "before"+string(c.Verdict), string(got), "%s %s", c.Document, c.Email)
		subjects[c.Document], want[c.Document] = append(subjects[c.Document], s), append(want[c.Document], string(c.Verdict))
	}
	for document, all := range subjects {
		require.NoError(t, engine.View().Verdicts(t.Context(), newPolicy(t, engine, document), all, func(n int, verdict []byte) {
			require.Equal(t, want[document][n], string(verdict))
		}))
	}
	require.Zero(t, engine.Stats().Trapped)
}

// The bits of Found are those of core/policy.
func TestFound(t *testing.T) {
	require.Equal(t, []Found{LookedUp, HasMX, AddressLookedUp, FoundAddressRecord},
		[]Found{Found(policy.LookedUp), Found(policy.HasMX), Found(policy.AddressLookedUp), Found(policy.HasAddress)})
	require.Equal(t, LookedUp|HasMX, Lookup{MX: true}.Found())
	require.Equal(t, LookedUp|AddressLookedUp|FoundAddressRecord, Lookup{AddressRecord: AddressPresent}.Found())
	require.Equal(t, LookedUp|AddressLookedUp, Lookup{AddressRecord: AddressAbsent}.Found())
	require.Equal(t, LookedUp, Lookup{}.Found(), "the address record is not known")
}

func TestPolicyError(t *testing.T) {
	engine := newEngine(t, moduletest.Bytes(t), 1)
	_, err := engine.NewPolicy(t.Context(), `{"block":{"reasons":["role","disposible"]}}`)
	require.Equal(t, &PolicyError{"block.reasons[1]", 28, `block.reasons[1]: "disposible" is no reason; did you mean "disposable"?`}, err)
	_, err = engine.NewPolicy(t.Context(), strings.Repeat(" ", policy.MaxDocument+1))
	require.Equal(t, &PolicyError{"the document", 0, "the document: it has more than 2665536 bytes"}, err)
	_, err = engine.NewPolicy(t.Context(), "")
	require.Error(t, err)
	newPolicy(t, engine, `{}`)
	require.Zero(t, engine.Stats().Trapped, "the module is intact")
}

// More subjects than one call takes are decided in order.
func TestManyVerdicts(t *testing.T) {
	engine := newEngine(t, moduletest.Bytes(t), 1)
	p := newPolicy(t, engine, `{"block":{"domains":["a.example"]}}`)
	list := []Subject{subject(t, engine, "jane@a.example", 0), subject(t, engine, "jane@iana.org", 0)}
	subjects := make([]Subject, 3_000)
	for n := range subjects {
		subjects[n] = list[n%3/2]
	}
	next := 0
	require.NoError(t, engine.View().Verdicts(t.Context(), p, subjects, func(n int, verdict []byte) {
		require.Equal(t, next, n)
		require.Equal(t, n%3 < 2, strings.Contains(string(verdict), "block"))
		next++
	}))
	require.Equal(t, len(subjects), next)
	require.NoError(t, engine.View().Verdicts(t.Context(), p, nil, nil))
}

func TestAppendVerdict(t *testing.T) {
	require.Equal(t, `{"email":"a","verdict":{"action":"allow"}}`, string(AppendVerdict([]byte(`{"email":"a"}`), []byte(`{"action":"allow"}`))))
}

// numbered is a policy that disagrees with every other one: the verdict on same.example has its
// number, and whether it is even.
func numbered(n int) (document, verdict string) {
	list := []string{"allow", "block"}[n%2]
	var domains strings.Builder
	for i := range n {
		domains.WriteString(`"` + strconv.Itoa(i) + `.example",`)
	}
	document = `{"` + list + `":{"domains":[` + domains.String() + `"same.example"]}}`
	return document, `{"action":"` + list + `","reason":"domain","rule":"` + list + `.domains[` + strconv.Itoa(n) + `]"}`
}

// Accounts with policies that disagree share instances, which fail again and again and keep
// fewer policies than there are accounts, while the lists are replaced: each verdict is that of
// the account's own policy.
func TestPoliciesDoNotMix(t *testing.T) {
	engine := newEngine(t, moduletest.Fragile(t), 2)
	s := subject(t, engine, "jane@same.example", 0)
	const count = maxHandles + 6
	var policies [count]*Policy
	var want [count]string
	for n := range policies {
		document, verdict := numbered(n)
		policies[n], want[n] = newPolicy(t, engine, document), verdict
	}
	rounds := 300
	if testing.Short() {
		rounds = 25
	}
	var callers sync.WaitGroup
	for seed := range uint64(8) {
		callers.Go(func() {
			random := rand.New(rand.NewPCG(seed, 30))
			for range rounds {
				n := random.IntN(count)
				if random.IntN(2) == 0 {
					n = int(seed % 2) // two of them are in use all the time
				}
				err := engine.View().Verdicts(context.Background(), policies[n], []Subject{s, s}, func(_ int, verdict []byte) {
					require.Equal(t, want[n], string(verdict))
				})
				require.NoError(t, err)
				if random.IntN(20) == 0 {
					_, err := engine.Check(context.Background(), nil, "!", 0)
					require.Error(t, err, "the instance is discarded, with its policies")
				}
			}
		})
	}
	for range 5 {
		require.NoError(t, engine.SetLists(context.Background(), nil))
	}
	callers.Wait()
	require.Positive(t, engine.Stats().Trapped)
}

// large returns a document of more than 1 MiB, which differs with n.
func large(n int) string {
	name := "." + strings.Repeat("d", 60) + "." + strings.Repeat("e", 60) + ".example"
	var list strings.Builder
	for i := range 9_000 {
		list.WriteString(`,"` + strconv.Itoa(i) + name + `"`)
	}
	return `{"block":{"domains":["p` + strconv.Itoa(n) + `.example"` + list.String() + `]}}`
}

// A policy that the module has evicted is loaded again, and one that it has is not.
func TestEvicted(t *testing.T) {
	engine := newEngine(t, moduletest.Bytes(t), 1)
	i := engine.View().pool.idle[0]
	use := func(document, email, want string) uint32 {
		p := newPolicy(t, engine, document)
		got, err := engine.View().Verdict(t.Context(), nil, p, subject(t, engine, email, 0))
		require.NoError(t, err)
		require.Equal(t, want, string(got))
		return i.handles[p.hash]
	}
	document, want := numbered(7)
	first := use(document, "jane@same.example", want)
	require.Equal(t, first, use(document, "jane@same.example", want))
	for n := range 4 {
		use(large(n), "jane@p"+strconv.Itoa(n)+".example", `{"action":"block","reason":"domain","rule":"block.domains[0]"}`)
	}
	_, err := engine.NewPolicy(t.Context(), "{")
	require.Error(t, err)
	require.Greater(t, use(document, "jane@same.example", want), first+4, "no handle is used again")
	require.Zero(t, engine.Stats().Trapped)
}

// FuzzReadVerdicts reads verdicts of any bytes, as a defective module may write.
func FuzzReadVerdicts(f *testing.F) {
	f.Add([]byte("\x02\x00\x00\x00{}"), 1)
	f.Add([]byte("\x02\x00\x00\x00{}\x00\x00\x00\x00"), 1)
	f.Add([]byte("\xff\xff\xff\xff{}"), 2)
	f.Fuzz(func(t *testing.T, output []byte, count int) {
		calls, length := 0, 0
		err := readVerdicts(output, count, func(verdict []byte) { calls, length = calls+1, length+4+len(verdict) })
		if err != nil {
			require.True(t, isTrap(err))
			return
		}
		require.Equal(t, []int{max(count, 0), len(output)}, []int{calls, length})
	})
}

// Facts keep what a policy needs of an address that was checked among others.
func TestVerdictAfterCheckMany(t *testing.T) {
	engine := newEngine(t, moduletest.Bytes(t), 1)
	var kept []Facts
	require.NoError(t, engine.View().CheckMany(t.Context(), []string{"hr@iana.org", `"a b"@iana.cmo`}, 0, func(_ int, f Facts) { kept = append(kept, f.Keep(nil)) }))
	p := newPolicy(t, engine, `{"block":{"reasons":["role:hr","quoted"]}}`)
	require.NoError(t, engine.View().Verdicts(t.Context(), p, []Subject{{Facts: &kept[0]}, {Facts: &kept[1]}}, func(n int, verdict []byte) {
		require.Contains(t, string(verdict), `"block.reasons[`+strconv.Itoa(n)+`]"`)
	}))
}

// Two instances share policies that do not fit one: each policy is loaded once.
func TestInstancesSharePolicies(t *testing.T) {
	engine := newEngine(t, moduletest.Bytes(t), 2)
	pool := engine.View().pool
	require.NoError(t, pool.fill(t.Context()))
	var policies []*Policy
	for n := range 2 * maxHandles {
		document, _ := numbered(n)
		policies = append(policies, newPolicy(t, engine, document))
	}
	for range 2 {
		for _, p := range policies {
			_, err := engine.View().Verdict(t.Context(), nil, p, subject(t, engine, "jane@same.example", 0))
			require.NoError(t, err)
		}
	}
	require.Len(t, pool.idle, 2)
	for n, p := range policies {
		_, first := pool.idle[0].handles[p.hash]
		_, second := pool.idle[1].handles[p.hash]
		require.True(t, first != second, "policy %d is in one instance: %v, %v", n, first, second)
	}
}

// Whether a policy wants the address record is known without another look at its document.
func TestWantsAddress(t *testing.T) {
	engine := newEngine(t, moduletest.Bytes(t), 1)
	for document, want := range map[string]bool{
		`{"block":{"reasons":["no_mail"]}}`:      true,
		`{"block":{"reasons":["no\u005fmail"]}}`: true,
		`{"block":{"reasons":["no_mx"]}}`:        false,
	} {
		p := newPolicy(t, engine, document)
		p.document = ""
		require.Equal(t, want, p.WantsAddress(), document)
	}
	require.False(t, (*Policy)(nil).WantsAddress())
}

// Whether a policy has exchanges is known from its members alone.
func TestHasExchanges(t *testing.T) {
	engine := newEngine(t, moduletest.Bytes(t), 1)
	for document, want := range map[string]bool{
		`{"allow":{},"review":{"exchanges":["mx.a.example"]}}`:                   true,
		`{"block":{"e\u0078changes":["*.a.example"],"domains":["b.example"]}}`:   true,
		`{"block":{"exchanges":[],"domains":["exchanges"],"reasons":["no_mx"]}}`: false,
		`{}`: false,
	} {
		require.Equal(t, want, newPolicy(t, engine, document).HasExchanges(), document)
	}
}

// An address literal has no domain, so it has no exchange whatever is passed, and mail goes
// to it.
func TestLiteralNeedsNoLookup(t *testing.T) {
	engine := newEngine(t, moduletest.Bytes(t), 1)
	p := newPolicy(t, engine, `{"block":{"reasons":["no_mail"]},"review":{"reasons":["no_mx"]}}`)
	for _, found := range []Found{0, Lookup{}.Found(), Lookup{MX: true}.Found()} {
		got, err := engine.View().Verdict(t.Context(), nil, p, subject(t, engine, "jane@[192.0.2.1]", found))
		require.NoError(t, err)
		require.Equal(t, `{"action":"review","reason":"no_mx","rule":"review.reasons[0]"}`, string(got))
	}
}

// BenchmarkVerdict compares a verdict with the check before it.
func BenchmarkVerdict(b *testing.B) {
	engine := newEngine(b, moduletest.Bytes(b), 1)
	var many strings.Builder
	for n := range 10_000 {
		many.WriteString(`"customer-` + strconv.Itoa(n) + `.example",`)
	}
	reasons := `"reasons":["disposable","gibberish>=0.8","no_mail"]},"review":{"reasons":["role","relay","typo","unknown_tld"]}}`
	policies := map[string]*Policy{
		"ten rules":      newPolicy(b, engine, `{"allow":{"domains":["partner.example","*.corp.example"]},"block":{"domains":["spam.example"],`+reasons),
		"10,000 domains": newPolicy(b, engine, `{"block":{"domains":[`+strings.TrimSuffix(many.String(), ",")+`],`+reasons),
	}
	const batch = 64
	emails := make([]string, batch)
	subjects := make([]Subject, batch)
	for n := range emails {
		emails[n] = []string{"jane.doe@iana.org", "hans.mueller@stadtwerke-muenchen.de", "user1234@yahoo.co.uk"}[n%3]
		subjects[n] = subject(b, engine, emails[n], LookedUp|HasMX)
	}
	var line []byte
	var err error
	b.Run("check", func(b *testing.B) {
		b.ReportAllocs()
		var facts Facts
		for n := 0; b.Loop(); n++ {
			if facts, err = engine.Check(context.Background(), facts.JSON[:0], emails[n%batch], 0); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("check 64", func(b *testing.B) {
		for b.Loop() {
			if err = engine.View().CheckMany(context.Background(), emails, 0, func(_ int, f Facts) { line = append(line[:0], f.JSON...) }); err != nil {
				b.Fatal(err)
			}
		}
	})
	for name, p := range policies {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				if line, err = engine.View().Verdict(context.Background(), line[:0], p, subjects[n%batch]); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+" 64", func(b *testing.B) {
			for b.Loop() {
				if err = engine.View().Verdicts(context.Background(), p, subjects, func(_ int, v []byte) { line = append(line[:0], v...) }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Policies and verdicts leave the first page zero, as checks do.
func TestPoliciesLeaveTheFirstPageZero(t *testing.T) {
	engine := newEngine(t, moduletest.Bytes(t), 1)
	for n := range maxHandles + 2 {
		document, _ := numbered(n)
		_, err := engine.View().Verdict(t.Context(), nil, newPolicy(t, engine, document), subject(t, engine, "info@same.example", 0))
		require.NoError(t, err)
	}
	_, err := engine.NewPolicy(t.Context(), `{"blok":{}}`)
	require.Error(t, err)
	page, ok := engine.View().pool.idle[0].module.Memory().Read(0, flow.ZeroPage)
	require.True(t, ok)
	require.Equal(t, make([]byte, flow.ZeroPage), page)
}
