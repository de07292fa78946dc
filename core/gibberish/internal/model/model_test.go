package model

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVersionIsDigest(t *testing.T) {
	require.Len(t, Trained, size)
	sum := sha256.Sum256([]byte(Trained[:version]))
	require.Equal(t, hex.EncodeToString(sum[:])[:DigestSize], Version())
}

// The probability never falls from one sum to the next.
func TestProbabilityRises(t *testing.T) {
	last := uint8(0)
	for sum := -2 * Reach; sum <= 2*Reach; sum++ {
		p := Probability(sum)
		require.GreaterOrEqual(t, p, last, "at %d", sum)
		last = p
	}
	require.LessOrEqual(t, Probability(-Reach), uint8(1))
	require.Equal(t, uint8(100), Probability(Reach))
}

func TestMarksAreDropped(t *testing.T) {
	for _, pair := range [][2]string{
		{"françois", "francois"}, {"škvorecký", "skvorecky"}, {"nguyễn", "nguyen"}, {"Ølberg", "olberg"},
		{"ḥasan", "hasan"}, {"e\u0301mile", "emile"}, {"O'Brien", "obrien"}, {"ștefan", "stefan"},
	} {
		var marked, plain Name
		marked.read([]byte(pair[0]))
		plain.read([]byte(pair[1]))
		require.Equal(t, plain, marked, pair[0])
	}
}

func TestUnleet(t *testing.T) {
	for _, c := range []struct {
		name, read string
		count      int
	}{
		{"h4cker", "hacker", 1}, {"n1nj4s", "ninjas", 2}, {"anna77", "anna77", 0}, {"c00l99", "cool99", 2}, {"x2y", "x2y", 0},
		{"2fast", "2fast", 0}, {"a1.b", "a1.b", 0},
	} {
		var leet, plain Name
		leet.read([]byte(c.name))
		plain.read([]byte(c.read))
		require.Equal(t, c.count, leet.unleet(), c.name)
		require.Equal(t, plain.symbol, leet.symbol, c.name)
	}
}
