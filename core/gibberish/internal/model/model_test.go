package model

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
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

func TestNumberKind(t *testing.T) {
	for name, kind := range map[string]int{
		"7": anyNumber, "83": anyNumber, "1987": year, "2039": year, "2040": anyNumber, "19850411": date, "850411": date,
		"11041985": date, "041185": date, "851361": anyNumber, "123": sequence, "4321": sequence, "77": repeated, "000": repeated,
		"047": zeroFirst, "500": zerosLast, "5001": anyNumber,
	} {
		var n Name
		n.read([]byte(name))
		require.Equal(t, kind, n.numberKind(0, len(name)), name)
	}
}

// A letter beside a number is not taken for an encoding.
func TestEncoding(t *testing.T) {
	for name, want := range map[string]int{
		"deadbeef": 3, "9f86d081": 1, "b19850411": 0, "20000000f": 0, "x19850411": 0, "k3j5x2q7": 2, "k3j9x2q8": 0, "maria": 0,
	} {
		var n Name
		var s stats
		n.read([]byte(name))
		s.scan(&n)
		require.Equal(t, want, n.encoding(&s), name)
	}
}

// Letters that are no step along a row, in the more frequent direction.
func TestOffRow(t *testing.T) {
	for name, want := range map[string]uint8{
		"asdf": 0, "fdsa": 0, "qwertz": 0, "azerty": 0, "asdfasdf": 1, "were": 1, "maria": 4, "asdf.jkl": 1, "a": 0, "qwe123": 0,
		"io21b045": 1,
	} {
		var n Name
		var s stats
		n.read([]byte(name))
		s.scan(&n)
		require.Equal(t, want, s.offRow, name)
	}
}

// Counts of the longest name fit in the fields of keyPairs.
func TestTypingCountsFit(t *testing.T) {
	var n Name
	var s stats
	n.read([]byte(strings.Repeat("as", MaxName/2)))
	s.scan(&n)
	require.EqualValues(t, MaxName-1, s.typed(pairsShift))
	require.EqualValues(t, MaxName/2, s.typed(rightShift))
	require.EqualValues(t, MaxName/2-1, s.typed(leftShift))
	require.EqualValues(t, MaxName-1, s.oneHanded)
}

// Sum adds the weights of the features that Readings lists for the trainer, of a name
// that ends in digits at the last position too.
func TestSumIsThatOfReadings(t *testing.T) {
	for _, name := range []string{"jane.doe", "h4cker", "maria.1984", "a", "xkqz9", "o'brien_7", "a" + strings.Repeat("9", MaxName-1), strings.Repeat("a1", MaxName), strings.Repeat("z", 2*MaxName)} {
		least := Reach * MaxName
		for _, features := range Readings(nil, []byte(name)) {
			sum := 0
			for _, i := range features {
				sum += int(int8(Trained[i]))
			}
			least = min(least, sum)
		}
		sum, ok := new(Name).Sum([]byte(name))
		require.True(t, ok, name)
		require.Equal(t, least, sum, name)
	}
}
