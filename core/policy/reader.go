package policy

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/addrspec/addrspec/core"
)

// reader reads a document. Its methods return an *Error, or nil.
type reader struct {
	scanner
	section list   // the member of the document that is being read
	member  string // the member of section that is being read, or ""
	index   int    // the index in the array of member, or -1

	addresses, domains entries
	exchanges          [noList]entries
	reasons            [noList][]reason
	entries            int // addresses, domains and exchanges
	lists              int // bytes in their arrays
	hosts              core.HostReader
	checker            *core.Checker
}

const (
	addressesMember = "addresses"
	domainsMember   = "domains"
	exchangesMember = "exchanges"
	reasonsMember   = "reasons"
)

var memberNames = []string{addressesMember, domainsMember, exchangesMember, reasonsMember}

func (r *reader) readDocument() error {
	if len(r.text) > MaxDocument {
		return &Error{Place: "the document", Problem: "it has more than " + strconv.Itoa(MaxDocument) + " bytes"}
	}
	if bytes.HasPrefix(r.text, []byte("\uFEFF")) {
		return r.malformed(0, "the document begins with a byte order mark; save it as UTF-8 without one")
	}
	if err := r.object(r.readSection); err != nil {
		return err
	}
	if r.skipSpace(); r.at < len(r.text) {
		return r.malformed(r.at, "text follows the end of the document; remove it")
	}
	if len(r.text)-r.lists > MaxRest {
		return &Error{Place: "the document", Problem: "it has more than " + strconv.Itoa(MaxRest) + " bytes outside its arrays of domains, addresses and exchanges"}
	}
	return nil
}

// object reads an object. It calls read for each member, with its name in place, to read
// its value. No name may repeat.
func (r *reader) object(read func(name string, start int) error) error {
	if err := r.open('{', "an object"); err != nil {
		return err
	}
	var names [4]string // as many as there are known ones
	for n := 0; ; n++ {
		if r.skipSpace(); n == 0 && r.skip('}') {
			return nil
		}
		start := r.at
		name, err := r.name()
		if err == nil && slices.Contains(names[:min(n, len(names))], name) {
			place := name
			if r.section != noList {
				place = r.place() + "." + name
			}
			return &Error{place, "the member is there twice; join the two", start}
		}
		if err == nil {
			err = read(name, start)
		}
		if err != nil {
			return err
		}
		names[min(n, len(names)-1)] = name
		if r.skipSpace(); r.skip('}') {
			return nil
		}
		if !r.skip(',') {
			return r.unexpected("a comma or the end of the object")
		}
	}
}

func (r *reader) name() (string, error) {
	if r.peek() != '"' {
		return "", r.unexpected("the name of a member in double quotes")
	}
	text, err := r.string()
	if err != nil {
		return "", err
	}
	name := string(text)
	if r.skipSpace(); !r.skip(':') {
		return "", r.unexpected("a colon")
	}
	r.skipSpace()
	return name, nil
}

// open reads the first byte of a value, which must be what is expected.
func (r *reader) open(first byte, expected string) error {
	if r.skipSpace(); r.skip(first) {
		return nil
	}
	found := r.kind()
	if found == "" || r.place() == "" {
		return r.unexpected(expected)
	}
	return r.wrong("it is " + found + "; " + expected + " is expected")
}

func (r *reader) readSection(name string, start int) error {
	n := slices.Index(listNames, name)
	if n < 0 {
		return r.unknownMember(name, start, listNames)
	}
	r.section = list(n)
	err := r.object(r.readMember)
	r.section = noList
	return err
}

func (r *reader) readMember(name string, start int) (err error) {
	r.member = name
	switch {
	case name == addressesMember:
		err = r.entriesOf("addresses", r.readAddress)
	case name == domainsMember:
		err = r.entriesOf("domains", r.readDomain)
	case name == exchangesMember:
		err = r.entriesOf("exchanges", r.readDomain)
	case name == reasonsMember && r.section == allowList:
		r.start = start
		return r.wrong("only block and review have reasons; allow has domains, addresses and exchanges")
	case name == reasonsMember:
		err = r.array("reasons", func(text []byte) error {
			reason, ok := parseReason(string(text))
			if !ok {
				return r.unknownReason(string(text))
			}
			reason.rule = r.rule()
			r.reasons[r.section] = append(r.reasons[r.section], reason)
			return nil
		})
	default:
		r.member = ""
		return r.unknownMember(name, start, memberNames)
	}
	r.member = ""
	return err
}

