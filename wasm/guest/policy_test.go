package main_test

import (
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/core/policy"
	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/wasm/vectors"
)

const (
	badPolicy = -7
	badSlot   = -8
	oldCall   = -9
)

// load passes a document to a slot, in pieces of the given size.
func (g *guest) load(t testing.TB, slot int32, document string, piece int) int32 {
	return g.pass(t, document, piece, "policy", slot)
}

// handle returns the handle of a document, or a negative error.
func (g *guest) handle(t testing.TB, document string) int32 {
	return g.pass(t, document, 1<<20, "load_policy")
}

// pass calls an export for each piece of a document, and with an empty one.
func (g *guest) pass(t testing.TB, document string, piece int, export string, params ...int32) int32 {
	for len(document) > 0 {
		n := min(piece, len(document))
		if code := g.call(t, export, append(params, g.write([]byte(document[:n])))...); code != 0 {
			return code
		}
		document = document[n:]
	}
	return g.call(t, export, append(params, 0)...)
}

// word returns a word of the report.
func (g *guest) word(n uint32) uint32 {
	value, _ := g.Memory().ReadUint32Le(g.report + 4*n)
	return value
}

// sentence returns the sentence of the report.
func (g *guest) sentence(t testing.TB) string {
	text, ok := g.Memory().Read(g.out+g.word(17), g.word(18))
	require.True(t, ok)
	return string(text)
}

// appendFacts appends a record of a verdict: the words of the report on an address, with what the
// host found. A subject has two more texts.
func (g *guest) appendFacts(t testing.TB, dst []byte, c *vectors.Policy, subject bool) []byte {
	require.GreaterOrEqual(t, g.call(t, "check", g.write([]byte(c.Email)), 0), int32(0))
	facts := g.word(0)
	if c.Disposable {
		facts |= 1 << 5
	}
	host, ok := g.Memory().Read(g.out+g.word(9), g.word(10))
	require.True(t, ok)
	dst = appendRecord(dst, facts, g.word(1), uint32(c.Lookup()), string(host))
	if subject {
		dst = append(dst, frames(c.Email, string(frames(c.Exchanges...)))...)
	}
	return dst
}

func appendRecord(dst []byte, facts, more, found uint32, host string) []byte {
	for _, word := range []uint32{facts, more, found, uint32(len(host))} {
		dst = binary.LittleEndian.AppendUint32(dst, word)
	}
	return append(dst, host...)
}

// verdicts returns the verdicts of a slot on records.
func (g *guest) verdicts(t testing.TB, slot int32, records []byte) []string {
	return g.verdictsOf(t, "verdict", slot, records)
}

func (g *guest) verdictsOf(t testing.TB, export string, slot int32, records []byte) (list []string) {
	n := g.call(t, export, slot, g.write(records))
	require.GreaterOrEqual(t, n, int32(0))
	for output := g.output(t, n); len(output) > 0; {
		size := binary.LittleEndian.Uint32(output)
		list = append(list, string(output[4:][:size]))
		output = output[4+size:]
	}
	return list
}

// Every case of the vectors, alone and in bulk, in every slot. addrspec_verdict decides alike
// unless the policy has members that it does not know.
func TestPolicyVectors(t *testing.T) {
	g := start(t)
	cases, err := vectors.ReadPolicies("../vectors")
	require.NoError(t, err)
	records, want := map[string][]byte{}, map[string][]string{}
	for n, c := range cases {
		slot := int32(n % 16)
		code := g.load(t, slot, c.Document, 1+n%7)
		if c.Error != "" {
			require.EqualValues(t, badPolicy, code)
			require.Equal(t, c.Error, g.sentence(t))
			require.EqualValues(t, c.Offset, g.word(12))
			require.EqualValues(t, badPolicy, g.handle(t, c.Document))
			require.Equal(t, c.Error, g.sentence(t))
			continue
		}
		require.Zero(t, code)
		record := g.appendFacts(t, nil, &c, true)
		require.Equal(t, []string{string(c.Verdict)}, g.verdictsOf(t, "decide", slot, record), "%s %s", c.Document, c.Email)
		if facts := g.appendFacts(t, nil, &c, false); isOld(c.Document) {
			require.Equal(t, []string{string(c.Verdict)}, g.verdicts(t, slot, facts), "%s %s", c.Document, c.Email)
		} else {
			require.EqualValues(t, oldCall, g.call(t, "verdict", slot, g.write(facts)), c.Document)
		}
		records[c.Document], want[c.Document] = append(records[c.Document], record...), append(want[c.Document], string(c.Verdict))
	}
	for document, all := range records {
		require.Zero(t, g.load(t, 3, document, 1<<20))
		require.Equal(t, want[document], g.verdictsOf(t, "decide", 3, all))
	}
}

