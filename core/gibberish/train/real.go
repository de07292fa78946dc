package main

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// maker makes up local parts. The same seed gives the same ones.
type maker struct {
	*rand.Rand
	*lexicon
	weights      []float64 // running sum over peoples
	randomShares []kind
}

func newMaker(seed uint64, l *lexicon) *maker {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, 1)), lexicon: l, randomShares: randomShares}
	sum := 0.0
	for _, p := range l.peoples { // large lists weigh more, but not by their size
		sum += math.Sqrt(float64(min(len(p.first)+len(p.last), 1000)))
		m.weights = append(m.weights, sum)
	}
	return m
}

// kind is a kind of local part and how often it is made, out of all.
type kind struct {
	name  string
	often int
	make  func(*maker) string
}

func (m *maker) choose(kinds []kind) string {
	all := 0
	for _, k := range kinds {
		all += k.often
	}
	n := m.IntN(all)
	for _, k := range kinds {
		if n -= k.often; n < 0 {
			return k.make(m)
		}
	}
	panic("unreachable")
}

func pick[T any](m *maker, from []T) T { return from[m.IntN(len(from))] }

// odds is true once in n.
func (m *maker) odds(n int) bool { return m.IntN(n) == 0 }

// real makes up a local part of the kinds people and companies use.
func (m *maker) real() string {
	for {
		if s := m.choose(realShares); len(s) >= 2 && len(s) <= 64 {
			return s
		}
	}
}

var realShares = []kind{
	{"people", 600, (*maker).person},
	{"words", 70, (*maker).dictionary},
	{"handles", 100, (*maker).handle},
	{"companies", 50, (*maker).company},
	{"short", 30, (*maker).short},
	{"initials", 30, (*maker).initials},
	{"identifiers", 25, (*maker).truncated},
	{"acronyms", 25, (*maker).acronym},
	{"leet", 35, (*maker).leet},
	{"roles", 20, (*maker).role},
}

func (m *maker) people() *people {
	x := m.Float64() * m.weights[len(m.weights)-1]
	for i, w := range m.weights {
		if x < w {
			return &m.peoples[i]
		}
	}
	return &m.peoples[0]
}

// name picks a first and a last name, of one people as a rule. Towns stand in
// for last names now and then, since surnames sound like them.
func (m *maker) name() (first, last string) {
	p := m.people()
	first, last = pick(m, p.first), pick(m, p.last)
	switch odd := m.IntN(12); {
	case odd == 0:
		last = pick(m, m.people().last)
	case odd == 1 && len(m.towns) > 0:
		last = pick(m, pick(m, m.towns))
	}
	return first, last
}

// person writes a name the ways addresses do.
func (m *maker) person() string {
	first, last := m.name()
	var s string
	switch m.IntN(22) {
	case 0, 1, 2, 3:
		s = first + m.separator() + last
	case 4, 5:
		s = first + last
	case 6, 7:
		s = first[:1] + last
	case 8:
		s = first[:1] + m.separator() + last
	case 9:
		s = first + last[:1]
	case 10:
		s = last + first[:1]
	case 11:
		s = last + m.separator() + first
	case 12:
		s = last + first
	case 13, 14:
		s = first
	case 15:
		s = last
	case 16:
		s = first + "." + last[:1] // and the other way round
		if m.odds(2) {
			s = last + "." + first[:1]
		}
	case 17:
		middle, _ := m.name()
		s = first + m.separator() + middle[:1] + m.separator() + last
	case 18:
		middle, _ := m.name()
		s = first[:1] + middle[:1] + last
		if m.odds(2) {
			s = first[:1] + "." + middle[:1] + "." + last
		}
	case 19:
		_, other := m.name()
		s = first + m.separator() + last + m.maybeSeparator() + other
	case 20:
		middle, _ := m.name()
		s = first + m.maybeSeparator() + middle + m.maybeSeparator() + last
	case 21: // several initials of given names, as with Chinese, Vietnamese, Korean names
		p := m.people()
		s = last + m.maybeSeparator() + first[:1] + pick(m, p.first)[:1]
		if m.odds(2) {
			s = first[:1] + pick(m, p.first)[:1] + m.maybeSeparator() + last
		}
	}
	if m.odds(4) {
		s += m.number()
	}
	return s
}

func (m *maker) separator() string { return pick(m, []string{".", ".", ".", "_", "-"}) }

func (m *maker) maybeSeparator() string {
	if m.odds(2) {
		return ""
	}
	return m.separator()
}

// number is a number as people add one: years above all, sometimes a date or
// a telephone number.
func (m *maker) number() string {
	switch m.IntN(11) {
	case 0, 1, 2:
		return strconv.Itoa(1950 + m.IntN(75))
	case 3, 4, 5:
		return m.digits(2)
	case 6, 7:
		return strconv.Itoa(m.IntN(10))
	case 8:
		return m.digits(3)
	case 9:
		return m.digits(5 + m.IntN(7))
	}
	return pick(m, []string{m.digits(4), "_" + m.digits(2), "." + m.digits(2), "123", "007", "1234"})
}

