package main_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/wasm/moduletest"
	"github.com/addrspec/addrspec/wasm/vectors"
)

// guest is an instance of the module. Its methods pass any arguments, as a
// hostile host might.
type guest struct {
	api.Module
	in, inCap, out, outCap, report uint32
}

func start(t testing.TB) *guest {
	t.Helper()
	ctx := context.Background()
	cache, err := wazero.NewCompilationCacheWithDir(moduletest.CacheDir())
	require.NoError(t, err)
	runtime := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCompilationCache(cache))
	t.Cleanup(func() { runtime.Close(ctx) })
	module, err := runtime.Instantiate(ctx, moduletest.Bytes(t))
	require.NoError(t, err)
	g := &guest{Module: module}
	for name, value := range map[string]*uint32{"in_ptr": &g.in, "in_cap": &g.inCap,
		"out_ptr": &g.out, "out_cap": &g.outCap, "report_ptr": &g.report} {
		*value = uint32(g.call(t, name))
	}
	return g
}

// call calls an export; a trap fails the test.
func (g *guest) call(t testing.TB, name string, params ...int32) int32 {
	raw := make([]uint64, len(params))
	for n, p := range params {
		raw[n] = api.EncodeI32(p)
	}
	result, err := g.ExportedFunction("addrspec_"+name).Call(context.Background(), raw...)
	if err != nil {
		require.NoError(t, err, "%s%v trapped", name, params)
	}
	return int32(result[0])
}

// write copies as much of s to the input as fits and returns its length.
func (g *guest) write(s []byte) int32 {
	s = s[:min(len(s), int(g.inCap))]
	g.Memory().Write(g.in, s)
	return int32(len(s))
}

// requireJSON requires n bytes of valid JSON in the output.
func (g *guest) requireJSON(t testing.TB, n int32) {
	require.LessOrEqual(t, n, int32(g.outCap))
	result, ok := g.Memory().Read(g.out, uint32(n))
	require.True(t, ok)
	require.True(t, json.Valid(result), "%q", result)
}

// requireReport requires the texts of the report to be within the output.
func (g *guest) requireReport(t testing.TB) {
	for _, word := range []uint32{3, 5, 7, 9, 13, 15, 17} {
		at, _ := g.Memory().ReadUint32Le(g.report + 4*word)
		length, _ := g.Memory().ReadUint32Le(g.report + 4*word + 4)
		require.LessOrEqual(t, uint64(at)+uint64(length), uint64(g.outCap))
	}
}

// The places of mx and disposable are those of their values, whatever these are.
func TestPlacesOfValues(t *testing.T) {
	g := start(t)
	word := func(n uint32) uint32 {
		value, _ := g.Memory().ReadUint32Le(g.report + 4*n)
		return value
	}
	for _, email := range append(vectors.Generate(9, 500), "a@mailinator.com", "a@gmail.com", "a@[192.0.2.1]", "") {
		for flags := range int32(4) {
			result := g.output(t, g.call(t, "check", g.write([]byte(email)), flags))
			var members struct {
				MX, Disposable json.RawMessage
				Details        struct{ Exchange json.RawMessage }
			}
			require.NoError(t, json.Unmarshal(result, &members))
			require.Equal(t, string(members.MX), string(result[word(3):][:word(4)]))
			require.Equal(t, string(members.Disposable), string(result[word(5):][:word(6)]))
			require.Equal(t, word(10) == 0, string(members.MX) == "false", "without a host mx is false, else null")
			if flags&2 != 0 && word(10) > 0 {
				require.Equal(t, "null", string(members.Details.Exchange))
				require.Equal(t, `,"exchange":`, string(result[:word(7)][word(7)-12:]))
				require.Equal(t, "null}}", string(result[word(7):]))
				require.EqualValues(t, 4, word(8))
			} else {
				require.Zero(t, word(7)|word(8), "there is no value to write")
			}
			require.Zero(t, word(19)|word(20)|word(21)|word(22)|word(23), "reserved")
		}
	}
}