// numbered is a policy that disagrees with every other one about a.example, and its verdict.
func numbered(n int) (document, verdict string) {
	list := []string{"allow", "block"}[n%2]
	document = `{"` + list + `":{"domains":[` + strings.Repeat(`"x.example",`, n) + `"a.example"]}}`
	return document, `{"action":"` + list + `","reason":"domain","rule":"` + list + `.domains[` + strconv.Itoa(n) + `]"}`
}

// More accounts than handles have a policy each, in random order, as a host serves them: it
// remembers the handles and loads a policy again after -8. Each verdict is that of the account.
func TestHandles(t *testing.T) {
	g := start(t)
	record := appendRecord(nil, 1|4, 0, 0, "a.example")
	const accounts, slot = 40, 7
	inSlot, slotVerdict := numbered(accounts)
	require.Zero(t, g.load(t, slot, inSlot, 99))
	random := rand.New(rand.NewPCG(7, 7))
	handles, documents := map[int]int32{}, map[int32]int{}
	evicted := 0
	for range 4_000 {
		n := random.IntN(accounts)
		if random.IntN(2) == 0 {
			n = random.IntN(4) // some are used often
		}
		document, want := numbered(n)
		handle, known := handles[n]
		if known && g.call(t, "verdict", handle, g.write(record)) == badSlot {
			known = false
			evicted++
		}
		if !known {
			handle = g.handle(t, document)
			require.NotContains(t, documents, handle, "a handle is never used again")
			handles[n], documents[handle] = handle, n
		}
		require.Equal(t, []string{want}, g.verdicts(t, handle, record))
		require.Equal(t, handle, g.handle(t, document), "it is loaded")
		if random.IntN(10) == 0 {
			require.EqualValues(t, badPolicy, g.handle(t, "7"), "nothing changes")
		}
		require.Equal(t, []string{slotVerdict}, g.verdicts(t, slot, record), "slots are apart")
	}
	require.Greater(t, evicted, 100)
}

// The sixteen documents that were used last have handles, if they have at most 4 MiB.
func TestHandlesBound(t *testing.T) {
	g := start(t)
	before := g.Memory().Size()
	for round := range 40 {
		document := []func(string) string{largest, largestAddresses}[round%2]("r" + strconv.Itoa(round))
		require.Positive(t, g.handle(t, document))
	}
	t.Logf("memory before and after: %d, %d", before, g.Memory().Size())
	require.Less(t, g.Memory().Size(), before+40<<20)
	has := func(handle int32) bool { return g.call(t, "verdict", handle, 0) == 0 }
	var small []int32
	for n := range 20 {
		document, _ := numbered(n)
		small = append(small, g.handle(t, document))
		require.True(t, has(small[0]), "it was used last but one")
	}
	for n, handle := range small {
		require.Equal(t, n == 0 || n > 4, has(handle), "%d", n)
	}
	wide := func(name string, spaces int) int32 {
		return g.handle(t, `{"block":{"domains":["`+name+`"`+strings.Repeat(" ", spaces)+`]}}`)
	}
	first, second := wide("first", 2_600_000), wide("second", 1_500_000)
	require.True(t, has(first) && has(second))
	require.Positive(t, wide("third", 200_000))
	require.False(t, has(first))
	require.True(t, has(second))
	require.False(t, has(small[19]), "it was used before them")
}

