package linux

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
)

// job is one command line with everything that it starts.
type job struct {
	input    io.Reader // what the client sends
	in, feed *os.File  // the pipe that stands for input in the interpreter, which wants a file
	commands atomic.Int64

	mu      sync.Mutex
	readers []*os.File
	writers sync.WaitGroup
}

// newJob begins a command line. Whoever gets it calls close.
func newJob(input io.Reader) (*job, error) {
	in, feed, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("standard input: %w", err)
	}
	return &job{input: input, in: in, feed: feed}, nil
}

// close ends what is still open, and returns when nothing of the job is left.
func (j *job) close() {
	j.in.Close()
	j.feed.Close()
	j.mu.Lock()
	for _, r := range j.readers {
		r.Close()
	}
	j.mu.Unlock()
	j.writers.Wait()
}

// contents is a file to read text from.
func (j *job) contents(text string) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("open a pipe: %w", err)
	}
	j.mu.Lock()
	j.readers = append(j.readers, r)
	j.mu.Unlock()
	j.writers.Go(func() {
		_, _ = io.WriteString(w, text) // a reader that closes its end early misses nothing
		w.Close()
	})
	return r, nil
}

// reader is where a command reads what it knows as stdin. The client's input is read past the pipe: that is a wait which
// virtual time may pass in, and takes no more of it than the command wants.
func (j *job) reader(stdin io.Reader) io.Reader {
	switch stdin {
	case nil:
		return strings.NewReader("")
	case j.in:
		return j.input
	}
	return stdin
}

// feedLine hands the next line of the client's input to the interpreter's own read. Unless raw, a line that ends in a
// backslash goes on in the next.
func (j *job) feedLine(raw bool) {
	fed := 0
	for {
		line, err := readLine(j.input)
		_, _ = j.feed.WriteString(line) // it fails where the input has ended before
		if fed += len(line); err != nil || fed > 8*longestLine {
			j.feed.Close()
			return
		}
		if raw || !strings.HasSuffix(line, "\\\n") {
			return
		}
	}
}

// longestLine is in bytes; the rest of a line is cut. Eight of them fit into a pipe that nobody reads yet.
const longestLine = 4096

// readLine reads to the end of a line, and no byte more.
func readLine(r io.Reader) (string, error) {
	var line []byte
	var b [1]byte
	for {
		n, err := r.Read(b[:])
		if n > 0 && (len(line) < longestLine || b[0] == '\n') {
			line = append(line, b[0])
		}
		if err != nil || n > 0 && b[0] == '\n' {
			return string(line), err
		}
	}
}