// The exchanges of a host are those that core knows, in an output after a word.
func TestExchanges(t *testing.T) {
	g, checker := start(t), core.New(lists.Default())
	for _, names := range [][]string{
		{"shop.example"},
		{"shop.example", "aspmx.l.google.com"},
		{"burner.example", "mail.mailinator.com", "mx.yopmail.com"},
		{"burner.example", "mail.mailinator.com", ""},
		{"", ""},
		append([]string{"burner.example"}, slices.Repeat([]string{"mail.mailinator.com"}, 40_000)...),
	} {
		for flags, record := range []core.AddressRecord{core.AddressAbsent, core.AddressPresent, core.AddressUnknown, core.AddressUnknown} {
			x := checker.Exchanges([]byte(names[0]))
			for _, name := range names[1:] {
				x.Add([]byte(name))
			}
			result := g.output(t, g.call(t, "exchanges", g.write(frames(names...)), int32(flags)))
			require.Equal(t, string(x.AppendJSON(nil, record)), string(result[4:]))
			require.Equal(t, x.Disposable(), binary.LittleEndian.Uint32(result) == 1)
		}
	}
	for _, input := range []string{"", "\x01", "\x01\x00\x00\x00", string(frames("a", "b")) + "\x00"} {
		require.EqualValues(t, framing, g.call(t, "exchanges", g.write([]byte(input)), 0), "%q", input)
	}
	require.EqualValues(t, unknownFlag, g.call(t, "exchanges", 0, 4))
	require.EqualValues(t, tooLong, g.call(t, "exchanges", -1, 0))
}

const (
	tooLong     = -1
	unknownFlag = -2
	refused     = -4
	listsSize   = -5
	framing     = -6
)

// memoryBound limits the linear memory: 10 MB of data and buffers, and twice the
// largest lists plus the garbage from gathering them.
const memoryBound = 48 << 20

// FuzzExports calls the exports with any input, length, flags and lists. They must
// not trap or panic, must return only results of the interface, and must not
// allocate memory without bound.
func FuzzExports(f *testing.F) {
	f.Add([]byte("jane@example.org"), int32(16), int32(0), []byte("addrspec\x01"), int32(0))                // a normal call
	f.Add([]byte("jane@example.org"), int32(4), int32(1), []byte{}, int32(0))                               // a length below that of the input
	f.Add([]byte("a\"@b"), int32(4), int32(3), []byte{}, int32(0))                                          // details of a refusal
	f.Add([]byte("a@b"), int32(-1), int32(0), []byte("x"), int32(-1))                                       // negative lengths
	f.Add([]byte("a@b"), int32(1<<20+1), int32(0), []byte("x"), int32(1<<20+1))                             // lengths over the capacity
	f.Add([]byte("a@b"), int32(1<<20), int32(0), []byte("x"), int32(1<<20))                                 // a length that includes old bytes
	f.Add([]byte("a@b"), int32(3), int32(-1<<31), []byte("x"), int32(1))                                    // an unknown flag
	f.Add(frames("shop.example", "mail.mailinator.com"), int32(4+12+4+19), int32(1), []byte("x"), int32(1)) // exchanges
	f.Add([]byte("\xff\x00\n\"\\"), int32(5), int32(0), []byte("x"), int32(1))                              // bytes that JSON escapes
	g := start(f)
	f.Fuzz(func(t *testing.T, email []byte, length, flags int32, lists []byte, listsLength int32) {
		g.write(email)
		switch n := g.call(t, "check", length, flags); {
		case n >= 0:
			g.requireJSON(t, n)
			g.requireReport(t)
		case length < 0 || length > int32(g.inCap):
			require.EqualValues(t, tooLong, n)
		default:
			require.EqualValues(t, unknownFlag, n)
			require.NotZero(t, flags&^3)
		}
		switch n := g.call(t, "exchanges", length, flags); {
		case n >= 4:
			result := g.output(t, n)
			require.True(t, json.Valid(result[4:]), "%q", result)
			require.LessOrEqual(t, binary.LittleEndian.Uint32(result), uint32(1))
		case length < 0 || length > int32(g.inCap):
			require.EqualValues(t, tooLong, n)
		case flags&^3 != 0:
			require.EqualValues(t, unknownFlag, n)
		default:
			require.EqualValues(t, framing, n)
		}
		g.write(lists)
		require.Contains(t, []int32{0, tooLong, refused, listsSize}, g.call(t, "lists", listsLength))
		g.requireJSON(t, g.call(t, "info"))
		require.Less(t, g.Memory().Size(), uint32(memoryBound))
	})
}