// Word 1 of the report, alone and in bulk, is what package policy says.
func TestReportMore(t *testing.T) {
	g := start(t)
	native := vectors.NativeInput()
	emails := append(vectors.Generate(30, 2_000), `"a b"(c)@localhost`, "a@[192.0.2.1]", "hr@example.com")
	seen := uint32(0)
	for rest := emails; len(rest) > 0; {
		got := records(t, g.output(t, g.call(t, "check_many", g.write(frames(rest...)), 4)), 4)
		for n, r := range got {
			want := native(rest[n])
			require.Equal(t, []uint32{want.Facts, want.More}, []uint32{binary.LittleEndian.Uint32([]byte(r.report)), binary.LittleEndian.Uint32([]byte(r.report[4:]))}, rest[n])
			seen |= want.More
		}
		rest = rest[len(got):]
	}
	require.EqualValues(t, 0x3F, seen>>16&0x3F, "every form of the standards occurs")
	for _, email := range emails[:100] {
		g.call(t, "check", g.write([]byte(email)), 0)
		require.Equal(t, native(email).More, g.word(1))
	}
}

func TestPolicyErrors(t *testing.T) {
	g := start(t)
	record := appendRecord(nil, 1, 0, 0, "a.example")
	for _, slot := range []int32{-1, 16, 1 << 30, -1 << 31} {
		require.EqualValues(t, badSlot, g.call(t, "policy", slot, 0))
		require.EqualValues(t, badSlot, g.call(t, "verdict", slot, 0), "no slot, and no handle yet")
	}
	require.EqualValues(t, badSlot, g.call(t, "verdict", 5, g.write(record)), "a slot without a policy")
	require.Zero(t, g.load(t, 5, `{"block":{"domains":["a.example"]}}`, 9))
	for _, length := range []int32{-1, 1<<20 + 1, -1 << 31} {
		require.EqualValues(t, tooLong, g.call(t, "policy", 5, length))
		require.EqualValues(t, tooLong, g.call(t, "load_policy", length))
		require.EqualValues(t, tooLong, g.call(t, "verdict", 5, length))
	}
	for n := 1; n < len(record); n++ {
		require.EqualValues(t, framing, g.call(t, "verdict", 5, g.write(record[:n])), "%d bytes", n)
	}
	require.EqualValues(t, framing, g.call(t, "verdict", 5, g.write(append(append([]byte(nil), record...), record[:15]...))))
	require.EqualValues(t, framing, g.call(t, "verdict", 5, g.write(append(make([]byte, 12), 0xff, 0xff, 0xff, 0xff))))
	subject := appendSubject(nil, 1, 3, "a.example", "jane@a.example", "mx.a.example")
	for n := 1; n < len(subject); n++ {
		require.EqualValues(t, framing, g.call(t, "decide", 5, g.write(subject[:n])), "%d bytes", n)
	}
	torn := append(appendRecord(nil, 1, 0, 3, "a.example"), frames("jane@a.example", "\x05\x00\x00\x00a.b")...)
	require.EqualValues(t, framing, g.call(t, "decide", 5, g.write(torn)), "an exchange is cut off")
	require.EqualValues(t, badSlot, g.call(t, "decide", 6, 0))
	require.EqualValues(t, tooLong, g.call(t, "decide", 5, -1))
	nameless := appendSubject(nil, 1, 0, "a.example", "")
	require.Len(t, g.verdictsOf(t, "decide", 5, nameless), 1, "the policy needs no address")
	require.Zero(t, g.load(t, 6, `{"block":{"addresses":["jane@a.example"]}}`, 99))
	require.EqualValues(t, framing, g.call(t, "decide", 6, g.write(nameless)), "a block would be skipped")
	require.Len(t, g.verdictsOf(t, "decide", 6, appendSubject(nil, 0, 0, "", "")), 1, "an address that is not valid")
	require.Empty(t, g.verdicts(t, 5, nil))
	require.Equal(t, []string{`{"action":"block","reason":"domain","rule":"block.domains[0]"}`}, g.verdicts(t, 5, record))
}

