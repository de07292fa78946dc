package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// data is the content of the data directory: own.txt is written by hand, the other
// files come from packages.
type data struct {
	names, surnames, towns, words, syllables sections

	digest string // of the files
}

// sections are lists of words by key: "cs first", "CZ", "cs".
type sections map[string][]string

func read(dir string) (*data, error) {
	d := &data{names: sections{}, surnames: sections{}, towns: sections{}, words: sections{}, syllables: sections{}}
	var all []byte
	for _, file := range []struct {
		name string
		into sections
	}{{"names.txt", d.names}, {"own.txt", d.names}, {"surnames.txt", d.surnames}, {"places.txt", d.towns},
		{"words.txt", d.words}, {"syllables.txt", d.syllables}} {
		text, err := os.ReadFile(filepath.Join(dir, file.name))
		if err != nil {
			return nil, err
		}
		if err := file.into.parse(string(text)); err != nil {
			return nil, fmt.Errorf("%s:%w", file.name, err)
		}
		all = append(all, text...)
	}
	d.digest = digestOf(all)
	return d, nil
}

// parse adds the sections of a file. A section that exists already grows.
func (s sections) parse(text string) error {
	key := ""
	for i, line := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "["):
			key = strings.Trim(line, "[]")
		case key == "" && line != "":
			return fmt.Errorf("%d: a word before the first [section]", i+1)
		default:
			s[key] = append(s[key], strings.Fields(line)...)
		}
	}
	return nil
}

// pronounceable returns the names and words of all files that have the letters of an
// address of temp-mail.org.
func (d *data) pronounceable() (words []string) {
	for _, s := range []sections{d.names, d.surnames, d.towns, d.words, d.syllables} {
		for _, key := range s.keys() {
			for _, w := range s[key] {
				if len(w) >= 5 && len(w) <= 7 && alternating.MatchString(w) {
					words = append(words, w)
				}
			}
		}
	}
	return words
}

var alternating = regexp.MustCompile(`^([b-df-hj-np-tv-z][aeiou])+[b-df-hj-np-tv-z]?$`)

// keys returns the keys in sorted order, so that every run uses the same one.
func (s sections) keys() []string {
	var all []string
	for key := range s {
		all = append(all, key)
	}
	slices.Sort(all)
	return all
}

// lists returns the sections with a key that passes keep, sorted by key.
func (s sections) lists(keep func(key string) bool) (all [][]string) {
	for _, key := range s.keys() {
		if keep(key) {
			all = append(all, s[key])
		}
	}
	return all
}

// lexicon is the words that local parts are generated from.
type lexicon struct {
	cultures []culture
	towns    [][]string // by country
	words    [][]string // by language
	english  []string
	firsts   []string // first names of all cultures
	acronyms []string
	arabic   culture
	dutch    []string // last names without van, van de and the like, and towns
	surnames []string // of the United States, so of many cultures
	syllables
}

// culture is the first and last names of one culture.
type culture struct {
	key         string
	first, last []string
}

func everything(string) bool { return true }

// lexicon returns the cultures, countries and languages with a key that passes keep.
// English words, acronyms and syllables are always included.
func (d *data) lexicon(keep func(key string) bool) *lexicon {
	l := &lexicon{
		towns:    d.towns.lists(keep),
		words:    d.words.lists(keep),
		english:  slices.Concat(d.words["en common"], d.words["en"]),
		acronyms: d.names["acronyms"],

		syllables: newSyllables(d.syllables),
	}
	if keep("us") {
		l.surnames = d.surnames["us last"]
	}
	for _, section := range d.names.keys() {
		key, part, isName := strings.Cut(section, " ")
		if isName && keep(key) {
			l.culture(key).add(part, d.names[section])
		}
	}
	for i := range l.cultures {
		l.cultures[i].complete()
		l.firsts = append(l.firsts, l.cultures[i].first...)
		if l.cultures[i].key == "ar" {
			l.arabic = l.cultures[i]
		}
	}
	if keep("nl") {
		l.dutch = slices.Concat(withoutParticle(d.names["nl last"]), withoutParticle(d.names["af last"]), d.towns["NL"])
	}
	return l
}

