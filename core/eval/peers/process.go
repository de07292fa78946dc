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
	maxLine     = 64 << 10 // bytes of a line
	maxLog      = 4 << 10  // bytes kept of an adapter's standard error
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
	results chan line
	log     tail
}

type line struct {
	text []byte
	err  error
	last bool // there are no more
}

// adapter prepares a command without our secrets in its environment: it runs
// programs of others.
func adapter(c *exec.Cmd) *command {
	c.Env = []string{"PYTHONDONTWRITEBYTECODE=1"}
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "LANG", "SYSTEMROOT"} {
		if value, set := os.LookupEnv(name); set {
			c.Env = append(c.Env, name+"="+value)
		}
	}
	c.WaitDelay = time.Second // a child of it may keep the pipes open
	return &command{Cmd: c, results: make(chan line)}
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
	defer close(c.results)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		c.results <- line{text: append([]byte(nil), lines.Bytes()...)}
	}
	c.results <- line{err: lines.Err(), last: true}
}

// Ask asks about one row. Without a result, the adapter is stopped and the next
// row starts it again, as often as the limit allows.
func (p *Process) Ask(question Question, value string) Result {
	if p.running == nil {
		if p.restarts == maxRestarts {
			return Result{None: "the adapter has ended too often"}
		}
		p.restarts++
		if err := p.launch(); err != nil {
			return Result{None: err.Error()}
		}
	}
	result, err := p.exchange(question, value)
	if err != nil {
		p.Stop()
		return Result{None: err.Error()}
	}
	return result
}

func (p *Process) exchange(question Question, value string) (result Result, err error) {
	row, err := json.Marshal(map[string]string{"question": string(question), "value": value})
	if err != nil {
		return result, err
	}
	c := p.running
	go c.rows.Write(append(row, '\n')) // fails if the adapter has ended, as the read does
	select {
	case l := <-c.results:
		if l.last {
			return result, c.ended(l.err)
		}
		return parseResult(l.text)
	case <-time.After(p.rowTime):
		return result, fmt.Errorf("no result in %s", p.rowTime)
	}
}

func parseResult(text []byte) (result Result, err error) {
	if err := json.Unmarshal(text, &result); err != nil {
		return Result{}, fmt.Errorf("the adapter's line is not a result: %w", err)
	}
	return result, nil
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
	for range c.results { // read may wait to send
	}
}

// tail keeps the end of the text written to it.
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
