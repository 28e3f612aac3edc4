package ssh

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/drivers/drivertest"
	"github.com/weirfabric/weir/intent/plan"
)

func dialer() Dialer { return Dialer{Packs: os.DirFS("../../templates")} }

func query(command string) plan.Query {
	return plan.Query{Name: "q", Ways: []plan.Way{{Via: plan.SSH, Text: command}}}
}

func lines(bodies ...string) plan.Chunk {
	var c plan.Chunk
	for _, b := range bodies {
		c.Send = append(c.Send, plan.Message{Op: plan.Line, Body: b})
	}
	return c
}

func newSwitch(t *testing.T, edits ...func(s *server, v *vsw)) (*server, *vsw) {
	t.Helper()
	v := &vsw{value: "before", sessions: map[string]string{}}
	s := serve(t, func(s *server) {
		for _, edit := range edits {
			edit(s, v)
		}
		level := "exec"
		if v.enable {
			level = "user"
		}
		s.shell = func() session { return &vty{vsw: v, level: level} }
	})
	return s, v
}

func newBox(t *testing.T, edits ...func(s *server)) (*server, *box) {
	t.Helper()
	b := &box{files: map[string]string{"/etc/value": "before"}}
	s := serve(t, func(s *server) {
		s.exec = b.exec
		for _, edit := range edits {
			edit(s)
		}
	})
	return s, b
}

// harness fills in what both manners share.
func harness(t *testing.T, s *server, platform string) drivertest.Harness {
	e := s.endpoint(t, platform)
	other := e
	other.HostKeys = s.known(t, newKey(t).PublicKey())
	return drivertest.Harness{
		Dialer: dialer(), Endpoint: e, Stranger: other,
		Logins: s.given,
	}
}

var faults = map[drivertest.Fault]error{drivertest.Hang: errHang, drivertest.Disconnect: errDrop}

func TestASessionObeysTheLawsOfDrivers(t *testing.T) {
	drivertest.Run(t, true, func(t *testing.T) drivertest.Harness {
		s, v := newSwitch(t)
		h := harness(t, s, "eos")
		h.Route = plan.SSHSession
		h.Good, h.Bad = lines("interface Ethernet1", "value after"), lines("interface Ethernet1", "value after", "value bad")
		h.Query, h.Absent = query("show value"), query("show nothing of the kind")
		h.Holds, h.Expire = v.holds, v.expire
		h.Fault = func(f drivertest.Fault) { v.fault(faults[f]) }
		return h
	})
}

func TestAShellObeysTheLawsOfDrivers(t *testing.T) {
	for platform, route := range map[string]plan.Route{"linux": plan.SSHShell, "sonic": plan.SSHBulk} {
		t.Run(platform, func(t *testing.T) {
			drivertest.Run(t, false, func(t *testing.T) drivertest.Harness {
				s, b := newBox(t)
				h := harness(t, s, platform)
				h.Route = route
				h.Good = plan.Chunk{Send: []plan.Message{{Op: plan.Write, Path: "/etc/value", Body: "after"}}}
				h.Bad = plan.Chunk{Send: []plan.Message{{Op: plan.Run, Body: "false"}}}
				h.Query, h.Absent = query("cat /etc/value"), query("cat /etc/nothing")
				h.Holds = func() string { return b.holds("/etc/value") }
				h.Fault = func(f drivertest.Fault) { b.fault(faults[f]) }
				return h
			})
		})
	}
}

func TestAHostKeyThatCannotBeComparedSaysHowToRecordIt(t *testing.T) {
	s, _ := newBox(t)
	empty := filepath.Join(t.TempDir(), "known_hosts")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		edit func(e *drivers.Endpoint)
		want []string
	}{
		{"no file named", func(e *drivers.Endpoint) { e.HostKeys = "" }, []string{"set hostKeys", "ssh-keyscan -p"}},
		{"no file there", func(e *drivers.Endpoint) { e.HostKeys = "/nowhere/known_hosts" }, []string{"there is no file", "ssh-keyscan -p", ">> /nowhere/known_hosts"}},
		{"not in the file", func(e *drivers.Endpoint) { e.HostKeys = empty }, []string{"is not known", "SHA256:", "ssh-keyscan"}},
		{"another one in the file", func(e *drivers.Endpoint) { e.HostKeys = s.known(t, newKey(t).PublicKey()) }, []string{"is not the recorded one", "SHA256:", "take line 1 out"}},
	}
	for _, test := range tests {
		e := s.endpoint(t, "linux")
		test.edit(&e)
		_, err := dialer().Dial(t.Context(), e)
		var auth *drivers.AuthError
		if !errors.As(err, &auth) {
			t.Errorf("%s: got %T: %v, want an AuthError", test.name, err, err)
			continue
		}
		for _, want := range test.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %q, want %q in it", test.name, err, want)
			}
		}
	}
	if got := s.given(); got != 0 {
		t.Errorf("the password was given %d times, want never", got)
	}
	e := s.endpoint(t, "linux")
	e.HostKeys, e.Insecure.AnyHostKey = "", true
	target, err := dialer().Dial(t.Context(), e)
	if err != nil {
		t.Fatalf("any host key is accepted where the operator says so: %v", err)
	}
	target.Close()
}

