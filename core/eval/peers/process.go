package peers

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// Limits of an adapter.
const (
	rowTime     = 20 * time.Second // for one row, the first of which waits for the start
	maxRestarts = 5
	maxAnswer   = 64 << 10 // bytes of a line
	maxLog      = 4 << 10  // bytes kept of what an adapter prints besides
)

// Process asks a running adapter, and starts it again if it ends.
type Process struct {
	rowTime  time.Duration
	start    func() *command
	running  *command
	restarts int
}

// command is a started adapter.
type command struct {
	*exec.Cmd
	rows    io.WriteCloser
	answers chan line
	log     tail
}

type line struct {
	text []byte
	err  error
	last bool // there are no more
}

// adapter prepares a command whose environment has no secrets of ours: it runs
// programs of others.
func adapter(c *exec.Cmd) *command {
	c.Env = []string{"PYTHONDONTWRITEBYTECODE=1"}
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "LANG", "SYSTEMROOT"} {
		if value, set := os.LookupEnv(name); set {
			c.Env = append(c.Env, name+"="+value)
		}
	}
	c.WaitDelay = time.Second // a child of it may keep the pipes open
	return &command{Cmd: c, answers: make(chan line)}
}

func start(newCommand func() *command) (*Process, error) {
	p := &Process{rowTime: rowTime, start: newCommand}
	return p, p.launch()
}

func (p *Process) launch() error {
	c := p.start()
	var err error
	if c.rows, err = c.StdinPipe(); err != nil {
		return err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	c.Stderr = &c.log
	if err := c.Start(); err != nil {
		return err
	}
	go c.read(out)
	p.running = c
	return nil
}

// read sends every line, and at last why there are no more.
func (c *command) read(out io.Reader) {
	defer close(c.answers)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, maxAnswer)
	for lines.Scan() {
		c.answers <- line{text: append([]byte(nil), lines.Bytes()...)}
	}
	c.answers <- line{err: lines.Err(), last: true}
}

// Ask asks about one row. Without an answer, the adapter is stopped and the next
// row starts it again, as often as the limit allows.
func (p *Process) Ask(question Question, value string) Answer {
	if p.running == nil {
		if p.restarts == maxRestarts {
			return Answer{None: "the adapter has ended too often"}
		}
		p.restarts++
		if err := p.launch(); err != nil {
			return Answer{None: err.Error()}
		}
	}
	answer, err := p.exchange(question, value)
	if err != nil {
		p.Stop()
		return Answer{None: err.Error()}
	}
	return answer
}

func (p *Process) exchange(question Question, value string) (answer Answer, err error) {
	row, err := json.Marshal(map[string]string{"question": string(question), "value": value})
	if err != nil {
		return answer, err
	}
	c := p.running
	go c.rows.Write(append(row, '\n')) // fails if the adapter has ended, as the read does
	select {
	case l := <-c.answers:
		if l.last {
			return answer, c.ended(l.err)
		}
		return parseAnswer(l.text)
	case <-time.After(p.rowTime):
		return answer, fmt.Errorf("no answer in %s", p.rowTime)
	}
}

func parseAnswer(text []byte) (answer Answer, err error) {
	if err := json.Unmarshal(text, &answer); err != nil {
		return Answer{}, fmt.Errorf("the adapter's line is not an answer: %w", err)
	}
	return answer, nil
}

func (c *command) ended(err error) error {
	if err != nil {
		return err
	}
	c.Wait() // for the rest of the log
	return errors.New("the adapter ended: " + c.log.lastLine())
}

// Stop ends the adapter.
func (p *Process) Stop() {
	if p.running == nil {
		return
	}
	c := p.running
	p.running = nil
	c.rows.Close()
	c.Process.Kill()
	c.Wait()
	for range c.answers { // read may wait to send
	}
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	t.text = t.text[max(0, len(t.text)-maxLog):]
	return len(b), nil
}

func (t *tail) lastLine() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return lastLine(t.text)
}
