package host_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

// resolved returns the result for an address after a lookup.
func resolved(t testing.TB, v *host.View, email string, flags host.Flags, l host.Lookup) (facts host.Facts, result string) {
	facts, err := v.Check(context.Background(), nil, email, flags)
	require.NoError(t, err)
	require.NoError(t, v.Resolve(context.Background(), &facts, l))
	appended := string(facts.AppendResult(nil))
	require.Equal(t, appended, string(facts.Result()))
	return facts, appended
}

// A domain without a class and without a typo is disposable if all of its exchanges are.
// No other byte of the result changes.
func TestDisposableByExchange(t *testing.T) {
	view := newEngine(t, moduletest.Bytes(t), host.Options{Size: 1}).View()
	for _, c := range []struct {
		email, exchanges string
		disposable       bool
	}{
		{"jane@burner.example", "mail.mailinator.com", true},
		{"jane@burner.example", "mail.mailinator.com mx.yopmail.com", true},
		{"jane@burner.example", "mail.mailinator.com mx.shop.test", false},
		{"jane@burner.example", "mail.mailinator.com *", false},
		{"jane@burner.example", "mx.burner.example", false},
		{"jane@burner.example", "aspmx.l.google.com", false},
		{"jane@burner.example", "", false},
		{"jane@gmail.com", "mail.mailinator.com", false},                // public
		{"jane@duck.com", "mail.mailinator.com", false},                 // relay
		{"jane@ibm.com", "mail.mailinator.com", false},                  // known
		{"jane@users.noreply.github.com", "mail.mailinator.com", false}, // takes no mail
		{"jane@noreply.burner.example", "mail.mailinator.com", false},   // likewise, by its name
		{"jane@gmial.com", "mail.mailinator.com", false},                // a typo
		{"jane@mailinator.com", "mail.mailinator.com", true},            // by name, whatever its exchange
		{"jane@mailinator.com", "aspmx.l.google.com", true},             // likewise
	} {
		l := host.Lookup{MX: c.exchanges != "", Exchanges: c.exchanges}
		facts, result := resolved(t, view, c.email, 0, l)
		require.Equal(t, c.disposable, facts.Has(host.Disposable), c)
		require.Contains(t, result, fmt.Sprintf(`"disposable":%t,`, c.disposable), c)
		_, plain := resolved(t, view, c.email, 0, host.Lookup{MX: l.MX})
		require.Equal(t, plain, strings.Replace(result, `"disposable":true`, plain[strings.Index(plain, `"disposable"`):strings.Index(plain, `,"public"`)], 1))

		_, detailed := resolved(t, view, c.email, host.Details, l)
		require.Equal(t, result[:len(result)-1], detailed[:len(result)-1], "details change no other byte")
		require.True(t, json.Valid([]byte(detailed)))
		x, err := view.Exchange(context.Background(), facts.Host, l)
		require.NoError(t, err)
		require.True(t, strings.HasSuffix(detailed, `,"exchange":`+x.JSON+`}}`), detailed)
	}
}

func TestAddressRecordInDetails(t *testing.T) {
	view := newEngine(t, moduletest.Bytes(t), host.Options{Size: 1}).View()
	for record, want := range map[host.AddressRecord]string{host.AddressUnknown: "null", host.AddressAbsent: "false", host.AddressPresent: "true"} {
		_, result := resolved(t, view, "jane@shop.example", host.Details, host.Lookup{AddressRecord: record})
		require.Contains(t, result, `"exchange":{"class":"unknown","provider":null,"entry":null,"host":null,"address_record":`+want+`}}}`)
	}
	facts, err := view.Check(context.Background(), nil, "jane@shop.example", host.Details)
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(string(facts.JSON), `,"exchange":null}}`), "nothing was looked up")
	require.Equal(t, "null", string(facts.JSON[facts.Exchange.At:][:facts.Exchange.Length]))
}

// What a View remembers is what the module says, however many sets there are.
func TestExchangesAreRemembered(t *testing.T) {
	engine := newEngine(t, moduletest.Bytes(t), host.Options{Size: 1})
	view, checker := engine.View(), core.New(lists.Default())
	for n := range 6000 {
		exchanges := fmt.Sprintf("mx%d.mailinator.com", n%5000)
		x := checker.Exchanges([]byte("burner.example"))
		x.Add([]byte(exchanges))
		got, err := view.Exchange(context.Background(), "burner.example", host.Lookup{MX: true, Exchanges: exchanges})
		require.NoError(t, err)
		require.Equal(t, host.Exchange{Temporary: true, JSON: string(x.AppendJSON(nil, core.AddressUnknown))}, got)
	}
	calls := engine.Stats().Calls
	for range 100 { // remembered, for any host whose own they are not
		_, err := view.Exchange(context.Background(), "other.example", host.Lookup{MX: true, Exchanges: "mx999.mailinator.com"})
		require.NoError(t, err)
	}
	require.Equal(t, calls, engine.Stats().Calls)
	got, err := view.Exchange(context.Background(), "mx999.mailinator.com", host.Lookup{MX: true, Exchanges: "mx999.mailinator.com"})
	require.NoError(t, err)
	require.False(t, got.Temporary, "its own")
}

