// Preview serves the dashboard with the accounts of package seed, for people who work on
// pages. Run it in the root of the tree:
//
//	go run ./origin/rig/preview
//
// It prints a one-time link for each account and a list of pages, and runs
// `addrspec serve` on a temporary database until it is interrupted.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/ledger"
	_ "github.com/addrspec/addrspec/origin/ledger/store/sqlite"
	"github.com/addrspec/addrspec/origin/rig/preview/seed"
)

func main() {
	listen := flag.String("listen", "localhost:8081", "HOST:PORT to listen at")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir, err := os.MkdirTemp("", "addrspec-preview-")
	check(err)
	defer os.RemoveAll(dir)
	database := "sqlite:" + filepath.Join(dir, "addrspec.db")
	l, err := ledger.Open(ctx, database)
	check(err)
	people, err := seed.Fill(ctx, l)
	check(err)
	for _, p := range people {
		fmt.Printf("%s: http://%s\n  %s\n", p.Name, *listen, strings.Join(p.Pages, "\n  "))
		if p.Account != 0 {
			token, err := identity.New(l).CreateLink(ctx, p.Account)
			check(err)
			fmt.Printf("  /link/%s\n", url.PathEscape(token))
		}
	}
	check(l.Close())
	serve := exec.Command("go", "run", "./origin", "serve", "--database", database, "--listen", *listen,
		"--public-url", "http://"+*listen, "--signup", "open", "--log", "text") // the terminal interrupts it, too
	serve.Stdout, serve.Stderr = os.Stdout, os.Stderr
	if err := serve.Run(); err != nil {
		log.Print(err)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
