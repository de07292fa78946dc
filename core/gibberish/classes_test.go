package gibberish

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// drawer draws local parts of one class. No local part is a real person's: the
// parts of each are drawn independently.
type drawer struct{ *rand.Rand }

// class is a class of local parts and how many of a hundred may be flagged.
type class struct {
	name    string
	flagged float64
	draw    func(drawer) string
}

// people are classes that were flagged too often before they were trained on.
var people = []class{
	{"a letter, 7 digits", 0, func(d drawer) string { return d.of(letters, 1) + d.of(digits, 7) }},
	{"a letter, 8 digits", 0, func(d drawer) string { return d.of(letters, 1) + d.of(digits, 8) }},
	{"a hex letter, 7 digits", 0, func(d drawer) string { return d.of("abcdef", 1) + d.of(digits, 7) }},
	{"a hex letter, 8 digits", 0, func(d drawer) string { return d.of("abcdef", 1) + d.of(digits, 8) }},
	{"e0 and a number", 0, func(d drawer) string { return "e0" + d.of(digits, 6) }},
	{"a letter, year, number", 0, func(d drawer) string { return d.of(letters, 1) + "20" + d.year() + d.of(digits, 4) }},
	{"a letter, birthday", 0, func(d drawer) string { return d.of(letters, 1) + "19" + d.of("56789", 1) + d.of(digits, 1) + d.date() }},
	{"year, f3000, number", 0, func(d drawer) string { return d.year() + "f3000" + d.of(digits, 3) }},
	{"branch, year, b, number", 0, func(d drawer) string { return d.word(branches) + d.year() + "b" + d.of(digits, 4) }},
	{"year, branch, number", 0, func(d drawer) string { return d.year() + d.word(branches) + d.of(digits, 4) }},
	{"number, letter", 0, func(d drawer) string { return d.of(digits, 7) + d.of(letters, 1) }},
	{"make, model, suffix", 0.5, func(d drawer) string { return d.word(makes) + d.of(digits, 3) + d.of("idtsex", 1) }},
	{"make, model, word", 0.5, func(d drawer) string { return d.word(makes) + d.of(digits, 2) + d.word("fan boy driver rider pro man") }},
	{"name, number, initials", 0.5, func(d drawer) string { return d.word(firsts) + d.of(digits, 2) + d.initials(2) }},
	{"name, number, name", 0.5, func(d drawer) string { return d.word(firsts) + d.of(digits, 2) + d.word(lasts) }},
	{"number, name", 0.5, func(d drawer) string { return d.of(digits, 3) + d.word(firsts) }},
	{"number, name, number", 0.5, func(d drawer) string { return d.of(digits, 2) + d.word(firsts) + d.of(digits, 2) }},
	{"name without vowels", 2, func(d drawer) string { return vowelless(d.word(firsts)) + vowelless(d.word(lasts)) }},
	{"name, last name without vowels", 0.5, func(d drawer) string { return d.word(firsts) + vowelless(d.word(lasts)) }},
	{"initials, word", 0.5, func(d drawer) string { return d.initials(3) + d.word("dev tech mail code work web art") }},
	{"initials, year", 0, func(d drawer) string { return d.initials(3) + "19" + d.of("6789", 1) + d.of(digits, 1) }},
	{"Korean keys", 0, func(d drawer) string {
		return d.word("rla dl qkr chl wjd rkd whdbs") + d.word(koreanOne) + d.word(koreanTwo)
	}},
	{"pinyin initials, name", 1, func(d drawer) string { return d.pinyinInitials(2) + d.word(pinyin) }},
	{"surname, pinyin initials, year", 1, func(d drawer) string {
		return d.word(pinyin) + d.pinyinInitials(2) + "19" + d.of("89", 1) + d.of(digits, 1)
	}},
	{"three pinyin initials, number", 1, func(d drawer) string { return d.pinyinInitials(3) + d.of(digits, 3) }},
	{"Zulu and Xhosa", 0, func(d drawer) string {
		return d.word("mxolisi nkosinathi thembinkosi nomvula zanele mcebisi xolile") + "." + d.word(nguni)
	}},
	{"Zulu and Xhosa, initial", 0, func(d drawer) string { return d.initials(1) + d.word(nguni) }},
	{"Sotho and Tswana", 0, func(d drawer) string {
		return d.word("tshepo keabetswe retshepile thabo mpho lehlohonolo") + d.word("mokwena motsoeneng tlhapi letsholo ramaphosa")
	}},
	{"Shona", 0, func(d drawer) string {
		return d.word("tinashe rutendo tatenda ngonidzashe nyasha") + d.word("chikowore mutsvangwa zvobgo dzingirai nyamhunga")
	}},
	{"Korean words on Latin keys", 0, func(d drawer) string { return d.word(koreanWords) + d.word(koreanWords) }},
	{"Korean name on Latin keys, laughter", 0.5, func(d drawer) string {
		return d.word("rla dl qkr chl wjd rkd") + d.word(koreanOne) + d.word(koreanTwo) + "zzz"
	}},
	{"Russian name on Latin keys", 20, func(d drawer) string {
		return d.word("bdfy ctvty ybrbnf lvbnhbq jktu vfrcbv fyyf bhbyf") + d.word("gtnhjd bdfyjd cbljhjd rjpkjd cvbhyjd vjhjpjd")
	}},
	{"Chinese phrase beside a word", 2, func(d drawer) string { return d.pinyinInitials(4) + d.word("job dev mail web work") }},
	{"Japanese", 0, func(d drawer) string {
		return d.word("shunsuke ryuichiro yoshihiro tsuyoshi kazutaka hatsue") + d.word("kusunoki sugawara tsukuda ryuzaki kuwahara ohnishi")
	}},
	{"name without vowels, Japanese", 20, func(d drawer) string {
		return vowelless(d.word("shunsuke ryosuke kazutaka yuki")) + vowelless(d.word("watanabe kusunoki tanaka kikuchi"))
	}},
	{"name, x0x or xxx", 0.5, func(d drawer) string { return d.word(firsts) + d.word("x0x xxx xox o0o") + d.word("a lucas m ") }},
	{"framed name", 9, func(d drawer) string { x := d.word("xx xxx zz qq"); return x + d.word(firsts) + x }},
	{"keys beside a name", 1, func(d drawer) string { return d.word("qwe asd zxc qaz qwer") + d.word(firsts) + d.word(lasts) }},
	{"name, keys", 3, func(d drawer) string { return d.word(firsts) + d.word(lasts) + d.word("qwe asd zxc qwerty") }},
	{"year inside a name", 0.5, func(d drawer) string {
		return d.word(firsts) + "19" + d.of("6789", 1) + d.of(digits, 1) + d.word(lasts)
	}},
	{"every letter twice", 0.5, func(d drawer) string { return twice(d.word(firsts)) }},
	{"Arabic chat digits", 5, func(d drawer) string {
		return d.word("a7med m7mod fat7i sa3id 3omar mo7sen") + d.word("salah fawzi mansour naguib")
	}},
	{"user id", 0.5, func(d drawer) string { return d.initials(3) + d.of(digits, 1) + d.initials(2) }},
	{"Dutch initials, van", 0.6, func(d drawer) string { return d.initials(1+d.IntN(3)) + "v" + d.word(afterVan) }},
	{"Dutch initials, van de", 0.6, func(d drawer) string { return d.initials(1+d.IntN(3)) + "vd" + d.word(afterVanDe) }},
	{"Dutch initials, van het", 0.6, func(d drawer) string { return d.initials(1+d.IntN(3)) + "vh" + d.word(afterVanDe) }},
	{"Dutch initials, van den", 0.6, func(d drawer) string { return d.initials(1+d.IntN(3)) + ".vd" + d.word("h n ") + d.word(afterVanDe) }},
	{"Polynesian", 0.6, func(d drawer) string { return d.word(polynesian) }},
	{"two letters that are neighbours", 0, func(d drawer) string { return d.word("as sa jk kl er re we op io df gh ui") }},
}

