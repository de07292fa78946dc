package blob

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/lists/internal/format"
)

// Kind is what the entry of a domain says. Tens of thousands of entries share
// about a hundred kinds, so a table stores the number of a kind.
type Kind struct {
	Class      lists.Class
	Subdomains bool   // the entry covers every name below its own
	Carriers   uint32 // bit i: the entry is on source i
}

// numberKinds returns the packed kinds and the number of each domain's kind. The
// most frequent kind is the first.
func numberKinds(domains map[string]Kind) (packed []byte, numbers map[string]int) {
	frequency := map[Kind]int{}
	for _, k := range domains {
		frequency[k]++
	}
	kinds := slices.SortedFunc(maps.Keys(frequency), func(a, b Kind) int {
		return cmp.Or(frequency[b]-frequency[a], slices.Compare(a.pack(), b.pack()))
	})
	number := map[Kind]int{}
	for i, k := range kinds {
		packed, number[k] = append(packed, k.pack()...), i+1
	}
	numbers = make(map[string]int, len(domains))
	for name, k := range domains {
		numbers[name] = number[k]
	}
	return packed, numbers
}

func (k Kind) pack() []byte {
	class := byte(k.Class)
	if k.Subdomains {
		class |= format.Subdomains
	}
	return binary.LittleEndian.AppendUint32([]byte{class}, k.Carriers)
}
