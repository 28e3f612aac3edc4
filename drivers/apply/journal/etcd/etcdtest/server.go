// Package etcdtest runs the real etcd for tests, as a process that can be killed and started again.
package etcdtest

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/weirfabric/weir/drivers"
)

// Options say how etcd runs.
type Options struct {
	TLS   bool  // with certificates, those of clients demanded
	Quota int64 // bytes that it may take; 0: its own default
}

// Server is an etcd of its own.
type Server struct {
	Endpoint string
	Files    Files // with Options.TLS

	t       *testing.T
	args    []string
	process *exec.Cmd
	said    *output
}

// Start starts etcd, and ends it with the test. The test is skipped unless WEIR_TEST_ALL demands all; then it fails without the program.
func Start(t *testing.T, o Options) *Server {
	t.Helper()
	if os.Getenv("WEIR_TEST_ALL") != "1" {
		t.Skip("it runs etcd (Debian's etcd-server): make test-all")
	}
	program, err := exec.LookPath("etcd")
	if err != nil {
		t.Fatal("etcd is missing: make packages")
	}
	scheme := "http"
	s := &Server{t: t}
	if o.TLS {
		scheme, s.Files = "https", newFiles(t)
	}
	client, peer := freePort(t), freePort(t)
	s.Endpoint = scheme + "://" + client
	s.args = []string{program, "--name", "test", "--data-dir", filepath.Join(t.TempDir(), "etcd"), "--listen-client-urls", s.Endpoint, "--advertise-client-urls", s.Endpoint,
		"--listen-peer-urls", "http://" + peer, "--initial-advertise-peer-urls", "http://" + peer, "--initial-cluster", "test=http://" + peer, "--log-level", "error"}
	if o.TLS {
		s.args = append(s.args, "--cert-file", s.Files.Cert, "--key-file", s.Files.Key, "--trusted-ca-file", s.Files.CA, "--client-cert-auth")
	}
	if o.Quota > 0 {
		s.args = append(s.args, "--quota-backend-bytes", fmt.Sprint(o.Quota))
	}
	t.Cleanup(s.Kill)
	s.Start()
	return s
}

// Start starts it, with what it had before, and returns when it serves.
func (s *Server) Start() {
	s.t.Helper()
	s.said = &output{}
	s.process = exec.Command(s.args[0], s.args[1:]...)
	s.process.Stdout, s.process.Stderr = s.said, s.said
	if err := s.process.Start(); err != nil {
		s.t.Fatal(err)
	}
	c := s.Client()
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		asking, stop := context.WithTimeout(ctx, 5*time.Second)
		_, err := c.Get(asking, "ready")
		stop()
		if err == nil {
			return
		}
		pause := drivers.Backoff{First: 50 * time.Millisecond}
		if !pause.Wait(ctx) {
			s.t.Fatalf("etcd does not serve: %v\n%s", err, s.said)
		}
	}
}

// Kill ends it as kill -9 does.
func (s *Server) Kill() {
	if s.process != nil {
		_ = s.process.Process.Kill()
		_ = s.process.Wait() // it was killed
		s.process = nil
	}
}

// Client is a client of its own, to look and to damage.
func (s *Server) Client() *clientv3.Client {
	s.t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{s.Endpoint}, TLS: s.TLS(), Logger: zap.NewNop(), DialTimeout: 5 * time.Second})
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// TLS is how a client that it knows speaks to it; nil without Options.TLS.
func (s *Server) TLS() *tls.Config {
	s.t.Helper()
	if s.Files.CA == "" {
		return nil
	}
	cert, err := tls.LoadX509KeyPair(s.Files.ClientCert, s.Files.ClientKey)
	if err != nil {
		s.t.Fatal(err)
	}
	body, err := os.ReadFile(s.Files.CA)
	if err != nil {
		s.t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(body)
	return &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// output is what etcd says.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(body []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(body)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