const (
	letters     = "abcdefghijklmnopqrstuvwxyz"
	digits      = "0123456789"
	branches    = "cs ce ec ee me bt ch ai ds it is cse ece eee bce mec bcs aiml"
	makes       = "bmw audi zx gsx yz mig fiat volvo nokia casio sony"
	firsts      = "maria stefan priya ahmed chloe dmitri kenji lucas fatima ingrid pavel thomas joana"
	lasts       = "schmidt kumar garcia petrov tanaka silva johansson novak moretti kowalski dubois hernandez"
	koreanOne   = "als wl tn gus tj wns dud ehd tmd wo" // the keys of min ji su hyeon seo jun yeong dong seung jae
	koreanTwo   = "tn gns dn wls dud gh als rud gml dnjs"
	pinyin      = "wang zhang liu chen yang huang zhao zhou xu sun zhu guo he luo zheng liang xie tang"
	koreanWords = "gkrtod tkfka skan rhdiddl rkdkwl qksls gkfn ehtjrhks akdma duscnf" // the keys of student, person, tree, cat, puppy
	afterVan    = "baal balen blijswijk boxtel delden dinther eesteren egmond galen haren heeswijk kessel lith mourik oss uden veghel zeeland"
	afterVanDe  = "broek linden wal hoek wiel schoot oever zwan molengraft hurk tillaart klooster mortel donk burgt eijnde raadt tempel valk"
	polynesian  = "aiwohikupua iolanakauila leilaniau uluwehi hiiaka waianae leiataua iosefa toeaina vaiaoga ueata faaalo manaia tuiaea"
	nguni       = "ngcobo mkhize ngxola hlongwane mthethwa nxumalo gqirana cebekhulu zwane qwabe"
)

