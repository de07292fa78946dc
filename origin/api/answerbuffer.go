package api

import "sync"

// An answerBuffer has room for the answer of a usual large batch. It is used again once
// the answer is sent. Answers of less than half its size have a buffer of their own, since
// the whole of this one is reserved until a client has read it.
type answerBuffer [32 << 10]byte

var answerBuffers = sync.Pool{New: func() any { return new(answerBuffer) }}

// answerRoom returns an empty buffer with room for size bytes.
func (x *exchange) answerRoom(size int) []byte {
	if size < len(x.buffer)/2 || size > len(x.buffer) {
		return make([]byte, 0, size)
	}
	x.buffer = answerBuffers.Get().(*answerBuffer)
	return x.buffer[:0]
}

// releaseAnswer lets another batch use the buffer.
func (x *exchange) releaseAnswer() {
	if x.buffer != nil {
		answerBuffers.Put(x.buffer)
		x.buffer = nil
	}
}
