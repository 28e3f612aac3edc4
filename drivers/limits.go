package drivers

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/weirfabric/weir/intent/diag"
)

// The bounds of what a device or a file says. docs/security.md lists them.
const (
	// MaxAnswer is how many bytes one answer of a device has at most. A whole CONFIG_DB of 64 ports has some hundred KB, the
	// largest running configuration of the packs' sources 2 MB; sixteen devices are read side by side.
	MaxAnswer = 8 << 20
	// MaxErrors is how many bytes of what a command says beside its answer are read; the rest is let go.
	MaxErrors = 64 << 10
	// MaxKeyFile is how many bytes a file of certificates, keys or host keys has: a known_hosts file of 10,000 devices has 4 MB.
	MaxKeyFile = 8 << 20

	// A JSON document takes many times its bytes in memory when it is decoded: a fabric's largest has 20,000 values.
	maxValues = 200_000
	maxDepth  = 64
)

// ErrTooMuch says that a device or a file says more than weir reads.
var ErrTooMuch = errors.New("more than weir reads")

// TooMuch is the error about an answer or a file of more than so many bytes.
func TooMuch(most int64) error { return fmt.Errorf("it is longer than %d bytes: %w", most, ErrTooMuch) }

// Bounded says why an answer is not read: because of its size, or because, as JSON, it is deeper or has more values than any
// device's. It looks at bytes alone, and so costs less than what it guards.
func Bounded(body []byte) error {
	if len(body) > MaxAnswer {
		return TooMuch(MaxAnswer)
	}
	body = bytes.TrimLeft(body, " \t\r\n")
	if len(body) == 0 || body[0] != '{' && body[0] != '[' {
		return nil // a text, and not JSON
	}
	values, depth := 0, 0
	quoted := false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			values++
		case c == '}' || c == ']':
			depth--
		case c == ',':
			values++
		}
		if depth > maxDepth {
			return fmt.Errorf("it is nested deeper than %d: %w", maxDepth, ErrTooMuch)
		}
		if values > maxValues {
			return fmt.Errorf("it has more than %d values: %w", maxValues, ErrTooMuch)
		}
	}
	return nil
}

// Quote is what an error repeats of the device's words: bounded, without what a terminal acts on, without secrets.
func (e Endpoint) Quote(words string) string {
	const window = 16 << 10 // bytes looked at for secrets: more than is quoted, so that none is cut in two
	if len(words) > window {
		words = words[len(words)-window:]
	}
	return diag.Excerpt(Redact(words, e.Password, e.Key))
}

// ReadFile reads a regular file of at most so many bytes. Anything else is an error: a device or a pipe in the place of a file
// gives bytes for ever, or none and waits.
func ReadFile(name string, most int64) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, most)
}

// ReadAll is ReadFile of a file that was opened so that it does not block.
func ReadAll(f *os.File, most int64) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file but %s", f.Name(), kindOf(info.Mode()))
	}
	if info.Size() > most {
		return nil, fmt.Errorf("%s: %w", f.Name(), TooMuch(most))
	}
	body, err := io.ReadAll(io.LimitReader(f, most+1)) // it may grow meanwhile
	if err == nil && int64(len(body)) > most {
		err = fmt.Errorf("%s: %w", f.Name(), TooMuch(most))
	}
	if err != nil {
		return nil, err
	}
	return body, nil
}

// kindOf names what is no file.
func kindOf(m os.FileMode) string {
	switch {
	case m.IsDir():
		return "a folder"
	case m&os.ModeNamedPipe != 0:
		return "a pipe"
	case m&os.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}
