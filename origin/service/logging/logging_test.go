package logging

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// logged is a log line.
type logged struct {
	Msg     string
	Error   string
	LeftOut int `json:"left_out"`
}

func parse(t *testing.T, text string) (list []logged) {
	for line := range strings.Lines(text) {
		var l logged
		require.NoError(t, json.Unmarshal([]byte(line), &l))
		list = append(list, l)
	}
	return list
}

// An error is logged at most once a second. Those left out are counted within a
// second, even if no further one follows.
func TestRepeatedErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := new(sink)
		log := Open(out, JSON)
		fail := func(n int) {
			for range n {
				log.Error("the ledger failed", "error", "disk full")
			}
		}
		fail(100)
		log.Warn("another")
		log.Info("request")
		log.Info("request")
		time.Sleep(suppressFor / 2)
		fail(50)
		time.Sleep(suppressFor)
		fail(1)
		time.Sleep(10 * suppressFor)
		fail(3)
		log.Close()
		failed := logged{Msg: "the ledger failed", Error: "disk full"}
		leftOut := func(n int) logged { l := failed; l.LeftOut = n; return l }
		require.Equal(t, []logged{failed, {Msg: "another"}, {Msg: "request"}, {Msg: "request"},
			leftOut(148), failed, failed, leftOut(1)}, parse(t, out.text.String()))
	})
}

// Each message has a second of its own.
func TestMessagesAreLimitedApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := new(sink)
		log := Open(out, JSON)
		for _, message := range []string{"first", "second"} {
			log.Warn(message)
			log.Warn(message)
			time.Sleep(suppressFor / 2)
		}
		lines := func(within time.Duration) int {
			time.Sleep(within)
			synctest.Wait()
			messages, _ := out.lines(t)
			return len(messages)
		}
		require.Equal(t, 3, lines(suppressFor/4), "a second after the first message")
		require.Equal(t, 4, lines(suppressFor/2), "a second after the second message")
		log.Close()
	})
}

// Different messages are limited as well.
func TestDifferentErrorsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := new(sink)
		log := Open(out, JSON)
		const different = 1000
		for n := range different {
			log.Error(fmt.Sprintf("error %d", n))
		}
		require.LessOrEqual(t, log.suppressor.size(), maxMessages+1)
		time.Sleep(5 * suppressFor)
		require.Zero(t, log.suppressor.size(), "expired messages are removed")
		log.Close()
		lines, leftOut := parse(t, out.text.String()), 0
		for _, l := range lines {
			leftOut += l.LeftOut
		}
		require.LessOrEqual(t, len(lines), maxMessages+2)
		require.Equal(t, different, len(lines)+leftOut)
	})
}

func (s *suppressor) size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.recent)
}

// Loggers with different attributes or groups share the limit of a message.
func TestSuppressIgnoresAttributes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := new(sink)
		log := Open(out, JSON)
		log.With("part", "a").Error("failed")
		log.WithGroup("g").Error("failed")
		log.With("part", "b").Error("failed")
		log.Close()
		text := out.text.String()
		require.Equal(t, 2, strings.Count(text, "\n"), text)
		require.Contains(t, text, `"part":"a"`)
		require.Contains(t, text, `"left_out":1`)
	})
}
