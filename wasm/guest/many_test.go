package main_test

import (
	"encoding/binary"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/vectors"
)

// frames returns emails, each after its length.
func frames(emails ...string) (input []byte) {
	for _, email := range emails {
		input = append(binary.LittleEndian.AppendUint32(input, uint32(len(email))), email...)
	}
	return input
}

// output returns a copy of the first n bytes of the output.
func (g *guest) output(t testing.TB, n int32) []byte {
	require.LessOrEqual(t, n, int32(g.outCap))
	view, ok := g.Memory().Read(g.out, uint32(n))
	require.True(t, ok)
	return append([]byte(nil), view...)
}

// record is a result of check_many; the last two are empty without flag 4.
type record struct{ json, report, texts string }

// records splits an output of check_many. It fails the test if a part is left.
func records(t testing.TB, output []byte, flags int32) (list []record) {
	for len(output) > 0 {
		var r record
		size, texts := binary.LittleEndian.Uint32(output), uint32(0)
		if output = output[4:]; flags&4 != 0 {
			texts = binary.LittleEndian.Uint32(output)
			r.report, output = string(output[4:100]), output[100:]
		}
		r.json, r.texts = string(output[:size]), string(output[size:][:texts])
		require.True(t, json.Valid([]byte(r.json)))
		list, output = append(list, r), output[size+texts:]
	}
	return list
}

// single returns the record of email by check.
func (g *guest) single(t testing.TB, email string, flags int32) (r record) {
	n := g.call(t, "check", g.write([]byte(email)), flags&3)
	out, _ := g.Memory().Read(g.out, g.outCap)
	if r.json = string(out[:n]); flags&4 == 0 {
		return r
	}
	report, _ := g.Memory().Read(g.report, 96)
	end := uint32(n)
	for _, word := range []int{9, 13, 15, 17} {
		end = max(end, binary.LittleEndian.Uint32(report[4*word:])+binary.LittleEndian.Uint32(report[4*word+4:]))
	}
	r.report, r.texts = string(report), string(out[n:end])
	return r
}

// requireMany requires that check_many gives for emails what check gives, in as many
// calls as it takes. It returns their number.
func (g *guest) requireMany(t testing.TB, emails []string, flags int32) (calls int) {
	for len(emails) > 0 {
		n := g.call(t, "check_many", g.write(frames(emails...)), flags)
		require.Positive(t, n)
		got := records(t, g.output(t, n), flags)
		require.NotEmpty(t, got)
		require.LessOrEqual(t, len(got), len(emails))
		for i, r := range got {
			if want := g.single(t, emails[i], flags); want != r {
				require.Equal(t, want, r, "%q", emails[i])
			}
		}
		emails = emails[len(got):]
		calls++
	}
	return calls
}

func TestCheckMany(t *testing.T) {
	g := start(t)
	for flags := range int32(8) {
		require.Equal(t, 1, g.requireMany(t, vectors.Generate(uint64(flags), 2_000), flags))
	}
	require.Zero(t, g.call(t, "check_many", 0, 0), "no address, no result")
	require.Equal(t, 1, g.requireMany(t, []string{"", "", "a@b.example", ""}, 4))
}

// The results of a full input do not fit the output.
func TestCheckManyFillsOutput(t *testing.T) {
	g := start(t)
	before := g.Memory().Size()
	short := make([]string, 1<<20/6)
	for n := range short {
		short[n] = "a@"
	}
	require.Greater(t, g.requireMany(t, short, 4), 5)
	longest := strings.Repeat("\x01", 1<<20-4)
	require.Equal(t, 1, g.requireMany(t, []string{longest}, 7))
	require.Equal(t, 2, g.requireMany(t, []string{longest[:1<<19-4], longest[:1<<19-4]}, 7), "6 MiB, and twice the rest")
	require.Equal(t, before, g.Memory().Size())
}

func TestCheckManyErrors(t *testing.T) {
	g := start(t)
	two := frames("a@b.example", "c@d.example")
	for _, c := range []struct {
		name          string
		input         []byte
		length, flags int32
		want          int32
	}{
		{"a negative length", two, -1, 0, tooLong},
		{"a length over the capacity", two, 1<<20 + 1, 0, tooLong},
		{"an unknown flag", two, int32(len(two)), 8, unknownFlag},
		{"an address that is cut off", two, int32(len(two)) - 1, 0, framing},
		{"a length that is cut off", two, int32(len(frames("a@b.example"))) + 3, 0, framing},
		{"the largest length", []byte{0xff, 0xff, 0xff, 0xff, 'a'}, 5, 0, framing},
		{"a length with the sign bit", []byte{0, 0, 0, 0x80, 'a'}, 5, 4, framing},
	} {
		t.Run(c.name, func(t *testing.T) {
			g.write(c.input)
			require.Equal(t, c.want, g.call(t, "check_many", c.length, c.flags))
		})
	}
	require.EqualValues(t, unknownFlag, g.call(t, "check", 0, 4), "the flag is of check_many alone")
	g.requireMany(t, []string{"a@b.example"}, 0)
}

// FuzzCheckMany passes any input, length and flags.
func FuzzCheckMany(f *testing.F) {
	f.Add(frames("jane@example.org", "", "a\"@b"), int32(-1), int32(7))
	f.Add(frames("jane@example.org")[:9], int32(-1), int32(0))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff}, int32(4), int32(4))
	f.Add([]byte{}, int32(1<<20), int32(2))
	g := start(f)
	f.Fuzz(func(t *testing.T, input []byte, length, flags int32) {
		written := g.write(input)
		if length < 0 {
			length = written
		}
		switch n := g.call(t, "check_many", length, flags); {
		case n >= 0:
			if got := records(t, g.output(t, n), flags); length == written {
				requireSameRecords(t, g, got, input, flags)
			}
		case length > int32(g.inCap):
			require.EqualValues(t, tooLong, n)
		case flags&^7 != 0:
			require.EqualValues(t, unknownFlag, n)
		default:
			require.EqualValues(t, framing, n)
		}
		require.Less(t, g.Memory().Size(), uint32(memoryBound))
	})
}

// requireSameRecords requires got to be what check gives for the addresses in input.
func requireSameRecords(t *testing.T, g *guest, got []record, input []byte, flags int32) {
	for _, r := range got {
		size := binary.LittleEndian.Uint32(input)
		require.Equal(t, g.single(t, string(input[4:][:size]), flags), r)
		input = input[4+size:]
	}
}
