package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/moduletest"
	"github.com/addrspec/addrspec/wasm/vectors"
)

// Package core, the plain module and the packed one must give the same bytes.
// With -short only the packed one is compared, which hosts run.
func TestModuleMatchesCore(t *testing.T) {
	count := 50_000
	if testing.Short() {
		count = 2_000
	}
	modules := map[string][]byte{"packed": moduletest.Bytes(t)}
	if !testing.Short() {
		modules["plain"] = moduletest.Plain(t)
	}
	for name, wasm := range modules {
		t.Run(name, func(t *testing.T) {
			engine := newEngine(t, wasm, host.Options{Size: 1})
			same := requireSame(t, engine)
			for i, email := range vectors.Generate(1, count) {
				same(t, email, host.Flags(i&3))
			}
			requireGolden(t, engine, vectors.Read, 0)
			requireGolden(t, engine, vectors.ReadDetails, host.Details)
		})
	}
}

// requireGolden requires the golden results that read returns, which are for flags.
func requireGolden(t *testing.T, engine *host.Engine, read func(dir string) (map[string][]vectors.Vector, error), flags host.Flags) {
	golden, err := read("../vectors")
	require.NoError(t, err)
	for path, list := range golden {
		for _, v := range list {
			facts, err := engine.Check(t.Context(), nil, v.Email, flags)
			require.NoError(t, err)
			require.Equal(t, v.Result, string(facts.JSON), path)
		}
	}
}

// FuzzCheck compares package core with the module.
func FuzzCheck(f *testing.F) {
	for _, email := range vectors.Generate(2, 100) { // a few of each kind
		f.Add(email, uint8(0))
	}
	f.Add("jane@gmial.com", uint8(host.FullSuggestion)) // the whole address as the suggestion
	f.Add("j.doe+x@googlemail.com", uint8(host.Details))
	f.Add("a\"@gmail.com", uint8(host.Details|host.FullSuggestion))
	engine := newEngine(f, moduletest.Bytes(f), host.Options{Size: 1})
	same := requireSame(f, engine)
	f.Fuzz(func(t *testing.T, email string, flags uint8) {
		same(t, email, host.Flags(flags)&(host.FullSuggestion|host.Details))
	})
}

// requireSame returns a function that requires the same facts from engine and
// package core.
func requireSame(t testing.TB, engine *host.Engine) func(t testing.TB, email string, flags host.Flags) {
	native, report, view := vectors.NativeWith(), vectors.NativeReport(), engine.View()
	var buffer []byte
	return func(t testing.TB, email string, flags host.Flags) {
		facts, err := view.Check(context.Background(), buffer[:0], email, flags)
		if err != nil {
			require.NoError(t, err, "%q", email)
		}
		buffer = facts.JSON
		if want := native(email, flags&host.FullSuggestion != 0, flags&host.Details != 0); string(want) != string(facts.JSON) {
			require.Equal(t, string(want), string(facts.JSON), "%q", email)
		}
		if want := report(email); want != reported(&facts, email) {
			require.Equal(t, want, reported(&facts, email))
		}
	}
}

// reported returns the report in f. It panics if an offset in the report is wrong.
func reported(f *host.Facts, email string) vectors.Report {
	mx := map[bool]string{true: "false", false: "null"}[f.Host == ""]
	if string(f.JSON[f.MX.At:][:f.MX.Length]) != mx || !bytes.HasSuffix(f.JSON[:f.MX.At], []byte(`,"mx":`)) ||
		!bytes.HasPrefix(f.JSON[len(`{"email":`)+len(f.Email):], []byte(`,"valid":`)) {
		panic("an offset in the report is wrong: " + string(f.JSON))
	}
	r := f.Refusal
	return vectors.Report{Email: email, Valid: f.Valid, Host: f.Host,
		Code: r.Code, Offset: r.Offset, Section: r.Section, Sentence: r.Sentence}
}

// The bits of the report are the booleans of the JSON, alone and in bulk.
func TestFactsAreThoseOfJSON(t *testing.T) {
	engine := newEngine(t, moduletest.Bytes(t), host.Options{Size: 1})
	emails := append(vectors.Generate(4, 1000), "info+x@gmial.com", "a@mailinator.com", "a@duck.com", "xkqjzvwq@gmail.com")
	seen := host.Fact(0)
	require.NoError(t, engine.View().CheckMany(t.Context(), emails, 0, func(n int, f host.Facts) {
		var members map[string]any
		require.NoError(t, json.Unmarshal(f.JSON, &members))
		var want host.Fact
		for bit, name := range []string{"valid", "alias", "ascii", "role", "gibberish", "disposable", "public", "relay", "typo"} {
			if value := members[name]; value != nil && value != false {
				want |= 1 << bit
			}
		}
		require.Equal(t, want, f.Set&^host.Classed, emails[n])
		seen |= want
	}))
	require.Equal(t, host.Typo<<1-1, seen, "every fact is true of an address")
}
