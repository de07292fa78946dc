package mx

import (
	"strings"
	"testing"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"
)

// requirePacked requires that a question is packed as the library packs it.
func requirePacked(t *testing.T, q question) {
	t.Helper()
	m := new(dns.Msg).SetQuestion(q.name, q.qtype)
	m.Id = q.id
	if q.edns {
		m.SetEdns0(udpPayload, false)
	}
	want, err := m.Pack()
	var buffer [udpBuffer]byte
	for i := range buffer {
		buffer[i] = 0xff // of an earlier query
	}
	got, failed := q.pack(buffer[:])
	require.Equal(t, err == nil, failed == nil, "%q: %v, %v", q.name, err, failed)
	if err == nil {
		require.Equal(t, want, got, "%q", q.name)
	}
}

func TestQuestionIsPackedAsByTheLibrary(t *testing.T) {
	longest := strings.Repeat(strings.Repeat("a", 49)+".", 5) + "test."
	require.Len(t, longest, 255)
	for _, name := range []string{".", "test.", "example.test.", "xn--mnchen-3ya.test.", "_sip._tcp.example.test.", longest[2:], longest, "a" + longest, strings.Repeat("a", 64) + ".test.", "a..test."} {
		requirePacked(t, question{id: 0x4d58, name: name, qtype: dns.TypeMX, edns: true})
		requirePacked(t, question{id: 1, name: name, qtype: dns.TypeA})
	}
}

func FuzzQuestion(f *testing.F) {
	f.Add("example.test.", uint16(1), true)
	f.Add(`a\.b\032.test.`, uint16(0xffff), false)
	f.Fuzz(func(t *testing.T, name string, id uint16, edns bool) {
		requirePacked(t, question{id: id, name: dns.Fqdn(name), qtype: dns.TypeMX, edns: edns})
	})
}
