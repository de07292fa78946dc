// Package people reads addresses of real people for measurements: the authors
// and committers in the histories of git repositories that the user names.
//
// The addresses are those people's: nothing here prints, stores or sends one,
// and a program that imports this package must print figures only.
package people

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mozillazg/go-unidecode"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
)

// Histories are the local parts found in repositories, without their tags. An
// address counts once, however many commits it has.
type Histories struct {
	Addresses int      // that are different, of any kind
	Named     []string // of mailboxes without a role
	Provable  []string // of Named, those made from the name next to them
	Relayed   []string // at hosts that draw local parts at random
	Unclassed int      // of Named, those at domains without a class
	Generated int      // of Unclassed, those with the form of a throw-away service
}

// Hosts of machines, whose local parts are ids, and of relay services, whose
// local parts are random.
var (
	machineHosts = regexp.MustCompile(`(^|\.)(noreply|users\.noreply|user\.noreply)\.|(^|\.)example\.(com|org|net)$|\.local$|localhost|\(none\)`)
	relayHosts   = []string{"privaterelay.appleid.com", "mozmail.com", "relay.firefox.com", "anonaddy.me", "anonaddy.com", "addy.io"}
)

// Read reads the histories of git directories.
func Read(dirs []string) (h Histories, err error) {
	seen := map[string]map[string]bool{} // the names next to each address
	for _, dir := range dirs {
		if err := identities(dir, seen); err != nil {
			return h, err
		}
	}
	h.Addresses = len(seen)
	checker := core.New(lists.Default())
	for _, email := range slices.Sorted(maps.Keys(seen)) {
		h.add(checker.Check([]byte(email)), email, seen[email])
	}
	return h, nil
}

// identities adds the authors and committers of one repository.
func identities(dir string, seen map[string]map[string]bool) error {
	var stderr bytes.Buffer
	cmd := exec.Command("git", "--git-dir="+dir, "log", "--all", "--format=%an%x09%ae%n%cn%x09%ce")
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("git log of %s: %w: %s", dir, err, &stderr)
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		name, email, _ := strings.Cut(lines.Text(), "\t")
		if !strings.Contains(email, "@") || !utf8.ValidString(email) {
			continue
		}
		if seen[email] == nil {
			seen[email] = map[string]bool{}
		}
		seen[email][name] = true
	}
	return lines.Err()
}

// add adds one address with the names that it has in commits.
func (h *Histories) add(f core.Facts, email string, names map[string]bool) {
	at := strings.LastIndexByte(email, '@')
	local, host := strings.ToLower(email[:at]), strings.ToLower(email[at+1:])
	local, _, _ = strings.Cut(local, "+")
	switch {
	case !f.Valid:
	case slices.Contains(relayHosts, host):
		h.Relayed = append(h.Relayed, local)
	case f.Role != core.NoRole || machineHosts.MatchString(host):
	default:
		h.Named = append(h.Named, local)
		if !f.Classed {
			h.Unclassed++
		}
		if f.Generated {
			h.Generated++
		}
		if provable(local, slices.Sorted(maps.Keys(names))) {
			h.Provable = append(h.Provable, local)
		}
	}
}

// provable reports whether a local part is made from one of the names next to it.
// A name counts if it has two words or more, or is in Chinese characters.
func provable(local string, names []string) bool {
	letters := onlyLetters(unidecode.Unidecode(local))
	return slices.ContainsFunc(names, func(name string) bool {
		if !twoWords.MatchString(strings.TrimSpace(name)) && !han.MatchString(name) {
			return false
		}
		words := wordsOf(name)
		return len(words) >= 2 && len(letters) >= 2 && madeFrom(letters, words)
	})
}

var (
	twoWords  = regexp.MustCompile(`\S\s+\S`)
	han       = regexp.MustCompile(`\p{Han}`)
	brackets  = regexp.MustCompile(`\(.*?\)|\[.*?\]`)
	camelCase = regexp.MustCompile(`([a-z])([A-Z])`)
	noLetters = regexp.MustCompile(`[^A-Za-z]+`)
)

// madeFrom reports whether letters are the initials of words, contain one of
// four letters or more, or leave out letters of all of them in either order.
func madeFrom(letters string, words []string) bool {
	initials := ""
	for _, w := range words {
		initials += w[:1]
	}
	if letters == initials || letters == reversed(initials) {
		return true
	}
	if slices.ContainsFunc(words, func(w string) bool { return len(w) >= 4 && strings.Contains(letters, w) }) {
		return true
	}
	joined := strings.Join(words, "")
	slices.Reverse(words)
	return len(letters) >= 4 && strings.Contains(initials, letters[:1]) &&
		(subsequence(letters, joined) || subsequence(letters, strings.Join(words, "")))
}

// wordsOf returns the different words of a name in the letters a to z. Chinese
// characters are a word each, in pinyin.
func wordsOf(name string) (words []string) {
	latin := unidecode.Unidecode(brackets.ReplaceAllString(name, ""))
	for _, w := range noLetters.Split(camelCase.ReplaceAllString(latin, "$1 $2"), -1) {
		if w = onlyLetters(w); w != "" && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return words
}

// onlyLetters returns the letters of s in lower case.
func onlyLetters(s string) string {
	return noLetters.ReplaceAllString(strings.ToLower(s), "")
}

func reversed(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

// subsequence reports whether s is t with some characters left out.
func subsequence(s, t string) bool {
	i := 0
	for j := 0; i < len(s) && j < len(t); j++ {
		if s[i] == t[j] {
			i++
		}
	}
	return i == len(s)
}
