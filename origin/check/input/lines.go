package input

import (
	"bufio"
	"bytes"
	"fmt"
)

// A lineReader returns the lines that are not empty, without their line ends.
// It counts empty lines too.
type lineReader struct {
	in     *bufio.Reader
	number int
	long   []byte // the buffer of a line longer than that of in
}

// next returns the next line, or io.EOF. The line is valid until the next call.
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
			return nil, fmt.Errorf("line %d is longer than %d bytes", l.number, maxLine)
		}
		line, err = l.in.ReadSlice('\n')
	}
	l.long = append(l.long, line...)
	return l.long, err
}