// withoutParticle returns the names that begin with van, van de and the like, without it.
func withoutParticle(names []string) (bare []string) {
	for _, name := range names {
		for _, particle := range []string{"vanhet", "vanden", "vander", "vande", "vant", "van"} {
			if rest := strings.TrimPrefix(name, particle); rest != name && len(rest) > 2 {
				bare = append(bare, rest)
				break
			}
		}
	}
	return bare
}

// culture returns the culture with this key, adding it if it is new. Keys arrive
// sorted, so only the last culture can have it.
func (l *lexicon) culture(key string) *culture {
	if n := len(l.cultures); n == 0 || l.cultures[n-1].key != key {
		l.cultures = append(l.cultures, culture{key: key})
	}
	return &l.cultures[len(l.cultures)-1]
}

func (c *culture) add(part string, names []string) {
	if part == "last" {
		c.last = append(c.last, names...)
	} else {
		c.first = append(c.first, names...)
	}
}

// complete uses last names as first names if c has no first names, and the
// reverse.
func (c *culture) complete() {
	if len(c.first) == 0 {
		c.first = c.last
	}
	if len(c.last) == 0 {
		c.last = c.first
	}
}

// syllables are what Chinese and Korean handles are made of. The Korean ones are
// the Latin letters of the Korean keys. A frequent one is in its list repeatedly.
type syllables struct {
	pinyin                                                   []string
	koreanFirst, koreanLast, givenOne, givenTwo, koreanWords []string
	koreanSyllables                                          []string
	russianFirst, russianLast, russianWords                  []string
}

func newSyllables(s sections) syllables {
	return syllables{s["pinyin"], s["keys first"], s["keys last"], s["keys given one"], s["keys given two"], s["keys word"],
		s["keys syllable"], s["russian keys first"], s["russian keys last"], s["russian keys word"]}
}

// syllable returns a Chinese syllable.
func (g *generator) syllable() string { return pick(g, g.pinyin) }

// chinese returns a name or a phrase in pinyin.
func (g *generator) chinese() string {
	s := ""
	for range 1 + g.IntN(4) {
		s += g.syllable()
	}
	switch g.IntN(6) {
	case 0:
		s = g.initials(1) + s
	case 1:
		s += pick(g, []string{"a", "x", "z", "qq", "vip", "xx", "zz", "cn", "ya", "er", "y"})
	case 2:
		if len(s) > 4 { // a letter is missing
			i := g.IntN(len(s))
			s = s[:i] + s[i+1:]
		}
	}
	return s + g.maybeHandleNumber(2)
}

// phrase returns the initials of a Chinese phrase, alone or beside a word.
func (g *generator) phrase() string {
	s := g.phraseInitials(3 + g.IntN(6))
	switch g.IntN(6) {
	case 0:
		s = cut(s, 4) + g.syllable()
	case 1:
		s = g.syllable() + cut(s, 4)
	case 2:
		s = cut(s, 5) + pick(g, []string{"job", "dev", "mail", "qq", "vip", "cn", "code", "web", "it", "work", "xx", "hh"})
	}
	return s + g.maybeHandleNumber(4)
}

// phraseInitials returns the initials of n Chinese syllables.
func (g *generator) phraseInitials(n int) (s string) {
	for range n {
		s += cut(g.syllable(), 1)
	}
	return s
}

// korean returns a Korean name, or words, typed without switching the keyboard
// from Latin: alstn for Min-su.
func (g *generator) korean() string {
	given := pick(g, g.koreanFirst)
	if g.oneIn(2) {
		given = pick(g, g.givenOne) + pick(g, g.givenTwo)
	}
	s := pick(g, g.koreanLast) + given
	switch g.IntN(10) {
	case 0:
		s = given
	case 1:
		s = pick(g, g.koreanWords)
	case 2:
		s = pick(g, g.koreanWords) + pick(g, g.koreanWords)
	case 3, 4, 5:
		s = ""
		for range 2 + g.IntN(3) {
			s += pick(g, g.koreanSyllables)
		}
	case 6: // laughter
		s += strings.Repeat(pick(g, []string{"z", "g"}), 2+g.IntN(3))
	}
	return s + g.maybeHandleNumber(2)
}