// A remembered set allocates nothing.
func TestRememberedExchangesAllocateNothing(t *testing.T) {
	view := newEngine(t, moduletest.Bytes(t), host.Options{Size: 1}).View()
	l := host.Lookup{MX: true, Exchanges: "aspmx.l.google.com alt1.aspmx.l.google.com"}
	facts, err := view.Check(context.Background(), nil, "jane@shop.example", 0)
	require.NoError(t, err)
	require.Zero(t, testing.AllocsPerRun(100, func() { require.NoError(t, view.Resolve(context.Background(), &facts, l)) }))
}

// New lists decide about exchanges that the old ones knew, also while callers check.
func TestExchangesAfterNewLists(t *testing.T) {
	engine := newEngine(t, moduletest.Bytes(t), host.Options{Size: 2})
	old, renamed := lists.Default().Version(), renamedProvider(t)
	ctx, stop := context.WithCancel(context.Background())
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for ctx.Err() == nil {
				view := engine.View()
				x, err := view.Exchange(context.Background(), "shop.example", host.Lookup{MX: true, Exchanges: "aspmx.l.google.com"})
				assert.NoError(t, err)
				assert.Equal(t, view.Info().Lists == old, strings.Contains(x.JSON, `"Google Workspace"`), x.JSON)
			}
		})
	}
	for range 20 {
		require.NoError(t, engine.SetLists(context.Background(), renamed))
		require.NoError(t, engine.SetLists(context.Background(), nil))
	}
	stop()
	group.Wait()
}

// renamedProvider returns the lists with another name for the provider of an exchange.
func renamedProvider(t testing.TB) []byte {
	blob := bytes.Replace(lists.Blob(), []byte("Google Workspace"), []byte("Goggle Workspace"), 1)
	require.NotEqual(t, lists.Blob(), blob)
	const checksumAt = len("addrspec") + 1
	binary.LittleEndian.PutUint32(blob[checksumAt:], crc32.ChecksumIEEE(blob[checksumAt+4:]))
	return blob
}

// Names of any length and content are passed on, and are no way out of the buffer.
func FuzzExchange(f *testing.F) {
	view, checker := newEngine(f, moduletest.Bytes(f), host.Options{Size: 1}).View(), core.New(lists.Default())
	f.Add("burner.example", "mail.mailinator.com", byte(host.AddressAbsent))
	f.Add("shop.example", "aspmx.l.google.com alt1.aspmx.l.google.com", byte(host.AddressPresent))
	f.Add("burner.example", " ", byte(host.AddressAbsent))
	f.Add("shop.example", " ", byte(host.AddressPresent))
	f.Add("shop.example", "", byte(host.AddressUnknown))
	f.Add("b", "b\fa", byte(host.AddressAbsent))
	f.Add("c", "b\fa", byte(host.AddressAbsent))
	f.Add("", "  * \xff", byte(host.AddressPresent))
	f.Add(strings.Repeat("a", 300), strings.Repeat("b ", 300), byte(host.AddressPresent))
	f.Fuzz(func(t *testing.T, name, exchanges string, record byte) {
		record %= 3
		x := checker.Exchanges([]byte(name))
		for exchange := range strings.FieldsSeq(exchanges) {
			x.Add([]byte(exchange))
		}
		got, err := view.Exchange(context.Background(), name, host.Lookup{Exchanges: exchanges, AddressRecord: host.AddressRecord(record)})
		require.NoError(t, err)
		require.Equal(t, string(x.AppendJSON(nil, core.AddressRecord(record))), got.JSON)
		require.Equal(t, x.Disposable(), got.Temporary)
	})
}

func BenchmarkExchange(b *testing.B) {
	view := newEngine(b, moduletest.Bytes(b), host.Options{Size: 1}).View()
	for name, exchanges := range map[string]string{
		"own":        "mx.shop.example",
		"remembered": "aspmx.l.google.com alt1.aspmx.l.google.com alt2.aspmx.l.google.com",
	} {
		b.Run(name, func(b *testing.B) {
			l := host.Lookup{MX: true, Exchanges: exchanges}
			facts, err := view.Check(context.Background(), nil, "jane@shop.example", 0)
			require.NoError(b, err)
			b.ReportAllocs()
			for b.Loop() {
				if err := view.Resolve(context.Background(), &facts, l); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
