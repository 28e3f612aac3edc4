package sim

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/crypto/ssh"
)

// Shell is what sits behind one terminal. It is used by one goroutine.
type Shell interface {
	// Prompt is what stands before the next line, control sequences included, and whether what is typed after it is shown.
	Prompt() (text string, echo bool)
	// Line acts on a line that was typed and writes what the device says, with plain newlines. ErrHang and ErrDrop do what
	// they say, io.EOF ends the session.
	Line(ctx context.Context, line string, out io.Writer) error
	// Close is called once, when the terminal is gone.
	Close()
}

// Terminal is the client's end of a shell.
type Terminal struct {
	Remote   net.Addr
	Greeting string // printed before the first prompt, with plain newlines; a Shell sets it when it begins

	mu            sync.Mutex
	pty           bool
	width, height int
}

// Size is the window's in characters, as the client last said.
func (t *Terminal) Size() (width, height int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.width, t.height
}

// interactive says whether the client asked for a terminal: without one nothing is echoed and no prompt is shown.
func (t *Terminal) interactive() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.pty
}

// request handles what clients ask about terminals (RFC 4254, sections 6.2 and 6.7). It returns whether it was that.
func (t *Terminal) request(r *ssh.Request) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch r.Type {
	case "pty-req":
		var p struct {
			Term                          string
			Width, Height, XPixel, YPixel uint32
			Modes                         string
		}
		if ssh.Unmarshal(r.Payload, &p) != nil {
			return false
		}
		t.pty, t.width, t.height = true, int(p.Width), int(p.Height)
		return true
	case "window-change":
		var p struct{ Width, Height, XPixel, YPixel uint32 }
		if ssh.Unmarshal(r.Payload, &p) != nil {
			return false
		}
		t.width, t.height = int(p.Width), int(p.Height)
		return true
	}
	return false
}

// run reads lines and hands them to the shell until either side has had enough.
func (t *Terminal) run(ctx context.Context, channel io.ReadWriter, shell Shell) (int, error) {
	defer shell.Close()
	in, pty := bufio.NewReader(channel), t.interactive()
	out := io.Writer(channel)
	if pty {
		out = cooked{channel}
	}
	if _, err := io.WriteString(out, t.Greeting); err != nil {
		return 0, err
	}
	for {
		prompt, echo := shell.Prompt()
		if !pty {
			prompt, echo = "", false
		}
		if _, err := io.WriteString(channel, prompt); err != nil {
			return 0, err
		}
		line, err := readLine(in, channel, pty, echo)
		if errors.Is(err, errInterrupted) {
			continue
		}
		if err == nil {
			err = shell.Line(ctx, line, out)
		}
		switch {
		case errors.Is(err, io.EOF):
			return 0, nil
		case errors.Is(err, ErrHang):
			<-ctx.Done()
			return 0, err
		case err != nil:
			return 0, err
		}
	}
}

// errInterrupted says that the line was given up with Ctrl-C.
var errInterrupted = errors.New("interrupted")

// The keys that mean something.
const (
	ctrlC     = 0x03
	ctrlD     = 0x04
	backspace = 0x08
	ctrlU     = 0x15
	escape    = 0x1b
	rubout    = 0x7f
)

// readLine reads a line as a simple line editor does, and shows what is typed if echo is set. Both CR and LF end a line; an
// LF right after a CR is part of it.
func readLine(in *bufio.Reader, out io.Writer, pty, echo bool) (string, error) {
	var line []byte
	show := func(s string) {
		if echo {
			_, _ = io.WriteString(out, s) // a client that is gone is noticed when it is read from
		}
	}
	for {
		key, err := in.ReadByte()
		if errors.Is(err, io.EOF) && !pty && len(line) > 0 {
			return string(line), nil
		}
		if err != nil {
			return "", err
		}
		switch {
		case key == '\r' || key == '\n':
			if key == '\r' && in.Buffered() > 0 {
				if next, _ := in.Peek(1); next[0] == '\n' {
					_, _ = in.Discard(1)
				}
			}
			if pty {
				_, _ = io.WriteString(out, "\r\n")
			}
			return string(line), nil
		case !pty:
			line = append(line, key)
		case key == ctrlC:
			_, _ = io.WriteString(out, "^C\r\n")
			return "", errInterrupted
		case key == ctrlD:
			if len(line) == 0 {
				return "", io.EOF
			}
		case key == backspace || key == rubout:
			if _, size := utf8.DecodeLastRune(line); size > 0 {
				line = line[:len(line)-size]
				show("\b \b")
			}
		case key == ctrlU:
			show(strings.Repeat("\b \b", utf8.RuneCount(line)))
			line = line[:0]
		case key == escape:
			skipSequence(in)
		case key >= ' ':
			line = append(line, key)
			show(string([]byte{key}))
		}
	}
}

// skipSequence reads past the rest of an escape sequence of a cursor or function key, as far as it has arrived.
func skipSequence(in *bufio.Reader) {
	if in.Buffered() == 0 {
		return
	}
	if next, _ := in.ReadByte(); next != '[' && next != 'O' {
		return
	}
	for in.Buffered() > 0 {
		if next, _ := in.ReadByte(); next >= '@' && next <= '~' {
			return
		}
	}
}

// cooked turns newlines into what a terminal needs.
type cooked struct{ w io.Writer }

func (c cooked) Write(p []byte) (int, error) {
	if _, err := c.w.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(p), nil
}
