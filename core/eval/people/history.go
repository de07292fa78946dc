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

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
)

// Histories are the local parts found in repositories, without their tags. An
// address counts once, however many commits it has.
type Histories struct {
	Addresses int      // that are different, of any kind
	Named     []string // of mailboxes without a role
	Provable  []string // of Named, those made from the name beside them
	Relayed   []string // at hosts that draw local parts at random
}

// Hosts of machines, whose local parts are ids, and of relay services, whose
// local parts are random.
var (
	machineHosts = regexp.MustCompile(`(^|\.)(noreply|users\.noreply|user\.noreply)\.|(^|\.)example\.(com|org|net)$|\.local$|localhost|\(none\)`)
	relayHosts   = []string{"privaterelay.appleid.com", "mozmail.com", "relay.firefox.com", "anonaddy.me", "anonaddy.com", "addy.io"}
)

// Read reads the histories of git directories.
func Read(dirs []string) (h Histories, err error) {
	seen := map[string]map[string]bool{} // the names beside each address
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
		if provable(local, slices.Sorted(maps.Keys(names))) {
			h.Provable = append(h.Provable, local)
		}
	}
}
