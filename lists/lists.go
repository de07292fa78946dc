// Package lists holds what addrspec knows about domains and words: mail
// providers by class, role words, typo targets. Readable sources with their
// provenance lie beside this file; a packer makes one blob of them, and this
// package reads that blob in place.
//
// It imports nothing of the project and no package that a small module
// cannot afford; core and the module depend on it.
package lists

// Class says what is known about a domain. Several bits may be set; the
// packer has settled precedence (relay over public over disposable).
type Class uint8

const (
	// Disposable: a throw-away mailbox provider.
	Disposable Class = 1 << iota
	// Public: a provider where anybody can open a mailbox.
	Public
	// Relay: a forwarding service that hides the real mailbox.
	Relay
	// Known: a domain that people are known to use. It states no fact but
	// keeps the typo check silent.
	Known
)

// Lists is one opened blob. It is read-only and safe for concurrent use.
type Lists struct{}

// Default returns the lists built into the program.
func Default() *Lists { return &Lists{} }

// Open reads a packed blob in place; the caller must not change blob after.
func Open(blob []byte) (*Lists, error) { return &Lists{}, nil }

// Version names the blob, such as "2026.11.20-1a2b3c4d".
func (l *Lists) Version() string { return "0" }

// Provider returns the class of domain, lower case and in A-label form, by
// its most specific entry: the name itself, then each parent whose entry
// covers subdomains. It allocates nothing.
func (l *Lists) Provider(domain []byte) Class { return 0 }

// Role returns the category (1 to 10, the order of core.Role) that word, a
// whole lower-case word without separators, stands for; 0 for none.
func (l *Lists) Role(word []byte) uint8 { return 0 }

// TypoTargets returns the providers whose misspellings the typo check
// corrects, one lower-case domain a line, most used first.
func (l *Lists) TypoTargets() []byte { return nil }