func (m *maker) digits(n int) string {
	var b strings.Builder
	for range n {
		b.WriteByte('0' + byte(m.IntN(10)))
	}
	return b.String()
}

func (m *maker) maybeNumber(odds int) string {
	if m.odds(odds) {
		return m.number()
	}
	return ""
}

// word picks a word, English twice as often as any other language's.
func (m *maker) word() string {
	if m.odds(4) {
		return pick(m, m.english)
	}
	return pick(m, pick(m, m.words))
}

// dictionary joins one to three words.
func (m *maker) dictionary() string {
	language := pick(m, m.words)
	if m.odds(3) {
		language = m.english
	}
	s := pick(m, language)
	for range m.IntN(3) {
		s += pick(m, []string{"", "", ".", "_", "-"}) + pick(m, language)
	}
	return s + m.maybeNumber(6)
}

// handle makes up a nickname.
func (m *maker) handle() string {
	first := pick(m, m.firsts)
	w := pick(m, m.english)
	switch m.IntN(12) {
	case 0:
		return pick(m, handlePrefixes) + m.maybeSeparator() + w + m.maybeNumber(2)
	case 1:
		return w + m.maybeSeparator() + pick(m, handleSuffixes) + m.maybeNumber(2)
	case 2:
		return first + m.separator() + m.number()
	case 3:
		return first + m.maybeSeparator() + w + m.maybeNumber(2)
	case 4:
		return w + m.maybeSeparator() + first + m.maybeNumber(2)
	case 5:
		x, gap := pick(m, []string{"x", "x", "xx", "xxx", "o", "oo", "_", "__"}), m.maybeSeparator()
		return x + gap + pick(m, []string{w, first}) + gap + x
	case 6:
		return pick(m, m.english) + m.maybeSeparator() + w + m.maybeNumber(2)
	case 7:
		return w + m.number()
	case 8:
		return m.nickname(first) + m.maybeNumber(2)
	case 9:
		if m.odds(4) {
			return pick(m, accountWords) + m.maybeSeparator() + m.digits(3+m.IntN(9))
		}
		return pick(m, []string{w, first, ""}) + m.maybeSeparator() + pick(m, numberWords) + m.maybeSeparator() + pick(m, []string{w, first, ""})
	case 10:
		return pick(m, sounds) + m.maybeSeparator() + pick(m, []string{w, first, ""}) + m.maybeNumber(2)
	}
	return first + pick(m, []string{"y", "ie", "inho", "ito", "ita", "ka", "chka", "ek", "li", "chan", "kun", "jan"}) + m.maybeNumber(2)
}

// nickname shortens a name, doubles a piece of it or draws out its end, as in
// kris, momo, annaaa.
func (m *maker) nickname(name string) string {
	short := name[:min(len(name), 2+m.IntN(3))]
	if m.odds(3) {
		short = name
	} else if len(short) == 2 {
		short += short
	}
	if m.odds(3) {
		short += strings.Repeat(short[len(short)-1:], 1+m.IntN(3))
	}
	return short
}

var (
	handlePrefixes = strings.Fields(`the mr mrs dr dj mc el la le i im its real official iam ilove love xo king queen lil
		big super mega pro not just my only x xx team mad crazy old new happy miss sir captain`)
	handleSuffixes = strings.Fields(`fan lover girl boy gamer gaming pro man lady queen king mama dad photo art music design
		fit yoga travels blog tv hd x xx xo lol official life world online club rider runner gg yt ttv`)
)

// accountWords come before a number, numberWords are words that a digit is part of, sounds what people exclaim.
var (
	accountWords = strings.Fields("qq wx user id tel member client acc mail vip guest student emp uid ref no nr")
	numberWords  = strings.Fields(`gr8 m8 l8r sk8 sk8er b4 2day 2nite 4ever 4u 2u 4you w8 h8 str8 4x4 24x7 u2 mp3 mp4 3d 2d 4k
		5g h2o co2 b2b b2c p2p ps4 ps5 r2d2 c3po i18n k9 f1 a1 c4 v8 v12 7up 3com 1st 2nd 3rd 4th 5th 1to1 one2one 2be
		me2 2me a2z e2e g2 x2 w3 web3 s2 no1 nr1 top10 vol2 b4u`)
	sounds = strings.Fields(`haha hahaha hehe hehehe hihi hihihi jaja jajaja lala lalala nana nanana dada dudu lulu lolo
		lol xoxo wow yay yoyo ooh aha tata toto titi kiki koko kuku coco cici zaza zizi zuzu bobo bibi bubu mimi momo
		mumu nini nono papa pipi popo sisi soso susu vivi wawa yaya yuyu`)
)