func (r *reader) array(what string, read func(text []byte) error) error {
	if err := r.open('[', "an array of "+what); err != nil {
		return err
	}
	for r.index = 0; ; r.index++ {
		if r.skipSpace(); r.index == 0 && r.skip(']') {
			break
		}
		if r.peek() != '"' {
			return r.open('"', "a string")
		}
		text, err := r.string()
		if err == nil {
			err = read(text)
		}
		if err != nil {
			return err
		}
		if r.skipSpace(); r.skip(']') {
			break
		}
		if !r.skip(',') {
			return r.unexpected("a comma or the end of the array")
		}
	}
	r.index = -1
	return nil
}

// entriesOf reads an array of addresses, domains or exchanges, which together have a limit, but
// whose bytes do not count as the rest of the document.
func (r *reader) entriesOf(what string, read func(text []byte) error) error {
	before := r.at
	err := r.array(what, func(text []byte) error {
		r.entries++
		if r.entries > MaxEntries {
			return r.wrong("the document has more than " + strconv.Itoa(MaxEntries) + " domains, addresses and exchanges")
		}
		return read(text)
	})
	r.lists += r.at - before
	return err
}

func (r *reader) readAddress(text []byte) error {
	if bytes.HasPrefix(text, []byte("*@")) {
		return r.wrong("an asterisk is no pattern in an address; write the domain to domains")
	}
	normalized, refusal := r.checker.Normalize(text)
	if refusal.Reason != core.Accepted {
		return r.wrong(string(refusal.AppendSentence(nil, text)))
	}
	r.addresses.add(normalized, false, r.rule())
	return nil
}

// readDomain reads a domain or an exchange.
func (r *reader) readDomain(text []byte) error {
	name, below := bytes.CutPrefix(text, []byte("*."))
	problem := misplaced(name)
	if problem != "" {
		return r.wrong(problem)
	}
	host, refusal := r.hosts.Read(name)
	if refusal.Reason != core.Accepted {
		return r.wrong(string(refusal.AppendSentence(nil, name)))
	}
	if host[len(host)-1] <= '9' && len(bytes.Trim(host, "0123456789.")) == 0 && bytes.Count(host, []byte(".")) == 3 {
		return r.wrong("it is an IP address; a policy knows domains alone")
	}
	own := &r.domains
	if r.member == exchangesMember {
		own = &r.exchanges[r.section]
	}
	own.add(host, below, r.rule())
	return nil
}

// misplaced returns the problem with text that is not meant as a domain, or "". It does
// not repeat the text, which may be an address.
func misplaced(text []byte) string {
	switch {
	case len(text) == 0:
		return "the domain is empty; remove it"
	case bytes.IndexByte(text, '@') >= 0:
		return "it has an @; give the domain alone, without a local part"
	case text[0] == '[':
		return "it is an address literal; a policy knows domains alone"
	case bytes.IndexByte(text, '*') >= 0:
		return `an asterisk is possible only before the first dot, as in "*.example.com"`
	case text[0] == '.':
		return `the domain starts with a dot; write "*.example.com" for a domain and what is below it`
	}
	return ""
}

func (r *reader) rule() rule { return rule{r.section, uint16(r.index)} }

// place returns the place of the value that is being read, "" for the document.
func (r *reader) place() string {
	if r.section == noList {
		return ""
	}
	place := listNames[r.section]
	if r.member != "" {
		place += "." + r.member
	}
	if r.index >= 0 {
		place += "[" + strconv.Itoa(r.index) + "]"
	}
	return place
}

// wrong returns an error about the value that was read last or begins here.
func (r *reader) wrong(problem string) error {
	return &Error{r.place(), problem, r.start}
}

func (r *reader) unknownMember(name string, start int, known []string) error {
	place, problem := r.place(), quote(name)+" is no member of a policy"
	if place == "" {
		place = "the document"
	} else {
		problem = quote(name) + " is no member of " + place
	}
	return &Error{place, problem + suggestion(name, known), start}
}

func (r *reader) unknownReason(text string) error {
	problem := quote(text) + " is no reason"
	switch {
	case text == invalid.name:
		problem += "; an address that is not valid is always blocked"
	case len(text) > len("gibberish") && text[:len("gibberish")] == "gibberish":
		problem += `; a threshold is from 0.01 to 1, as in "gibberish>=0.8"`
	case len(text) >= len(rolePrefix) && text[:len(rolePrefix)] == rolePrefix:
		problem += suggestion(text, roleNames())
	default:
		problem += suggestion(text, reasonNames)
	}
	return r.wrong(problem)
}
