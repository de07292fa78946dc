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
	"errors"
	"flag"
	"fmt"
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
	if err := run(ctx, *listen); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, listen string) error {
	dir, err := os.MkdirTemp("", "addrspec-preview-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	database := "sqlite:" + filepath.Join(dir, "addrspec.db")
	l, err := ledger.Open(ctx, database)
	if err != nil {
		return err
	}
	people, err := seed.Fill(ctx, l)
	for _, p := range people {
		if err == nil && p.Account != 0 {
			token := ""
			token, err = identity.New(l).CreateLink(ctx, p.Account)
			p.Pages = append([]string{"/link/" + url.PathEscape(token)}, p.Pages...)
		}
		fmt.Printf("%s: http://%s%s\n", p.Name, listen, strings.Join(p.Pages, "\n  "))
	}
	err = errors.Join(err, l.Close())
	if err != nil {
		return err
	}
	serve := exec.Command("go", "run", "./origin", "serve", "--database", database, "--listen", listen,
		"--public-url", "http://"+listen, "--signup", "open", "--log", "text") // the terminal interrupts it, too
	serve.Stdout, serve.Stderr = os.Stdout, os.Stderr
	return serve.Run()
}