func (d drawer) of(set string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = set[d.IntN(len(set))]
	}
	return string(b)
}

func (d drawer) word(list string) string {
	words := strings.Fields(list)
	return words[d.IntN(len(words))]
}

func (d drawer) year() string { return fmt.Sprint(10 + d.IntN(16)) }
func (d drawer) date() string { return fmt.Sprintf("%02d%02d", 1+d.IntN(12), 1+d.IntN(28)) }

func (d drawer) initials(n int) (s string) {
	for range n {
		s += d.word(firsts + " " + lasts)[:1]
	}
	return s
}

func (d drawer) pinyinInitials(n int) (s string) {
	for range n {
		s += d.word(pinyin)[:1]
	}
	return s
}

func vowelless(s string) string {
	return s[:1] + strings.NewReplacer("a", "", "e", "", "i", "", "o", "", "u", "").Replace(s[1:])
}

func twice(s string) (t string) {
	for i := range len(s) {
		t += s[i:i+1] + s[i:i+1]
	}
	return t
}

// percentFlagged draws 2000 local parts of a class.
func percentFlagged(c class) (percent float64, last string) {
	d := drawer{rand.New(rand.NewPCG(12, uint64(len(c.name))))}
	const drawn = 2000
	for range drawn {
		if name := c.draw(d); Score([]byte(name)) >= 50 {
			percent += 100.0 / drawn
			last = name
		}
	}
	return percent, last
}

func TestPeopleAreNotFlagged(t *testing.T) {
	for _, c := range people {
		percent, last := percentFlagged(c)
		require.LessOrEqual(t, percent, c.flagged, "%s: %s", c.name, last)
	}
}

// The first thing that people type into a form, on four layouts.
func TestKeyboardRows(t *testing.T) {
	for name := range strings.FieldsSeq(`asdf sdf dfgh hjkl zxcv qwe qwer qwert qwerty uiop sdfg fghj ghjk cvbn vbnm
		asdfasdf qweqwe sdfsdf jkljkl zxczxc asdasd asdf123 asdf1234 qwe123 fdsa lkjh rewq asdfjkl asdfqwer
		qwertz yxcv yxcvb azerty qsdf wxcv aoeuid asdfg asdfgh zxcvb`) {
		require.GreaterOrEqual(t, Score([]byte(name)), uint8(50), name)
	}
}

// Names and words that are made of neighbouring keys.
func TestNamesOnARow(t *testing.T) {
	for name := range strings.FieldsSeq("were pop poi weer drew asad dasa sadaf fred wes reed tyree kjell uli iulia opio rewa sasa jk jkm asg") {
		require.Less(t, Score([]byte(name)), uint8(50), name)
	}
}