// company makes up the address of a business.
func (m *maker) company() string {
	_, last := m.name()
	name := pick(m, []string{last, m.word(), m.word() + m.word(), pick(m, pick(m, m.towns)), last + m.word()})
	switch m.IntN(5) {
	case 0:
		return name + m.maybeSeparator() + pick(m, companySuffixes)
	case 1:
		return pick(m, companyPrefixes) + m.maybeSeparator() + name
	case 2:
		return name + m.maybeSeparator() + pick(m, pick(m, m.towns))
	case 3:
		return name + m.maybeSeparator() + m.word()
	}
	return pick(m, companyPrefixes) + m.maybeSeparator() + name + pick(m, companySuffixes)
}

var (
	companySuffixes = strings.Fields(`inc llc ltd gmbh ag sa srl spa bv nv oy ab as aps sro doo kft plc corp co group holding
		consulting services solutions systems tech technologies software design studio media digital labs partners
		logistics trading import export travel tours hotel clinic dental law legal accounting finance bank auto motors
		garage construction build homes realty estate foods bakery cafe bar restaurant shop store market academy school
		university college church foundation association sports fitness gym beauty salon spa pharma medical care`)
	companyPrefixes = strings.Fields(`info contact office hello team sales admin mail post service support shop the my get go
		new global euro trans inter multi micro bio eco agro tele auto atelier studio hotel dr cafe casa villa`)
)

// short is two to five letters: initials, or a name cut off.
func (m *maker) short() string {
	first, last := m.name()
	switch m.IntN(4) {
	case 0:
		return first[:1] + last[:1] + m.maybeNumber(3)
	case 1:
		middle, _ := m.name()
		return first[:1] + middle[:1] + last[:1] + m.maybeNumber(3)
	case 2:
		return first[:1] + last[:min(len(last), 1+m.IntN(4))]
	}
	return pick(m, []string{first, last})[:min(len(first), len(last), 2+m.IntN(3))]
}

// initials are one to four initials with a year or number.
func (m *maker) initials() string {
	s := ""
	for range 1 + m.IntN(4) {
		first, _ := m.name()
		s += first[:1]
	}
	return s + pick(m, []string{"", ".", "_", "-"}) + m.number()
}

// truncated is an identifier as universities and companies assign them.
func (m *maker) truncated() string {
	first, last := m.name()
	last = last[:min(len(last), 3+m.IntN(5))]
	switch m.IntN(5) {
	case 0:
		return last + first[:1] + m.maybeNumber(2)
	case 1:
		return first[:1] + last + m.maybeNumber(2)
	case 2:
		return last + first[:min(len(first), 2+m.IntN(2))] + m.maybeNumber(2)
	case 3:
		return first[:min(len(first), 2+m.IntN(2))] + last + m.digits(2+m.IntN(3))
	}
	middle, _ := m.name()
	return first[:1] + middle[:1] + last + m.maybeNumber(2)
}

// acronym is the first letters of some words, alone or joined.
func (m *maker) acronym() string {
	s := pick(m, m.acronyms)
	if m.odds(2) {
		s = ""
		for range 2 + m.IntN(4) {
			s += m.word()[:1]
		}
	}
	_, last := m.name()
	switch m.IntN(8) {
	case 0:
		return s + m.separator() + pick(m, []string{last, m.word(), pick(m, pick(m, m.towns))})
	case 1:
		return pick(m, []string{last, m.word(), "info", "admin"}) + m.separator() + s
	case 2:
		return s + pick(m, companySuffixes)
	case 3:
		return s + m.number()
	case 4:
		return s + m.digits(3)
	case 5:
		s += m.maybeSeparator() + pick(m, m.acronyms)
		if m.odds(2) {
			s += m.separator() + pick(m, []string{m.word(), pick(m, m.acronyms)})
		}
		return s
	case 6:
		return pick(m, []string{s + m.word(), m.word() + s, s + last})
	}
	return s
}

// leet writes some letters of a handle as the digits that look like them,
// each letter every time it occurs or now and then.
func (m *maker) leet() string {
	s := []byte(pick(m, []string{m.word(), pick(m, m.firsts), m.handle(), pick(m, m.english) + pick(m, m.english)}))
	chosen, always := m.Uint32()&m.Uint32(), m.odds(2)
	for i, b := range s {
		d := strings.IndexByte(leetLetters, b)
		if d >= 0 && (always && chosen>>d&1 != 0 || !always && m.odds(4)) {
			s[i] = '0' + byte(d)
		}
	}
	if m.odds(8) {
		return pick(m, []string{"2", "4", "1"}) + m.maybeSeparator() + string(s) + m.maybeNumber(3)
	}
	return string(s) + m.maybeNumber(3)
}

// leetLetters look like the digits 0 to 9.
const leetLetters = "oi eas tbg"

// role is a function's address, with a place, a language or a number.
func (m *maker) role() string {
	s := pick(m, roleWords)
	switch m.IntN(5) {
	case 0:
		return s + m.separator() + m.word()
	case 1:
		return s + m.separator() + pick(m, []string{"eu", "us", "uk", "de", "fr", "it", "cz", "hr", "jp", "in", "br", "ww"})
	case 2:
		return s + m.number()
	case 3:
		return s + m.maybeSeparator() + pick(m, roleWords)
	}
	return s
}

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
