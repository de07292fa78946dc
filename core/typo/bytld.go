package typo

import "math/bits"

// sieve holds the names that have a target below one top-level domain, by
// length, so that a domain is compared with those that it may be meant for
// and no others. The last sieve holds every name.
type sieve struct {
	meshes []mesh
	from   [maxCompared + 2]uint16 // from[n] is the first mesh of a name of n or more bytes
}

const everyTop = int(lastPlace) + 1

// mesh is what tells most domains from a name without a look at either.
type mesh struct {
	letters uint64 // of the name
	name    uint16
}

// newSieve sifts out the names that have a target below one of under. It
// counts first: what growing would leave behind is shipped in the module's
// memory.
func (x *Index) newSieve(under topSet) (s sieve) {
	s.meshes = make([]mesh, 0, x.countUnder(under))
	for size := range s.from {
		s.from[size] = uint16(len(s.meshes))
		first, last := x.sized(size)
		for i := first; i < last; i++ {
			if n := &x.names[i]; n.under&under != 0 {
				s.meshes = append(s.meshes, mesh{letterSet(x.text(n)), uint16(i)})
			}
		}
	}
	return s
}

func (x *Index) countUnder(under topSet) (count int) {
	for i := range x.names {
		if x.names[i].under&under != 0 {
			count++
		}
	}
	return count
}

// near returns the meshes of the names that d may be meant for by its
// top-level domain and its length.
func (x *Index) near(d *typedDomain) []mesh {
	size := len(d.name)
	if size-reach > maxCompared {
		return nil
	}
	s := &x.sieves[everyTop]
	if d.meant&(d.meant-1) == 0 {
		s = &x.sieves[bits.TrailingZeros64(uint64(d.meant))&63]
	}
	return s.meshes[s.from[size-reach]:s.from[min(size+reach, maxCompared)+1]]
}