// A document that is refused leaves the slot and its neighbours as they are, and so does one
// that another slot interrupts.
func TestPolicyStays(t *testing.T) {
	g := start(t)
	record := appendRecord(nil, 1|4, 0, 0, "a.example")
	block, allow := `{"block":{"domains":["a.example"]}}`, `{}`
	blocked, allowed := `{"action":"block","reason":"domain","rule":"block.domains[0]"}`, `{"action":"allow","reason":null,"rule":null}`
	require.Zero(t, g.load(t, 0, block, 99))
	require.Zero(t, g.load(t, 1, allow, 99))
	require.EqualValues(t, badPolicy, g.load(t, 0, `{"block":{"domains":[""]}}`, 99))
	require.EqualValues(t, 21, g.word(12), "the offset of the domain")
	require.EqualValues(t, badPolicy, g.load(t, 0, "", 99), "no document")
	require.EqualValues(t, badPolicy, g.load(t, 0, strings.Repeat(" ", policy.MaxDocument+1), 1<<20))
	require.Equal(t, "the document: it has more than 2665536 bytes", g.sentence(t))
	require.Zero(t, g.call(t, "policy", 0, g.write([]byte(`{"bl`))))
	require.Zero(t, g.load(t, 1, allow, 99), "the pieces for slot 0 are dropped")
	require.EqualValues(t, badPolicy, g.load(t, 0, `ock":{}}`, 99))
	require.Zero(t, g.call(t, "policy", 0, g.write([]byte(`{"bl`))))
	require.Positive(t, g.handle(t, allow), "and so they are for a handle")
	require.Equal(t, []string{blocked}, g.verdicts(t, 0, record))
	require.Equal(t, []string{allowed}, g.verdicts(t, 1, record))
	require.Zero(t, g.load(t, 0, allow, 1))
	require.Equal(t, []string{allowed}, g.verdicts(t, 0, record))
}

// The output has room for the verdicts on a full input.
func TestVerdictsFillInput(t *testing.T) {
	g := start(t)
	reasons := strings.Repeat(`"role",`, 9_000)
	require.Zero(t, g.load(t, 0, `{"review":{"reasons":[`+reasons+`"gibberish>=0.55"]}}`, 1<<20))
	const count = 1 << 20 / 16
	got := g.verdicts(t, 0, []byte(strings.Repeat(string(appendRecord(nil, 1|4, 100, 0, "")), count)))
	require.Len(t, got, count)
	require.Equal(t, `{"action":"review","reason":"gibberish>=0.55","rule":"review.reasons[9000]"}`, got[count-1])
	long := g.verdicts(t, 0, appendRecord(nil, 1|4, 0, 0, strings.Repeat("a.", 1<<19-8)))
	require.Len(t, long, 1)
}

// largest returns a document that is nearly as long as it may be, with domains of the given
// name.
func largest(name string) string {
	var list strings.Builder
	for n := range policy.MaxEntries {
		list.WriteString(`,"` + strconv.Itoa(10_000+n) + "." + name + strings.Repeat("."+strings.Repeat("d", 61), 3) + "." + strings.Repeat("e", 50) + `"`)
	}
	return `{"block":{"domains":[` + list.String()[1:] + `]}}`
}

// largestAddresses is largest for addresses, whose text a policy keeps besides what it compares.
func largestAddresses(name string) string {
	var list strings.Builder
	for n := range policy.MaxEntries {
		list.WriteString(`,"` + strconv.Itoa(10_000+n) + "." + name + strings.Repeat("a", 50) + "@" + strings.Repeat(strings.Repeat("d", 61)+".", 3) + `example"`)
	}
	return `{"block":{"addresses":[` + list.String()[1:] + `]}}`
}

