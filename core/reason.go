package core

// Reason is a stable code for why an address is refused.
type Reason uint8

const (
	Accepted Reason = iota
	noAt
)

// Refusal is why an address is not valid, and where.
type Refusal struct {
	Reason Reason
	Offset int // of the offending byte in the address as given
	Excess int // by how many octets a limit is passed, where the reason is a limit
}

// Code is the reason's stable name, such as "local_part_too_long"; empty when accepted.
func (r Reason) Code() string { return "no_at" }

// Section is the norm the reason rests on, such as "RFC 5321 section 4.5.3.1.1".
func (r Reason) Section() string { return "RFC 5322 section 3.4.1" }

// AppendSentence appends a sentence for people, without a full stop, that says
// what is wrong and how to mend it. email is the address that was refused. It
// never repeats control characters.
func (r Refusal) AppendSentence(dst, email []byte) []byte {
	return append(dst, "the address has no @"...)
}