// A server that has several keys shows the one that is on record, although another is preferred by default.
func TestTheRecordedKindOfHostKeyIsAskedFor(t *testing.T) {
	s, _ := newBox(t)
	all := ssh.SupportedAlgorithms().HostKeys
	got := preferred(mustKnow(t, s), s.address, all)
	if len(got) < 2 || got[0] != ssh.KeyAlgoED25519 {
		t.Errorf("got %v, want %s first and others after it", got, ssh.KeyAlgoED25519)
	}
	if got := preferred(mustKnow(t, s), "192.0.2.1:22", all); !slices.Equal(got, all) {
		t.Errorf("got %v for an address without a record, want all", got)
	}
}

func mustKnow(t *testing.T, s *server) ssh.HostKeyCallback {
	t.Helper()
	h, err := readHostKeys(s.endpoint(t, "linux"))
	if err != nil {
		t.Fatal(err)
	}
	return h.known
}

func TestAPasswordIsGivenToPasswordPromptsOnly(t *testing.T) {
	for question, ok := range map[string]bool{"Password: ": true, "admin's password:": true, "Name of your first pet: ": false} {
		answered := make(chan int, 1)
		s, _ := newBox(t, func(s *server) {
			s.config.PasswordCallback = nil
			s.config.KeyboardInteractiveCallback = func(_ ssh.ConnMetadata, ask ssh.KeyboardInteractiveChallenge) (*ssh.Permissions, error) {
				answers, err := ask("", "", []string{question}, []bool{false})
				answered <- len(answers)
				return nil, err
			}
		})
		target, err := dialer().Dial(t.Context(), s.endpoint(t, "linux"))
		if err == nil {
			target.Close()
		}
		if got := <-answered; (err == nil) != ok || (got == 1) != ok {
			t.Errorf("%q: error %v, %d answers given", question, err, got)
		}
		var auth *drivers.AuthError
		if !ok && !errors.As(err, &auth) {
			t.Errorf("%q: got %T, want an AuthError", question, err)
		}
	}
}

func TestARefusedPasswordIsNotGivenToASecondMethod(t *testing.T) {
	s, _ := newBox(t, func(s *server) {
		s.config.KeyboardInteractiveCallback = func(_ ssh.ConnMetadata, ask ssh.KeyboardInteractiveChallenge) (*ssh.Permissions, error) {
			if answers, err := ask("", "", []string{"Password: "}, []bool{false}); err == nil && len(answers) == 1 {
				return s.password(nil, []byte(answers[0]))
			}
			return nil, errors.New("permission denied")
		}
	})
	e := s.endpoint(t, "linux")
	e.Password = "wrong"
	var auth *drivers.AuthError
	if _, err := dialer().Dial(t.Context(), e); !errors.As(err, &auth) {
		t.Errorf("got %T: %v, want an AuthError", err, err)
	}
	if got := s.given(); got != 1 {
		t.Errorf("the password was given %d times, want once", got)
	}
}

func TestAKeyLogsInWithoutAPassword(t *testing.T) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	locked, err := ssh.MarshalPrivateKeyWithPassphrase(private, "", []byte("phrase"))
	if err != nil {
		t.Fatal(err)
	}
	public, err := ssh.NewPublicKey(private.Public())
	if err != nil {
		t.Fatal(err)
	}
	s, _ := newBox(t, func(s *server) {
		s.config.PublicKeyCallback = func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			if string(key.Marshal()) != string(public.Marshal()) {
				return nil, errors.New("permission denied")
			}
			return nil, nil
		}
	})
	e := s.endpoint(t, "linux")
	e.Password, e.Key = "", drivers.Secret(pem.EncodeToMemory(block))
	target, err := dialer().Dial(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	target.Close()
	for key, want := range map[string]string{string(pem.EncodeToMemory(locked)): "without a passphrase", "nonsense": "PEM"} {
		e.Key = drivers.Secret(key)
		_, err := dialer().Dial(t.Context(), e)
		var auth *drivers.AuthError
		if !errors.As(err, &auth) || !strings.Contains(auth.Hint, want) {
			t.Errorf("got %v, want an AuthError whose hint has %q", err, want)
		}
	}
}