// A check without details does not allocate, so the memory must not grow.
// ADDRSPEC_SOAK sets the number of checks; 10 million take two minutes.
func TestChecksDoNotGrowMemory(t *testing.T) {
	g := start(t)
	before := g.Memory().Size()
	g.checkMany(t, soak(), 0)
	require.Equal(t, before, g.Memory().Size())
}

// Details of a misspelling or a role allocate, which the garbage collector reuses:
// the memory grows by 5 MB in the first 150,000 checks, and then no more.
func TestDetailsBoundMemory(t *testing.T) {
	g := start(t)
	before := g.Memory().Size()
	g.checkMany(t, soak(), 2)
	t.Logf("memory before and after: %d, %d", before, g.Memory().Size())
	require.Less(t, g.Memory().Size(), before+8<<20)
}

// soak returns the number of checks for tests of memory.
func soak() int {
	if soak, err := strconv.Atoi(os.Getenv("ADDRSPEC_SOAK")); err == nil {
		return soak
	}
	if testing.Short() {
		return 20_000
	}
	return 200_000
}

// checkMany checks generated addresses, alternating flags and flags|1.
func (g *guest) checkMany(t testing.TB, calls int, flags uint64) {
	emails, stack := vectors.Generate(3, 1000), make([]uint64, 2)
	check := g.ExportedFunction("addrspec_check")
	for n := range calls {
		g.Memory().WriteString(g.in, emails[n%len(emails)])
		stack[0], stack[1] = uint64(len(emails[n%len(emails)])), flags|uint64(n&1)
		if err := check.CallWithStack(context.Background(), stack); err != nil {
			require.NoError(t, err)
		}
	}
}

// The module must reuse the memory of replaced lists.
func TestListsDoNotGrowMemory(t *testing.T) {
	blob, err := os.ReadFile("../../lists/lists.blob")
	require.NoError(t, err)
	g := start(t)
	install := func(blob []byte) int32 {
		for len(blob) > 0 {
			n := g.write(blob)
			if code := g.call(t, "lists", n); code != 0 {
				return code
			}
			blob = blob[n:]
		}
		return g.call(t, "lists", 0)
	}
	for range 50 {
		require.Zero(t, install(blob))
	}
	settled, more := g.Memory().Size(), 200
	if testing.Short() {
		more = 50
	}
	for range more {
		require.Zero(t, install(blob))
	}
	t.Logf("memory after 50 and more lists of %d bytes: %d, %d", len(blob), settled, g.Memory().Size())
	require.Less(t, g.Memory().Size(), settled+2<<20, "50 lists would be 20 MB")
	for range 5 {
		require.EqualValues(t, refused, install(make([]byte, 4<<20)))
		require.EqualValues(t, listsSize, install(make([]byte, 4<<20+1)))
	}
	t.Logf("memory after the largest lists: %d", g.Memory().Size())
	require.Less(t, g.Memory().Size(), uint32(memoryBound))
	g.requireJSON(t, g.call(t, "check", g.write([]byte("jane@example.org")), 0))
}

// Inputs that make parsers slow or overflow their stack, of 4,096 bytes, the
// longest that is parsed, and of the capacity: each must return a result, and the
// memory must not grow.
func TestLargestInputs(t *testing.T) {
	g := start(t)
	before := g.Memory().Size()
	for _, unit := range []string{
		"(", "(a)", "\\", `"`, `"a".`, "a.", "@", "a@", "\r\n ", " ", "[", "a@[", "a@[IPv6:", "\x00", "\xff", "é",
		"e\u0301", "\u0300", "\u0627", "xn--", "a@xn--", "+", "a@b.", "ß", "漢",
	} {
		for _, size := range []int{4096, int(g.inCap)} {
			some := strings.Repeat(unit, size/len(unit)-3)
			for _, email := range []string{strings.Repeat(unit, size/len(unit)), "a" + some + "@b", "a@b" + some} {
				for _, flags := range []int32{0, 2} {
					if flags == 0 && testing.Short() {
						continue
					}
					g.requireJSON(t, g.call(t, "check", g.write([]byte(email)), flags))
					g.requireReport(t)
				}
			}
		}
	}
	require.Equal(t, before, g.Memory().Size())
}