// particled returns a Dutch name as people shorten it: initials, then the particle's
// initials, then the rest: jpmvdheuvel for J. P. M. van den Heuvel.
func (g *generator) particled() string {
	name, last := cut(pick(g, g.firsts), 1), pick(g, g.dutch)
	switch g.IntN(8) {
	case 0, 1, 2, 3:
		name += g.initials(g.IntN(3))
	case 4:
		name = pick(g, g.firsts)
	case 5:
		last = cut(last, 1+g.IntN(3))
	}
	separators := pick(g, []string{"", "", "", ".", "_"})
	s := name + separators + pick(g, particles) + last
	if g.oneIn(8) {
		s = pick(g, particles) + last + separators + name
	}
	return s + g.maybeHandleNumber(5)
}

var particles = strings.Fields("v v v v v v v v vd vd vd vd vh vh vh vh vdh vdh vdn vdm vder vt")

// polynesian returns words of open syllables, two in five of them without a consonant:
// aiwohikupua.
func (g *generator) polynesian() string {
	var b strings.Builder
	consonants := pick(g, []string{"hklmnpwk", "hklmnpwk", "fgklmnpstv", "hkmnprtw"}) // Hawaiian, Samoan, Maori
	syllables := 3 + g.IntN(9)
	for i := range syllables {
		if g.IntN(5) < 3 {
			b.WriteString(g.from(consonants, 1, 1))
		}
		b.WriteString(g.from("aaaeiiouu", 1, 1))
		if i == syllables/2 && g.oneIn(5) {
			b.WriteString(g.separator())
		}
	}
	return b.String() + g.maybeHandleNumber(4)
}

// russian returns a Russian name or word, typed without switching the keyboard from
// Latin: ybrbnf for Nikita.
func (g *generator) russian() string {
	switch g.IntN(4) {
	case 0:
		return pick(g, g.russianFirst) + g.maybeHandleNumber(2)
	case 1:
		return pick(g, g.russianLast) + g.maybeHandleNumber(2)
	case 2:
		return pick(g, g.russianWords) + g.maybeHandleNumber(2)
	}
	return cut(pick(g, g.russianFirst), 1+g.IntN(10)) + pick(g, g.russianLast)
}

// Words that local parts are generated with, besides names and dictionaries.
var (
	handlePrefixes = strings.Fields(`the mr mrs dr dj mc el la le i im its real official iam ilove love xo king queen lil
		big super mega pro not just my only x xx team mad crazy old new happy miss sir captain`)
	handleSuffixes = strings.Fields(`fan lover girl boy gamer gaming pro man lady queen king mama dad photo art music design
		fit yoga travels blog tv hd x xx xo lol official life world online club rider runner gg yt ttv`)
)

// accountWords precede a number, numberWords contain a digit, and sounds are
// exclamations.
var (
	accountWords = strings.Fields("qq wx user id tel member client acc mail vip guest student emp uid ref no nr")
	numberWords  = strings.Fields(`gr8 m8 l8r sk8 sk8er b4 2day 2nite 4ever 4u 2u 4you w8 h8 str8 4x4 24x7 u2 mp3 mp4 3d 2d 4k
		5g h2o co2 b2b b2c p2p ps4 ps5 r2d2 c3po i18n k9 f1 a1 c4 v8 v12 7up 3com 1st 2nd 3rd 4th 5th 1to1 one2one 2be
		me2 2me a2z e2e g2 x2 w3 web3 s2 no1 nr1 top10 vol2 b4u`)
	sounds = strings.Fields(`haha hahaha hehe hehehe hihi hihihi jaja jajaja lala lalala nana nanana dada dudu lulu lolo
		lol xoxo wow yay yoyo ooh aha tata toto titi kiki koko kuku coco cici zaza zizi zuzu bobo bibi bubu mimi momo
		mumu nini nono papa pipi popo sisi soso susu vivi wawa yaya yuyu`)
)

