package main

import (
	"fmt"
	"io"
	"sync"
)

// progress shows on a terminal how far long work is. On anything else it is silent.
type progress struct {
	mu          sync.Mutex
	out         io.Writer // nil: silent
	what        string
	done, total int
}

func (c *console) progress(what string, total int) *progress {
	p := &progress{what: what, total: total}
	if terminal(c.err) {
		p.out = c.err
	}
	return p
}

// step tells that one more is done. It may be called from many goroutines.
func (p *progress) step(name string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	if p.out == nil {
		return
	}
	state := "ok"
	if err != nil {
		state = "failed"
	}
	fmt.Fprintf(p.out, "\r\x1b[K%s: %d of %d (%s %s)", p.what, p.done, p.total, name, state)
}

// end clears the line.
func (p *progress) end() {
	if p.out != nil {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
