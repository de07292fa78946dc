package input

import (
	"compress/gzip"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/unicode"

	"github.com/addrspec/addrspec/origin/check/pipeline"
)

// TestPrompt: what has arrived is read while the other side of the pipe waits.
func TestPrompt(t *testing.T) {
	little := func(text string) string { return utf16(unicode.LittleEndian, unicode.IgnoreBOM, text) }
	for name, pieces := range map[string][]string{
		"text":            {"a@mail.example\n", "b@mail.example\n"},
		"text with CR":    {"a@mail.example\r", "\nb@mail.example\r"},
		"one byte before": {"a@mail.example\nb", "@mail.example\n"},
		"CSV":             {"a@mail.example,1\n", "b@mail.example,\"2\"\n"},
		"NDJSON":          {"{\"email\":\"a@mail.example\"}\n", "{\"email\":\"b@mail.example\"}\n"},
		"array":           {"[{\"email\":\"a@mail.example\"}\n", ",\n\"b@mail.example\""},
		"UTF-16":          {"\xff\xfe" + little("a@mail.example\n"), little("b@mail.example\n")},
	} {
		t.Run(name, func(t *testing.T) {
			in, feed := io.Pipe()
			defer feed.Close()
			expectEach(t, New(in, Options{}), func(n int) { io.WriteString(feed, pieces[n]) })
		})
	}
	t.Run("gzip flushed", func(t *testing.T) {
		in, feed := io.Pipe()
		defer feed.Close()
		w := gzip.NewWriter(feed)
		expectEach(t, New(in, Options{}), func(n int) {
			io.WriteString(w, []string{"a@mail.example\n", "b@mail.example\n"}[n])
			w.Flush()
		})
	})
	t.Run("a header alone", func(t *testing.T) {
		in, feed := io.Pipe()
		defer feed.Close()
		r := New(in, Options{})
		go io.WriteString(feed, "name;kind\n")
		go func() {
			time.Sleep(10 * time.Millisecond) // real time: a pause of the writer, of any length
			io.WriteString(feed, "A;a@mail.example\n")
		}()
		require.Equal(t, "a@mail.example", readOne(t, r).Email)
		require.Equal(t, []string{"name", "kind"}, r.Layout().Header)
	})
}

// expectEach sends two pieces, the second after the record of the first was read.
func expectEach(t *testing.T, r *Reader, send func(n int)) {
	next := make(chan bool)
	go func() {
		send(0)
		<-next
		send(1)
	}()
	require.Equal(t, "a@mail.example", readOne(t, r).Email)
	close(next)
	require.Equal(t, "b@mail.example", readOne(t, r).Email)
}

// readOne reads one record. It fails if Read waits for more input.
func readOne(t *testing.T, r *Reader) pipeline.Record {
	got := make(chan []pipeline.Record, 1)
	go func() {
		records, _ := r.Read(make([]pipeline.Record, 0, 10))
		got <- records
	}()
	select {
	case records := <-got:
		require.Len(t, records, 1)
		return records[0]
	case <-time.After(2 * time.Minute):
		t.Fatal("Read waits for more input")
		return pipeline.Record{}
	}
}
