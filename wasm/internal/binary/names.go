package binary

// Ids of the name section (appendix, section 7.4).
const (
	nameSection   = "name"
	functionNames = 1
)

// custom reads the names of functions from a custom section. As an engine does, it
// ignores all other such sections and a malformed one.
func (m *Module) custom(contents []byte) {
	r := &reader{rest: contents}
	if r.name() != nameSection {
		return
	}
	for len(r.rest) > 0 {
		id, part := r.byte(), &reader{rest: r.bytes(r.u32())}
		if id == functionNames && r.err == nil {
			m.Names = part.names()
		}
	}
}

// names reads a map of names by index, nil if it is malformed.
func (r *reader) names() map[uint32]string {
	names := map[uint32]string{}
	for n := r.u32(); n > 0 && r.err == nil; n-- {
		index := r.u32()
		names[index] = r.name()
	}
	if r.err != nil {
		return nil
	}
	return names
}
