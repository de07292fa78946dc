package main

import "strconv"

// Numbers inside and in front of names: years, dates, models, and the numbers
// that schools and companies hand out.

// favourites are numbers that people like, in the Latin world and in China.
var favourites = []string{"123", "007", "1234", "111", "000", "99", "00", "12345", "321", "666", "777", "888", "520", "1314",
	"2k", "69", "101", "404", "365", "1122", "0101"}

// handleNumber returns a number as handles have it: a year, a date, one to four
// digits or a favourite.
func (g *generator) handleNumber() string {
	switch g.IntN(9) {
	case 0, 1:
		return strconv.Itoa(1950 + g.IntN(75))
	case 2, 3:
		return g.digits(2)
	case 4:
		return g.digits(1)
	case 5:
		return g.digits(3)
	case 6:
		return g.digits(4)
	case 7:
		return pick(g, favourites)
	}
	return g.date()
}

func (g *generator) maybeHandleNumber(n int) string {
	if g.oneIn(n) {
		return g.handleNumber()
	}
	return ""
}

// date returns the day and the month of a birthday, perhaps with the year.
func (g *generator) date() string {
	day, month := strconv.Itoa(1+g.IntN(31)), strconv.Itoa(1+g.IntN(12))
	if g.oneIn(2) {
		day, month = twoDigits(day), twoDigits(month)
	}
	return pick(g, []string{day + month, month + day, g.digits(2) + twoDigits(month) + twoDigits(day),
		twoDigits(day) + twoDigits(month) + strconv.Itoa(1960+g.IntN(50))})
}

func twoDigits(s string) string {
	if len(s) < 2 {
		return "0" + s
	}
	return s
}

// numbered returns a name or initials with a number inside or in front.
func (g *generator) numbered() string {
	w, n := g.anyWord(), g.handleNumber()
	if g.oneIn(4) {
		w = g.initials(2 + g.IntN(2))
	}
	switch g.IntN(14) {
	case 0, 1:
		return w + n + g.initials(1+g.IntN(2))
	case 2:
		return w + n + g.initials(1+g.IntN(4))
	case 3, 4:
		return w + n + g.anyWord()
	case 5, 6:
		return n + w
	case 7:
		return n + g.initials(1+g.IntN(3))
	case 8:
		return n + w + g.handleNumber()
	case 9:
		return g.initials(1+g.IntN(2)) + n + w
	case 10:
		return g.initials(1+g.IntN(3)) + n + g.initials(1+g.IntN(3))
	case 11:
		return w + pick(g, []string{"2k", "4u", "2", "4", "x", "k", "0", "1"}) + g.digits(g.IntN(3)) + cut(g.anyWord(), 1+g.IntN(4))
	case 12:
		return w + n + g.initials(1) + g.digits(1+g.IntN(3))
	}
	return w + g.maybeSeparator() + n + g.maybeSeparator() + cut(g.anyWord(), 3+g.IntN(5)) + g.maybeNumber(3)
}

// model returns a handle with the model of a car, a plane or a device: bmw325i,
// zx81fan, my911turbo.
func (g *generator) model() string {
	make, number := pick(g, makes), g.digits(1+g.IntN(4))
	switch g.IntN(4) {
	case 0:
		make = g.initials(1 + g.IntN(3))
	case 1:
		number = strconv.Itoa(1+g.IntN(9)) + pick(g, []string{"0", "00", "5", "20", "50", "25", "11", "80"})
	}
	suffix := pick(g, modelSuffixes)
	switch g.IntN(8) {
	case 0:
		return make + g.maybeSeparator() + number
	case 1:
		return g.anyWord() + g.maybeSeparator() + make + number + suffix
	case 2:
		return make + number + suffix + g.maybeSeparator() + g.anyWord()
	case 3:
		return make + number + pick(g, handleSuffixes)
	case 4:
		return g.initials(1) + number + suffix
	case 5:
		return number + suffix + g.maybeSeparator() + g.anyWord()
	}
	return make + number + suffix
}

// roll returns a number that a school or a company hands out: the year of
// admission, a branch of study and a running number in any order.
func (g *generator) roll() string {
	year := twoDigits(strconv.Itoa(g.IntN(30)))
	branch := pick(g, branches)
	switch g.IntN(25) {
	case 0, 1:
		return year + branch + g.digits(2+g.IntN(4))
	case 2:
		return "20" + year + branch + g.digits(2+g.IntN(4))
	case 3, 4: // 23f2000000
		return year + pick(g, []string{"f", "ds", "d", "b", "m", "p", "h", "s"}) + g.digits(1) + "0" + g.digits(5)
	case 5: // 1ms20ec000
		return g.digits(1) + g.from(letterSet, 2, 2) + year + branch + g.digits(3)
	case 6: // 0000000m
		return g.digits(6+g.IntN(3)) + g.from(letterSet, 1, 2)
	case 7: // f20190000
		return g.from(letterSet, 1, 2) + "20" + year + g.digits(3+g.IntN(3))
	case 8: // e0000000
		return g.from(letterSet, 1, 3) + g.digits(5+g.IntN(4))
	case 9: // 24b01a1200
		return year + g.from(letterSet, 1, 1) + g.digits(2) + g.from(letterSet, 1, 1) + g.digits(4)
	case 10: // 24311a6200
		return year + g.digits(3) + pick(g, []string{"a", "b", "d"}) + g.digits(4)
	case 11: // bl.en.u4cse20000
		return pick(g, []string{"bl", "cb", "av", "am", "ch"}) + ".en.u4" + branch + year + g.digits(3)
	case 12, 13:
		return g.anyName() + g.maybeSeparator() + year + branch + g.maybeDigits()
	case 14: // 000bct000
		return "0" + g.digits(2) + branch + g.digits(3)
	case 15: // a000b000
		return g.from(letterSet, 1, 1) + g.digits(3) + g.from(letterSet, 1, 1) + g.digits(3)
	case 16: // ab2c19
		return g.initials(2) + g.digits(1+g.IntN(2)) + g.initials(1+g.IntN(3)) + g.maybeDigits()
	case 17: // e19cse000
		return g.from(letterSet, 1, 2) + year + branch + g.digits(2+g.IntN(3))
	case 19, 20: // cs21b1000
		return branch + year + g.from(letterSet, 1, 1) + g.digits(3+g.IntN(2))
	case 21, 24: // the same of other branches, also if every letter is hexadecimal
		set := pick(g, []string{letterSet, letterSet, "abcdef"})
		return g.from(set, 2, 3) + year + g.from(pick(g, []string{set, "bdmps"}), 1, 1) + g.digits(3+g.IntN(2))
	case 22: // s23ab000
		return g.from(letterSet, 1, 1) + year + g.from(letterSet, 2, 2) + g.digits(3)
	case 18:
		return g.initials(2+g.IntN(3)) + g.digits(1+g.IntN(4))
	}
	return branch + year + g.from(letterSet, 1, 2) + g.digits(2+g.IntN(3))
}

func (g *generator) maybeDigits() string {
	if g.oneIn(2) {
		return ""
	}
	return g.digits(2 + g.IntN(2))
}
