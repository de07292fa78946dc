// Command publish signs lists.blob and writes a feed: a folder that any web
// server can serve, from which services and workers take newer lists. Package
// feed describes it.
//
//	go run ./lists/publish -key lists.key [-blob lists/lists.blob] [-feed dist/feed] [-expires 30d]
//
// `addrspec lists keygen` makes a key, as `minisign -G` does. A key that has a
// password is asked for it on the terminal.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	var p publisher
	flag.StringVar(&p.key, "key", "", "file of the secret key")
	flag.StringVar(&p.blob, "blob", "lists/lists.blob", "the blob")
	flag.StringVar(&p.dir, "feed", "dist/feed", "folder of the feed; made if it is missing")
	flag.TextVar(&p.expires, "expires", days(30), "how long clients may take the lists over, such as 30d or 12h")
	flag.Parse()
	if err := run(p, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "publish:", err)
		os.Exit(1)
	}
}

// run publishes and prints what clients need.
func run(p publisher, in io.Reader, out io.Writer) error {
	release, err := p.publish(in)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: lists %s, signed with the key %s, expire %s\n", p.dir, release.Version, release.Key().ID(), release.Expires.Format("2006-01-02 15:04 UTC"))
	fmt.Fprintf(out, "Serve this folder, and give clients --lists-key %s\n", release.Key())
	return nil
}
