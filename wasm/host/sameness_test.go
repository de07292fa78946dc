package host_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/moduletest"
	"github.com/addrspec/addrspec/wasm/vectors"
)

// Native core, the plain module and the packed one give the same bytes. Nothing
// here is concurrent, so the run under the race detector leaves it out.
func TestEveryBuildGivesTheSameAnswers(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without -short compares 50,000 addresses")
	}
	for name, wasm := range map[string][]byte{"plain": moduletest.Plain(t), "packed": moduletest.Bytes(t)} {
		t.Run(name, func(t *testing.T) {
			engine := newEngine(t, wasm, host.Options{Size: 1})
			same := sameAs(t, engine)
			for i, email := range vectors.Generate(1, 50_000) {
				same(t, email, host.Flags(i&1))
			}
			golden, err := vectors.Read("../vectors")
			require.NoError(t, err)
			for path, list := range golden {
				for _, v := range list {
					answer, err := engine.Check(t.Context(), nil, v.Email, 0)
					require.NoError(t, err)
					require.Equal(t, v.Answer, string(answer.JSON), path)
				}
			}
		})
	}
}

// FuzzCheck compares native core with the module.
func FuzzCheck(f *testing.F) {
	for _, email := range vectors.Generate(2, 100) { // a few of each kind
		f.Add(email, false)
	}
	f.Add("jane@gmial.com", true) // the whole address as the suggestion
	engine := newEngine(f, moduletest.Bytes(f), host.Options{Size: 1})
	same := sameAs(f, engine)
	f.Fuzz(func(t *testing.T, email string, full bool) {
		var flags host.Flags
		if full {
			flags = host.FullSuggestion
		}
		same(t, email, flags)
	})
}

// sameAs returns a function that requires the same answer of engine and core.
func sameAs(t testing.TB, engine *host.Engine) func(t testing.TB, email string, flags host.Flags) {
	native, report, view := vectors.Native(), vectors.NativeReport(), engine.View()
	var buffer []byte
	return func(t testing.TB, email string, flags host.Flags) {
		answer, err := view.Check(context.Background(), buffer[:0], email, flags)
		if err != nil {
			require.NoError(t, err, "%q", email)
		}
		buffer = answer.JSON
		if want := native(email, flags == host.FullSuggestion); string(want) != string(answer.JSON) {
			require.Equal(t, string(want), string(answer.JSON), "%q", email)
		}
		if want := report(email); want != reported(&answer, email) {
			require.Equal(t, want, reported(&answer, email))
		}
	}
}

// reported is the answer's report, and checks the places that it names.
func reported(a *host.Answer, email string) vectors.Report {
	if !bytes.HasPrefix(a.JSON[a.MXAt:], []byte(`false,"disposable":`)) ||
		!bytes.HasPrefix(a.JSON[len(`{"email":`)+len(a.Email):], []byte(`,"valid":`)) {
		panic("a place in the report is wrong: " + string(a.JSON))
	}
	r := a.Refusal
	return vectors.Report{Email: email, Valid: a.Valid, Host: a.Host,
		Code: r.Code, Offset: r.Offset, Section: r.Section, Sentence: r.Sentence}
}
