package gnmi_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/gob"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// replayed names, in the environment, the recording that this binary serves instead of running tests.
const replayed = "WEIR_REPLAY"

func TestMain(m *testing.M) {
	if file := os.Getenv(replayed); file != "" {
		if err := serve(file); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// replay starts a process that serves the recording, and says where.
func replay(b *testing.B, r *recording) (address string) {
	b.Helper()
	name := filepath.Join(b.TempDir(), "recording")
	file, err := os.Create(name)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	if err := gob.NewEncoder(file).Encode(r); err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), replayed+"="+name)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close()     // the process ends with it
		_ = cmd.Wait() // how it ends does not matter
	})
	address, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(address)
}

// certificate is that of the standard library's test servers, for 127.0.0.1.
func certificate() (tls.Certificate, *x509.CertPool) {
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return s.TLS.Certificates[0], roots
}

// dial connects to a process that replays.
func dial(address string, option grpc.DialOption) (*grpc.ClientConn, error) {
	_, roots := certificate()
	return grpc.NewClient("passthrough:///"+address, option, grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: roots})))
}

// serve replays a recording until standard input ends.
func serve(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	var r recording
	if err := gob.NewDecoder(file).Decode(&r); err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	own, _ := certificate()
	g := grpc.NewServer(grpc.Creds(credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{own}})))
	gpb.RegisterGNMIServer(g, &player{recording: &r})
	go func() { _ = g.Serve(l) }() // until Stop
	defer g.Stop()
	fmt.Println(l.Addr())
	_, _ = os.Stdin.Read(make([]byte, 1)) // ends with the parent
	return nil
}

// player is a device that says again what was recorded.
type player struct {
	gpb.UnimplementedGNMIServer
	*recording
}

func (p *player) Get(_ context.Context, req *gpb.GetRequest) (*gpb.GetResponse, error) {
	body, err := proto.MarshalOptions{Deterministic: true}.Marshal(req)
	if err != nil {
		return nil, err
	}
	answer, ok := p.Answers[string(body)]
	if !ok {
		return nil, status.Error(codes.NotFound, "not recorded")
	}
	var resp gpb.GetResponse
	return &resp, proto.Unmarshal(answer, &resp)
}

func (p *player) Subscribe(s gpb.GNMI_SubscribeServer) error {
	req, err := s.Recv()
	if err != nil {
		return err
	}
	body, err := proto.MarshalOptions{Deterministic: true}.Marshal(req)
	if err != nil {
		return err
	}
	for _, r := range p.Streams {
		if string(r.Request) == string(body) {
			return r.play(s)
		}
	}
	return status.Error(codes.Unavailable, "not recorded")
}

// play sends the stream, encoded once, and repeats its second part for as long as someone listens.
func (r *recorded) play(s gpb.GNMI_SubscribeServer) error {
	first, err := prepared(s, r.First)
	if err != nil {
		return err
	}
	repeat, err := prepared(s, r.Repeat)
	if err != nil {
		return err
	}
	for _, m := range first {
		if err := s.SendMsg(m); err != nil {
			return err
		}
	}
	for len(repeat) > 0 {
		for _, m := range repeat {
			if err := s.SendMsg(m); err != nil {
				return err
			}
		}
	}
	<-s.Context().Done()
	return nil
}

func prepared(s grpc.ServerStream, messages [][]byte) ([]*grpc.PreparedMsg, error) {
	var out []*grpc.PreparedMsg
	for _, body := range messages {
		var m gpb.SubscribeResponse
		if err := proto.Unmarshal(body, &m); err != nil {
			return nil, err
		}
		p := &grpc.PreparedMsg{}
		if err := p.Encode(s, &m); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}
