package input

import (
	"bytes"
	"compress/gzip"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/unicode"

	"github.com/addrspec/addrspec/origin/check/pipeline"
)

// repeated returns text so often that it has size bytes.
func repeated(text string, size int) io.Reader {
	block := []byte(strings.Repeat(text, 1+bufferSize/len(text)))
	return io.LimitReader(&endless{block: block}, int64(size/len(text)*len(text)))
}

type endless struct {
	block []byte
	at    int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.block[e.at:])
	e.at = (e.at + n) % len(e.block)
	return n, nil
}

// TestConstantMemory reads ten million lines, other long inputs, and bombs.
func TestConstantMemory(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(50)) // what is in use is then mostly what is needed
	size, lines := 32<<20, 10_000_000
	if testing.Short() {
		size, lines = 16<<20, 700_000
	}
	for name, c := range map[string]struct {
		in      io.Reader
		options Options
		least   int // records
	}{
		"text":              {in: repeated("somebody@mail.example\n", 22*lines), least: lines},
		"CSV":               {in: repeated("somebody@mail.example,\"Some, body\",2026\n", size), least: size / 50},
		"NDJSON":            {in: repeated("{\"email\":\"somebody@mail.example\",\"id\":1}\n", size), least: size / 50},
		"one line":          {in: repeated("x", size), least: 1},
		"one line of CSV":   {in: io.MultiReader(strings.NewReader("email\n"), repeated("x", size)), least: 1},
		"an open quotation": {in: io.MultiReader(strings.NewReader("email,x\n\""), repeated("somebody@mail.example,x\n", size)), least: size / 50},
		"a bomb":            {in: bomb(t, size), least: 1},
		"blank lines":       {in: repeated("\n", size/8), least: 0},
	} {
		t.Run(name, func(t *testing.T) {
			records, peak := drain(t, New(c.in, c.options))
			require.GreaterOrEqual(t, records, c.least)
			require.Less(t, peak, uint64(40<<20), "bytes of heap in use")
		})
	}
}

// bomb returns gzip of size bytes of one line.
func bomb(t testing.TB, size int) io.Reader {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := io.Copy(w, repeated("x", size))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return &out
}

// drain reads everything and returns the most heap in use above that of before.
func drain(t testing.TB, r pipeline.Input) (records int, peak uint64) {
	runtime.GC()
	before := heap()
	chunk := make([]pipeline.Record, 0, 256)
	for n := 0; ; n++ {
		got, err := r.Read(chunk[:0])
		records += len(got)
		if n%1000 == 0 || err != nil {
			peak = max(peak, heap()-min(heap(), before))
		}
		if err == io.EOF {
			return records, peak
		}
		require.NoError(t, err)
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}

// TestLongestLine: one at the limit is read, one beyond it is a bad record, and what follows is read.
func TestLongestLine(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	for _, format := range []string{Text, NDJSON} {
		records, err := readAll(New(strings.NewReader("\"a\"\n"+long+"y\n\"b\"\n"), Options{Format: format}))
		require.NoError(t, err)
		require.Len(t, records, 3)
		require.Equal(t, errLong, records[1].Err)
		require.EqualValues(t, 3, records[2].Line)
	}
	records, err := readAll(New(strings.NewReader(long+"\r\nb"), Options{}))
	require.NoError(t, err)
	require.Equal(t, []string{long, "b"}, emails(records))
}

func TestReadReturnsARecordWithoutRoom(t *testing.T) {
	records, err := New(strings.NewReader("a\nb\n"), Options{}).Read(nil)
	require.NoError(t, err)
	require.Len(t, records, 1)
}

// TestPrompt: what has arrived is read while the other side of the pipe waits.
func TestPrompt(t *testing.T) {
	little := func(text string) string { return utf16(unicode.LittleEndian, unicode.IgnoreBOM, text) }
	for name, pieces := range map[string][]string{
		"text":            {"a@mail.example\n", "b@mail.example\n"},
		"text with CR":    {"a@mail.example\r", "\nb@mail.example\r"},
		"one byte before": {"a@mail.example\nb", "@mail.example\n"},
		"CSV":             {"a@mail.example,1\n", "b@mail.example,\"2\"\n"},
		"NDJSON":          {"{\"email\":\"a@mail.example\"}\n", "{\"email\":\"b@mail.example\"}\n"},
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
