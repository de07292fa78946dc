package mxtest

import (
	"fmt"
	"strings"

	"github.com/miekg/dns"
)

const maxChain = 16 // CNAMEs followed in one answer

// zone maps lower-case owners to their records. An empty non-terminal, a name
// that only has names below it, has no records.
type zone map[string][]dns.RR

func parseZone(text string) (zone, error) {
	z := zone{}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	parser := dns.NewZoneParser(strings.NewReader(strings.Join(lines, "\n")), ".", "")
	parser.SetDefaultTTL(300)
	for rr, ok := parser.Next(); ok; rr, ok = parser.Next() {
		z.add(rr)
	}
	if err := parser.Err(); err != nil {
		return nil, fmt.Errorf("mxtest: %w", err)
	}
	return z, nil
}

func (z zone) add(rr dns.RR) {
	owner := dns.CanonicalName(rr.Header().Name)
	z[owner] = append(z[owner], rr)
	for name, ok := parent(owner); ok; name, ok = parent(name) {
		if _, known := z[name]; !known {
			z[name] = nil
		}
	}
}

// answer sets the response code and the records of m, which has the question.
func (z zone) answer(m *dns.Msg) {
	name, qtype := dns.CanonicalName(m.Question[0].Name), m.Question[0].Qtype
	for range maxChain {
		records, exists := z.at(name)
		if !exists {
			m.Rcode = dns.RcodeNameError
			break
		}
		alias := appendType(nil, records, dns.TypeCNAME)
		if len(alias) == 0 || qtype == dns.TypeCNAME {
			m.Answer = appendType(m.Answer, records, qtype)
			break
		}
		m.Answer = append(m.Answer, alias[0])
		name = dns.CanonicalName(alias[0].(*dns.CNAME).Target)
	}
	if !hasType(m.Answer, qtype) {
		m.Ns = z.soa(name)
	}
}

// at returns the records of name, or those of the wildcard that covers it (RFC
// 4592).
func (z zone) at(name string) (records []dns.RR, exists bool) {
	if records, exists = z[name]; exists {
		return records, true
	}
	for above, ok := parent(name); ok; above, ok = parent(above) {
		if records, ok := z["*."+above]; ok {
			return renamed(records, name), true
		}
		if _, ok := z[above]; ok {
			break
		}
	}
	return nil, false
}

// soa returns the SOA record that covers name, for a negative answer.
func (z zone) soa(name string) []dns.RR {
	for ok := true; ok; name, ok = parent(name) {
		if soa := appendType(nil, z[name], dns.TypeSOA); len(soa) > 0 {
			return soa
		}
	}
	return nil
}

// parent returns the name above name; ok is false for the root.
func parent(name string) (above string, ok bool) {
	if name == "." {
		return "", false
	}
	if _, above, _ := strings.Cut(name, "."); above != "" {
		return above, true
	}
	return ".", true
}

func renamed(records []dns.RR, name string) []dns.RR {
	out := make([]dns.RR, len(records))
	for i, rr := range records {
		out[i] = dns.Copy(rr)
		out[i].Header().Name = name
	}
	return out
}

func appendType(dst, records []dns.RR, qtype uint16) []dns.RR {
	for _, rr := range records {
		if rr.Header().Rrtype == qtype {
			dst = append(dst, rr)
		}
	}
	return dst
}

func hasType(records []dns.RR, qtype uint16) bool {
	return len(appendType(nil, records, qtype)) > 0
}