var (
	companySuffixes = strings.Fields(`inc llc ltd gmbh ag sa srl spa bv nv oy ab as aps sro doo kft plc corp co group holding
		consulting services solutions systems tech technologies software design studio media digital labs partners
		logistics trading import export travel tours hotel clinic dental law legal accounting finance bank auto motors
		garage construction build homes realty estate foods bakery cafe bar restaurant shop store market academy school
		university college church foundation association sports fitness gym beauty salon spa pharma medical care`)
	companyPrefixes = strings.Fields(`info contact office hello team sales admin mail post service support shop the my get go
		new global euro trans inter multi micro bio eco agro tele auto atelier studio hotel dr cafe casa villa`)
)

var roleWords = strings.Fields(`info admin contact support sales office help service team mail jobs hr pr press media
	marketing billing accounts invoices payments legal privacy abuse security webmaster postmaster hostmaster noreply
	newsletter news alerts notifications orders bookings reservations reception secretary director ceo cfo cto ceo board
	events training school library editor redaktion verkauf vertrieb buchhaltung kontakt bewerbung sekretariat ventas
	compras contacto soporte atencion clientes administracion comercial direccion contabilidad vendas suporte contato
	financeiro comptabilite accueil secretariat direction commercial rh recrutement ufficio amministrazione vendite
	assistenza segreteria biuro sklep sprzedaz kadry kontakty obchod podpora faktury prodej ucetni myynti toimisto asiakaspalvelu
	order salg kundeservice regnskap forsaljning kundtjanst inkoop verkoop administratie klantenservice muhasebe satis destek
	bilgi insankaynaklari iletisim zakaz prodazhi buhgalter sekretar otdel helpdesk it dev devops ops api test demo qa
	data research lab clinic dental desk front web shop store cs crm erp edi procurement logistics warehouse dispatch`)

var (
	frames     = strings.Fields("x x xx xxx o oo _ __")
	insets     = strings.Fields("x xx xxx x0x xox o0o ox xo z zz zzz q qq ii iii ll l o oo ooo 0 00 000 0x x0 yo lol uwu owo k kk yy jj hh vv v h7 2k 1x 01 ttv gg gm hd mm nn pp ss tt ww aa ee bb dd")
	typed      = strings.Fields("qwe qwe qwer qwert qwerty qwerty qwerty asd asd asdf zxc zxc zxcv qaz wsx edc qazwsx qwertz azerty zaq xsw ewq dsa cxz")
	diminutive = strings.Fields("y ie inho ito ita ka chka ek li chan kun jan")
	regions    = strings.Fields("eu us uk de fr it cz hr jp in br ww")
)

// makes and modelSuffixes are parts of the names of cars, planes and devices;
// branches are fields of study as roll numbers abbreviate them.
var (
	makes = strings.Fields(`bmw audi vw golf gti mercedes benz amg volvo saab ford gt mustang chevy corvette dodge ram jeep honda
		civic cbr crf toyota supra gtr nissan mazda mx rx subaru wrx sti suzuki gsx yamaha yz yzf mt kawasaki zx ninja ducati
		ktm exc duke vespa harley fiat alfa ferrari porsche lambo tesla lada vaz zaz uaz opel astra peugeot renault clio
		citroen skoda seat kia hyundai lexus rover bentley aston boeing airbus cessna mig su ak ar glock mi sig hk fn
		zx spectrum c cpc atari st amiga msx vic ti hp ibm ps xbox wii gba psp nes snes gtx rtx i ryzen amd rpi esp stm
		arduino nikon canon eos sony nokia iphone galaxy note mac ipad commodore casio yashica leica fender strat les paul`)
	modelSuffixes = strings.Fields(`i d s e t x r c gt gti gtx xl is ci di ti tdi tsi rs ss sl slk se le xt z xi cs f k l b g h m v a p
		pro max mini plus turbo sport fan lover rider driver boy girl man`)
	branches = strings.Fields(`cs cse ce cee ec ece ee eee me mech it ise is ai ml aiml ds csd csm bt btech bce bca mca mba ba
		bsc msc phd bit bct bei bex bel bme ch che ie eie et ete aids cys cyb csai csds csit bci bcs bec mis mcs ug pg st stu
		ma ms ph cb en eng ar law med eco fin mgt p f h d r a e g k c m s t w x`)
)
