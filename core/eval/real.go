package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
)

// runReal measures the domains of real addresses that were labelled by hand. They
// are rows on which we or a peer raised a flag, so the figures are no rates of mail.
func runReal(dir string) ([]row, error) {
	var rows []row
	for _, measure := range []func(dir string) ([]row, error){realDisposable, realTypo, realPublic, realHosts} {
		measured, err := measure(filepath.Join(dir, "real"))
		if errors.Is(err, errNoColumn) {
			fmt.Fprintln(os.Stderr, "eval: not measured:", err)
			continue
		}
		if err != nil {
			return rows, err
		}
		rows = append(rows, measured...)
	}
	return rows, nil
}

func realDisposable(dir string) ([]row, error) {
	labelled, err := readColumns(filepath.Join(dir, "disposable_labels.tsv"), "domain", "label")
	if err != nil {
		return nil, err
	}
	yes, no := first(where(labelled, "disposable")), first(where(labelled, "not_disposable"))
	caught := row{check: "disposable, labelled: caught, %", data: "domains", floor: 88, target: 85}
	flagged := row{check: "disposable, labelled: wrong flags", data: "domains", lower: true}
	caught.mustBe(lists.Disposable, yes)
	flagged.mayNotBe(lists.Disposable, no)
	return []row{caught, flagged}, nil
}

func realTypo(dir string) ([]row, error) {
	labelled, err := readColumns(filepath.Join(dir, "typo_labels.tsv"), "domain", "intended", "label")
	if err != nil {
		return nil, err
	}
	misspelled, real := where(labelled, "typo"), where(labelled, "real_or_host")
	right := row{check: "typo, labelled: right, %", data: rowsOf("domains", len(misspelled)), floor: 96.4, target: 100 * 108. / 113}
	wrong := row{check: "typo, labelled: wrong", data: right.data, lower: true}
	flagged := row{check: "typo, labelled: wrong flags", data: rowsOf("real domains and hosts", len(real)), lower: true}
	c := core.New(lists.Default())
	for _, fields := range misspelled {
		right.suggests(&wrong, fields[0], fields[1], suggestionFor(c, fields[0]))
	}
	for _, fields := range real {
		if got := suggestionFor(c, fields[0]); got != "" {
			flagged.figure++
			flagged.miss("real", fields[0], "no suggestion", got)
		}
	}
	return []row{right.percentOf(len(misspelled)), wrong, flagged}, nil
}

// suggests counts a suggestion that is right, or wrong in the other row.
func (r *row) suggests(wrong *row, typed, meant, got string) {
	switch got {
	case meant:
		r.figure++
	case "":
		r.miss("typo", typed, meant, "no suggestion")
	default:
		wrong.figure++
		wrong.miss("typo", typed, meant, got)
	}
}

func realPublic(dir string) ([]row, error) {
	missed, err := readColumns(filepath.Join(dir, "public_missed.tsv"), "domain")
	if err != nil {
		return nil, err
	}
	known := row{check: "public, missed before: known, %", data: "domains", floor: 100, target: 90}
	known.mustBe(lists.Public, first(missed))
	return []row{known}, nil
}

// realHosts measures the hosts that take no mail, whose addresses have the role
// NoReply, and the services that forward, which are relays or public.
func realHosts(dir string) ([]row, error) {
	hosts, err := readColumns(filepath.Join(dir, "relay_noreply_missed.tsv"), "domain", "kind")
	if err != nil {
		return nil, err
	}
	none, forward := first(where(hosts, "no_mail")), first(where(hosts, "forwarder", "alias"))
	noReply := row{check: "role: NoReply by host, %", data: rowsOf("hosts", len(none)), floor: 100, target: 90}
	known := row{check: "relay or public, missed before: known, %", data: rowsOf("domains", len(forward)), floor: 100, target: 80}
	c := core.New(lists.Default())
	for _, host := range none {
		noReply.expect(c.Check([]byte("jane@"+host)).Role.String(), "NoReply", host)
	}
	for _, domain := range forward {
		class := lists.Default().Provider([]byte(domain))
		known.count(class == lists.Relay || class == lists.Public, domain, "relay or public")
	}
	return []row{noReply.percentOf(len(none)), known.percentOf(len(forward))}, nil
}

func (r *row) expect(got, want, given string) { r.count(got == want, given, want) }

func (r *row) count(right bool, given, want string) {
	if right {
		r.figure++
	} else {
		r.miss("", given, want, "another")
	}
}
