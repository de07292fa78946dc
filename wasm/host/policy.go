package host

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
)

// Policy is a document that turns facts into a verdict (package core/policy describes it). It
// does not change, and any number of goroutines may use it with any Engine.
type Policy struct {
	document     string
	hash         [sha256.Size]byte
	wantsAddress bool
}

// NewPolicy returns the policy of a document. If the document is none, the error is a
// *PolicyError.
func (e *Engine) NewPolicy(ctx context.Context, document string) (*Policy, error) {
	p := &Policy{
		document: document,
		hash:     sha256.Sum256([]byte(document)),
		// Searched once, since a document may be long. An escape may hide the name.
		wantsAddress: strings.Contains(document, "no_mail") || strings.Contains(document, `\`),
	}
	err := e.View().pool.lend(ctx, p, func(i *instance) error {
		_, err := i.load(ctx, p)
		return err
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// WantsAddress reports whether the policy may have the reason no_mail, for which a domain
// without MX needs a lookup of its address record. A nil policy wants nothing.
func (p *Policy) WantsAddress() bool { return p != nil && p.wantsAddress }

// HasExchanges reports whether the policy has exchanges. It reads the document.
func (p *Policy) HasExchanges() bool {
	var document map[string]struct {
		Exchanges []string `json:"exchanges"`
	}
	_ = json.Unmarshal([]byte(p.document), &document) // the module has read it already
	for _, member := range document {
		if len(member.Exchanges) > 0 {
			return true
		}
	}
	return false
}

// Digest returns the SHA-256 of the document in hexadecimal.
func (p *Policy) Digest() string { return hex.EncodeToString(p.hash[:]) }

// PolicyError is why a document is no policy.
type PolicyError struct {
	Place    string // in the document: "block.reasons[2]", or "line 3, column 7" if it is no JSON
	Offset   int    // of Place, in bytes
	Sentence string // the place, ": ", what is wrong, and how to fix it
}

func (e *PolicyError) Error() string { return e.Sentence }

// Position returns the line and the column, in bytes, of Place in the document, both from 1.
func (e *PolicyError) Position(document string) (line, column int) {
	before := document[:min(max(e.Offset, 0), len(document))]
	return 1 + strings.Count(before, "\n"), len(before) - strings.LastIndexByte(before, '\n')
}

// Found is what a host found in DNS for a verdict, as bits of the interface (ABI.md). Zero
// means that it looked up nothing.
type Found uint32

const (
	LookedUp           Found = 1 << iota // the MX records were looked up
	HasMX                                // and there are some
	AddressLookedUp                      // it is known whether the domain has an address record to which mail goes
	FoundAddressRecord                   // and it has
)

// Found returns what a lookup found.
func (l Lookup) Found() Found {
	switch {
	case l.MX:
		return LookedUp | HasMX
	case l.AddressRecord == AddressPresent:
		return LookedUp | AddressLookedUp | FoundAddressRecord
	case l.AddressRecord == AddressAbsent:
		return LookedUp | AddressLookedUp
	}
	return LookedUp
}

// Subject is an address that a policy decides about.
type Subject struct {
	Facts     *Facts // after View.Resolve, if its Host was looked up
	Address   string // as it was checked, or normalized
	Found     Found
	Exchanges string // as in Lookup; "" if nothing was looked up
}

// Reported returns the facts of a Subject that another host has checked, by its result. score is
// gibberish_score in percent, role the number of the role and form the bits of the form, as in
// word 1 of the report (ABI.md); hostname is the host text.
func Reported(set Fact, score, role, form uint32, hostname string) *Facts {
	return &Facts{Valid: set&Valid != 0, Set: set, Host: hostname, more: min(score, 100) | role<<8 | form<<16}
}

// Verdicts decides about addresses by p, and calls each with the index of every one and its
// verdict, in order: a JSON object {"action":…,"reason":…,"rule":…}, the value of the member
// verdict. The slice is in the memory of the module, valid until each returns.
//
// The instance that decides may be another one than that which checked the addresses, and may
// have other lists.
func (v *View) Verdicts(ctx context.Context, p *Policy, subjects []Subject, each func(n int, verdict []byte)) error {
	return v.pool.lend(ctx, p, func(i *instance) error { return i.decide(ctx, p, subjects, each) })
}

// Verdict appends the verdict of p on one address to dst; see Verdicts.
func (v *View) Verdict(ctx context.Context, dst []byte, p *Policy, s Subject) ([]byte, error) {
	err := v.Verdicts(ctx, p, []Subject{s}, func(_ int, verdict []byte) { dst = append(dst, verdict...) })
	return dst, err
}

// AppendVerdict appends a verdict to a result, which ends dst, as its last member.
func AppendVerdict(dst, verdict []byte) []byte {
	dst = append(append(dst[:len(dst)-1], `,"verdict":`...), verdict...)
	return append(dst, '}')
}

// maxHandles is how many handles of an instance are kept: as many policies as it has.
const maxHandles = 16

// errEvicted is returned for the handle of a policy that the module has evicted.
var errEvicted = errors.New("the module has evicted the policy")

// load returns the handle of p in the instance.
func (i *instance) load(ctx context.Context, p *Policy) (uint32, error) {
	if handle, ok := i.handles[p.hash]; ok {
		return handle, nil
	}
	handle, err := i.pass(ctx, i.policy, p.document)
	if err != nil {
		return 0, err
	}
	if len(i.handles) == maxHandles {
		clear(i.handles) // loading a policy that the instance still has costs little
	}
	i.handles[p.hash] = handle
	return handle, nil
}

const (
	// subjectWords is the size of the words before the texts of a subject: two of the report, and
	// what was found.
	subjectWords = 3 * 4
	// recordPrefix is the size of the length before a text.
	recordPrefix = 4
)

// decide passes subjects to the module, as many at a time as fit a part of its input buffer.
func (i *instance) decide(ctx context.Context, p *Policy, subjects []Subject, each func(n int, verdict []byte)) error {
	for n := 0; n < len(subjects); {
		if err := ctx.Err(); err != nil {
			return err
		}
		handle, err := i.load(ctx, p)
		if err != nil {
			return err
		}
		size, count, err := i.writeSubjects(subjects[n:])
		var length uint32
		if err == nil {
			length, err = i.call(ctx, i.decision, uint64(handle), uint64(size))
		}
		if err == errEvicted {
			delete(i.handles, p.hash)
			continue
		}
		if err != nil {
			return err
		}
		output, ok := i.module.Memory().Read(i.out, length)
		if !ok || length > i.outCap {
			return &trap{errors.New("the verdicts are outside the memory")}
		}
		err = readVerdicts(output, count, func(verdict []byte) { each(n, verdict); n++ })
		if err != nil {
			return err
		}
	}
	return nil
}

// writeSubjects writes subjects to the input buffer, and returns how many bytes and subjects.
func (i *instance) writeSubjects(subjects []Subject) (size, count int, err error) {
	in, ok := i.module.Memory().Read(i.in, i.inCap)
	if !ok {
		return 0, 0, &trap{errors.New("the input buffer is outside the memory")}
	}
	for n, s := range subjects {
		if !s.Facts.Valid {
			s.Address = "" // it may be long, and nothing about it counts
		}
		end := size + subjectWords + 3*recordPrefix + len(s.Facts.Host) + len(s.Address) + namesSize(s.Exchanges)
		if end > len(in) || size > 0 && end > manyBytes {
			break
		}
		for at, word := range [...]uint32{uint32(s.Facts.Set), s.Facts.more, uint32(s.Found)} {
			binary.LittleEndian.PutUint32(in[size+4*at:], word)
		}
		size = putRecord(in, size+subjectWords, s.Facts.Host)
		size = putRecord(in, size, s.Address)
		names := size + recordPrefix
		size = putNames(in, names, s.Exchanges)
		binary.LittleEndian.PutUint32(in[names-recordPrefix:], uint32(size-names))
		count = n + 1
	}
	if count == 0 { // a host and an address have a limit
		return 0, 0, ErrTooLong
	}
	return size, count, nil
}

// readVerdicts calls each with the count verdicts in output.
func readVerdicts(output []byte, count int, each func(verdict []byte)) error {
	for ; count > 0; count-- {
		if len(output) < 4 || uint64(binary.LittleEndian.Uint32(output)) > uint64(len(output)-4) {
			return &trap{errors.New("a verdict is cut off")}
		}
		length := 4 + int(binary.LittleEndian.Uint32(output))
		each(output[4:length])
		output = output[length:]
	}
	if len(output) > 0 {
		return &trap{errors.New("there are more verdicts than subjects")}
	}
	return nil
}
