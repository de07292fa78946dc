package input

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

const gzipMagic = "\x1f\x8b"

// A gunzip decompresses gzip (RFC 1952), which may have several members. It does
// not wait for the next member while it has bytes of the one before, as
// gzip.Reader does.
type gunzip struct {
	in     *bufio.Reader
	member *gzip.Reader // nil before the first one
	within bool         // the member has not ended
	err    error
}

// Read decompresses what has arrived. It may return no bytes without an error.
func (g *gunzip) Read(p []byte) (n int, err error) {
	if g.err == nil && !g.within {
		g.err = g.begin()
	}
	if g.err != nil {
		return 0, g.err
	}
	if n, err = g.member.Read(p); err == io.EOF {
		g.within = false
	} else if err != nil {
		g.err = damaged(err)
	}
	return n, nil
}

// begin reads the header of the next member. Zeros may follow the last one: tapes
// and disk images pad with them.
func (g *gunzip) begin() (err error) {
	if g.member == nil {
		g.member, err = gzip.NewReader(g.in)
	} else if err = g.skipZeros(); err == nil {
		err = g.member.Reset(g.in)
	}
	if err == io.EOF {
		return err
	}
	if err != nil {
		return damaged(err)
	}
	g.member.Multistream(false)
	g.within = true
	return nil
}

func (g *gunzip) skipZeros() error {
	for {
		c, err := g.in.ReadByte()
		if err != nil {
			return err
		}
		if c != 0 {
			return g.in.UnreadByte()
		}
	}
}

// damaged explains an error of compress/gzip.
func damaged(err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the gzip data ends too early: the file was cut off; get it again")
	case errors.Is(err, gzip.ErrHeader):
		return errors.New("bytes that are not gzip follow the gzip data; get the file again")
	}
	return fmt.Errorf("the gzip data cannot be read: %w; get the file again", err)
}
