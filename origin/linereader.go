package main

import (
	"bufio"
	"bytes"
	"fmt"
)

// lineReader reads lines that are not empty, without their ends, and counts
// all of them.
type lineReader struct {
	in     *bufio.Reader
	number int
	long   []byte // a line longer than in's buffer is put together here
}

// next returns the next line, which holds until the call after it, or io.EOF.
func (l *lineReader) next() ([]byte, error) {
	for {
		line, err := l.read()
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if len(line) > 0 {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (l *lineReader) read() ([]byte, error) {
	l.number++
	line, err := l.in.ReadSlice('\n')
	if err != bufio.ErrBufferFull {
		return line, err
	}
	l.long = l.long[:0]
	for err == bufio.ErrBufferFull {
		if l.long = append(l.long, line...); len(l.long) > maxLine {
			return nil, fmt.Errorf("line %d is longer than %d octets", l.number, maxLine)
		}
		line, err = l.in.ReadSlice('\n')
	}
	l.long = append(l.long, line...)
	return l.long, err
}