// Sixteen of the largest policies take a bounded amount of memory, which those that replace
// them reuse; verdicts take none.
func TestPoliciesBoundMemory(t *testing.T) {
	g := start(t)
	before := g.Memory().Size()
	rounds, slots := 4, int32(16)
	if testing.Short() {
		rounds, slots = 3, 2
	}
	for round := range rounds {
		document := []func(string) string{largest, largestAddresses}[round%2]("r" + strconv.Itoa(round))
		for slot := range slots {
			require.Zero(t, g.load(t, slot, document, 1<<20))
		}
		t.Logf("memory after round %d: %d", round, g.Memory().Size())
		require.Zero(t, g.pass(t, string(lists.Blob()), 1<<20, "lists"))
	}
	t.Logf("memory before and after %d rounds of %d policies: %d, %d", rounds, slots, before, g.Memory().Size())
	require.Less(t, g.Memory().Size(), before+24<<20+uint32(slots)*4<<20, "4 MB each, and the garbage of loading one")
	settled := g.Memory().Size()
	subject := appendSubject(nil, 1|4, 3, "a.example", "jane@a.example", "mx.a.example", "mx.b.example")
	for range 1_000 {
		g.verdictsOf(t, "decide", slots-1, subject)
	}
	require.Equal(t, settled, g.Memory().Size())
}

// FuzzPolicies passes any document in any pieces to any slot, and any records.
func FuzzPolicies(f *testing.F) {
	record := appendRecord(nil, 1, 7<<8|90, 1, "a.example")
	f.Add([]byte(`{"block":{"domains":["*.example"],"reasons":["role:billing","gibberish>=0.9"]}}`), int32(0), uint8(3), record, int32(0), int32(-1))
	f.Add([]byte(`{}`), int32(15), uint8(0), append(record, record...), int32(15), int32(-1))
	f.Add([]byte(`{"x":1}`), int32(16), uint8(1), record[:15], int32(-1), int32(15))
	f.Add([]byte(``), int32(-1), uint8(1), []byte{}, int32(3), int32(1<<20))
	f.Add([]byte(`{"block":{"exchanges":["*.b.example"],"addresses":["j.d@gmail.com"]}}`), int32(3), uint8(9),
		appendSubject(appendSubject(nil, 1, 3, "gmail.com", "jd+1@gmail.com"), 5, 3, "a.example", "a@a.example", "mx.b.example", "*"), int32(3), int32(-1))
	native := core.New(lists.Default())
	g := start(f)
	require.Zero(f, g.load(f, 3, `{}`, 9))
	f.Fuzz(func(t *testing.T, document []byte, slot int32, piece uint8, input []byte, from, length int32) {
		inRange := func(slot int32) bool { return slot >= 0 && slot < 16 }
		switch code := g.load(t, slot, string(document), 1+int(piece)); {
		case !inRange(slot):
			require.EqualValues(t, badSlot, code)
		default:
			_, err := policy.Parse(document, native)
			require.Equal(t, err == nil, code == 0)
			if err != nil {
				require.EqualValues(t, badPolicy, code)
				require.Equal(t, err.Error(), g.sentence(t))
			}
		}
		_, err := policy.Parse(document, native)
		require.Equal(t, err == nil, g.handle(t, string(document)) >= 16)
		written := g.write(input)
		if length < 0 {
			length = written
		}
		for _, export := range []string{"verdict", "decide"} {
			g.requireVerdicts(t, export, from, length)
		}
		require.Less(t, g.Memory().Size(), uint32(memoryBound))
	})
}

// requireVerdicts calls an export with any input, of which it makes verdicts or an error.
func (g *guest) requireVerdicts(t testing.TB, export string, from, length int32) {
	switch n := g.call(t, export, from, length); {
	case n >= 0:
		require.LessOrEqual(t, n, int32(g.outCap))
		for output := g.output(t, n); len(output) > 0; {
			size := binary.LittleEndian.Uint32(output)
			require.True(t, json.Valid(output[4:][:size]))
			output = output[4+size:]
		}
	case n == badSlot:
	case n == oldCall:
		require.Equal(t, "verdict", export)
	case length > int32(g.inCap):
		require.EqualValues(t, tooLong, n)
	default:
		require.EqualValues(t, framing, n)
	}
}
