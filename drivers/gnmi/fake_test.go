package gnmi

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"github.com/openconfig/gnmi/proto/gnmi_ext"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/weirfabric/weir/drivers"
)

const password = "correct-horse-8843"

// fake is a gNMI server with one value.
type fake struct {
	gpb.UnimplementedGNMIServer
	address string
	packs   fstest.MapFS
	ca      string // path of the PEM file that verifies the server

	mu       sync.Mutex
	value    string
	previous string
	pending  string // id of the commit that waits for its confirmation
	logins   int
	next     func(ctx context.Context) error // what happens to the next Set, after it took effect
	answer   error                           // of every Set, instead of taking effect
	last     *gpb.SetRequest
	get      func(*gpb.GetRequest) (*gpb.GetResponse, error)
	conns    []net.Conn

	listen func() (stop func()) // begins to serve
	stop   func()
}

// Accept remembers connections so that they can be cut.
type cutter struct {
	net.Listener
	fake *fake
}

func (c cutter) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err == nil {
		c.fake.mu.Lock()
		defer c.fake.mu.Unlock()
		c.fake.conns = append(c.fake.conns, conn)
	}
	return conn, err
}

func (f *fake) cut(context.Context) error {
	for _, c := range f.conns {
		c.Close()
	}
	f.conns = nil
	return nil
}

// serve starts the server; config nil means without TLS.
func serve(t *testing.T, config *tls.Config) *fake {
	t.Helper()
	f := &fake{value: `"before"`, packs: fstest.MapFS{
		"timed/pack.yaml": {Data: []byte("session: {gnmi: {commitConfirmed: true}}")},
		"plain/pack.yaml": {Data: []byte("session: {gnmi: {encoding: JSON_IETF}}")},
	}}
	f.address = "127.0.0.1:0"
	f.listen = func() func() {
		l, err := net.Listen("tcp", f.address)
		if err != nil {
			t.Fatal(err)
		}
		f.address = l.Addr().String()
		transport := insecure.NewCredentials()
		if config != nil {
			transport = credentials.NewTLS(config)
		}
		server := grpc.NewServer(grpc.Creds(transport))
		gpb.RegisterGNMIServer(server, f)
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = server.Serve(cutter{l, f})
		}()
		return func() {
			server.Stop()
			<-done
		}
	}
	f.stop = f.listen()
	t.Cleanup(func() { f.stop() })
	return f
}

func (f *fake) login(ctx context.Context) error {
	md, _ := metadata.FromIncomingContext(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(md.Get("password")) > 0 {
		f.logins++
	}
	if p := md.Get("password"); len(p) != 1 || p[0] != password {
		return status.Error(codes.Unauthenticated, "Invalid Username or Password")
	}
	return nil
}

func (f *fake) Capabilities(ctx context.Context, _ *gpb.CapabilityRequest) (*gpb.CapabilityResponse, error) {
	if err := f.login(ctx); err != nil {
		return nil, err
	}
	return &gpb.CapabilityResponse{
		GNMIVersion:        "0.7.0",
		SupportedEncodings: []gpb.Encoding{gpb.Encoding_JSON, gpb.Encoding_JSON_IETF, gpb.Encoding_PROTO},
		SupportedModels:    []*gpb.ModelData{{Name: "sonic-db", Organization: "SONiC", Version: "0.1.0"}},
	}, nil
}

func (f *fake) Get(ctx context.Context, r *gpb.GetRequest) (*gpb.GetResponse, error) {
	if err := f.login(ctx); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.get != nil {
		return f.get(r)
	}
	if elems := r.Path[0].Elem; elems[len(elems)-1].Name != "value" {
		return nil, status.Error(codes.NotFound, "no such path")
	}
	return &gpb.GetResponse{Notification: []*gpb.Notification{{Update: []*gpb.Update{{Path: r.Path[0], Val: ietf(f.value)}}}}}, nil
}

func ietf(text string) *gpb.TypedValue {
	return &gpb.TypedValue{Value: &gpb.TypedValue_JsonIetfVal{JsonIetfVal: []byte(text)}}
}

func (f *fake) Set(ctx context.Context, r *gpb.SetRequest) (*gpb.SetResponse, error) {
	if err := f.login(ctx); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last = r
	if f.answer != nil {
		return nil, f.answer
	}
	if err := f.commit(r); err != nil {
		return nil, err
	}
	for _, u := range append(r.Replace, r.Update...) {
		value := string(u.Val.GetJsonIetfVal())
		if value == `"bad"` {
			return nil, status.Error(codes.InvalidArgument, "bad is not a value")
		}
		f.value = value
	}
	if next := f.next; next != nil {
		f.next = nil
		return &gpb.SetResponse{}, next(ctx)
	}
	return &gpb.SetResponse{}, nil
}

// commit is the confirmed commit of the specification's gnmi-commit-confirmed.md.
func (f *fake) commit(r *gpb.SetRequest) error {
	for _, e := range r.Extension {
		c := e.GetCommit()
		switch c.GetAction().(type) {
		case *gnmi_ext.Commit_Commit:
			f.pending, f.previous = c.Id, f.value
		case *gnmi_ext.Commit_Confirm, *gnmi_ext.Commit_Cancel:
			if f.pending != c.Id {
				return status.Error(codes.FailedPrecondition, "no such commit is pending")
			}
			if c.GetCancel() != nil {
				f.value = f.previous
			}
			f.pending = ""
		}
	}
	return nil
}

// expire is the end of the commit timer.
func (f *fake) expire() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pending != "" {
		f.value, f.pending = f.previous, ""
	}
}

// given is how often a password was.
func (f *fake) given() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.logins
}

func (f *fake) holds() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.value
}

func (f *fake) endpoint(platform string) drivers.Endpoint {
	return drivers.Endpoint{Device: "leaf1", Platform: platform, GNMI: f.address, User: "admin", Password: password, TLS: drivers.TLS{CA: f.ca}}
}

// authority is a CA for tests.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "weir test CA"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	key, der := sign(t, template, template, nil)
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return authority{cert, key, write(t, "CERTIFICATE", der)}
}

// issue makes a certificate for names that is valid until then.
func (a authority) issue(t *testing.T, until time.Time, ips []net.IP, names ...string) (tls.Certificate, [2]string) {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "leaf1"}, DNSNames: names, IPAddresses: ips,
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: until, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	key, der := sign(t, template, a.cert, a.key)
	encoded, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, [2]string{write(t, "CERTIFICATE", der), write(t, "EC PRIVATE KEY", encoded)}
}

func sign(t *testing.T, template, parent *x509.Certificate, signer *ecdsa.PrivateKey) (*ecdsa.PrivateKey, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if signer == nil {
		signer = key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	return key, der
}

func write(t *testing.T, kind string, der []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "it.pem")
	if err := os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}
