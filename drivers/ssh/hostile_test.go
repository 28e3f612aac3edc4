package ssh

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/plan"
)

// endless writes until nobody reads any more.
func endless(to io.Writer) {
	piece := bytes.Repeat([]byte("0123456789abcde\n"), 4096)
	for {
		if _, err := to.Write(piece); err != nil {
			return
		}
	}
}

// most is what a hostile server may cost in memory beyond an honest one.
const most = 300 << 20

// grown runs f, which reads from a hostile server, and says by how much the memory from the system grew.
func grown(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.Sys - before.Sys
}

// TestWhatAShellSaysIsBounded has servers that never end and servers that say what no device says.
func TestWhatAShellSaysIsBounded(t *testing.T) {
	deep := strings.Repeat("[", 1<<20)
	for name, c := range map[string]struct {
		exec func(out, errs io.Writer) uint32
		want string
	}{
		"an answer without an end":            {func(out, _ io.Writer) uint32 { endless(out); return 0 }, "more than weir reads"},
		"a document that is nested too deep":  {func(out, _ io.Writer) uint32 { io.WriteString(out, deep); return 0 }, "nested deeper"},
		"a document of millions of values":    {func(out, _ io.Writer) uint32 { io.WriteString(out, "["+strings.Repeat("0,", 2<<20)); return 0 }, "more than 200000 values"},
		"a refusal of a megabyte with colour": {func(_, errs io.Writer) uint32 { fmt.Fprint(errs, deep, "\x1b[31m\x1b]0;x\a no"); return 3 }, `\x1b[31m\x1b]0;x\a no`},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := newBox(t, func(s *server) {
				s.exec = func(_ string, _ io.Reader, out, errs io.Writer) (uint32, error) {
					io.WriteString(out, mark+"\n")
					status := c.exec(out, errs)
					io.WriteString(out, mark)
					return status, nil
				}
			})
			target, err := dialer().Dial(t.Context(), s.endpoint(t, "linux"))
			if err != nil {
				t.Fatal(err)
			}
			defer target.Close()
			cost := grown(func() { _, err = target.Get(t.Context(), []plan.Query{query("cat /etc/value")}) })
			told(t, err, c.want)
			if cost > most {
				t.Errorf("it took %d MB of memory", cost>>20)
			}
		})
	}
}

// told wants an error with the words, that a terminal may get.
func told(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil {
		t.Fatal("it was believed")
	}
	if text := err.Error(); !strings.Contains(text, want) || diag.Plain(text) != text || len(text) > 2000 || strings.Contains(text, password) {
		t.Errorf("got %d bytes %.300q, want a plain error with %q", len(text), text, want)
	}
}

// chatter is a terminal that answers a line without an end.
type chatter struct{ session }

func (c chatter) line(text string) (string, error) {
	if strings.HasPrefix(text, "show endless") {
		return strings.Repeat("0123456789abcde\r\n", 2*drivers.MaxAnswer/17), nil
	}
	if strings.HasPrefix(text, "show secret") {
		return "% Error: (" + password + ")\x1b[2J\u009b31m", nil
	}
	return c.session.line(text)
}

func TestWhatATerminalSaysIsBounded(t *testing.T) {
	for command, want := range map[string]string{"show endless": "", "show secret": "% Error: (redacted"} {
		t.Run(command, func(t *testing.T) {
			s, _ := newSwitch(t)
			honest := s.shell
			s.shell = func() session { return chatter{honest()} }
			target, err := dialer().Dial(t.Context(), s.endpoint(t, "eos"))
			if err != nil {
				t.Fatal(err)
			}
			defer target.Close()
			cost := grown(func() { _, err = target.Get(t.Context(), []plan.Query{query(command)}) })
			told(t, err, want)
			if command == "show endless" && !errors.Is(err, drivers.ErrTooMuch) {
				t.Errorf("got %v, want that it is too much", err)
			}
			if cost > most {
				t.Errorf("it took %d MB of memory", cost>>20)
			}
		})
	}
}

// TestBrokenAlgorithmsAreRefused has servers that offer nothing but what is broken.
func TestBrokenAlgorithmsAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*ssh.ServerConfig)
		want []string
	}{
		"a key exchange with SHA-1": {func(c *ssh.ServerConfig) { c.KeyExchanges = []string{ssh.InsecureKeyExchangeDH14SHA1} },
			[]string{"key exchange", "diffie-hellman-group14-sha1", "sshAlgorithms: any"}},
		"a cipher in CBC mode": {func(c *ssh.ServerConfig) { c.Ciphers = []string{ssh.InsecureCipherAES128CBC} }, []string{"cipher", "aes128-cbc"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := newBox(t, func(s *server) { c.edit(s.config) })
			e := s.endpoint(t, "linux")
			_, err := dialer().Dial(t.Context(), e)
			var refused *drivers.AuthError
			if !errors.As(err, &refused) {
				t.Fatalf("got %v, want that weir refuses the server", err)
			}
			for _, words := range c.want {
				told(t, err, words)
			}
			e.Insecure.OldSSH = true
			target, err := dialer().Dial(t.Context(), e)
			if err != nil {
				t.Fatalf("the operator allowed it: %v", err)
			}
			target.Close()
		})
	}
}
