package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"golang.org/x/crypto/ssh"
	"google.golang.org/grpc"
)

// fakeGNMI answers whatever is asked: nothing, or too much.
type fakeGNMI struct {
	gpb.UnimplementedGNMIServer
	hostile bool
	asked   atomic.Int64
	said    atomic.Int64 // messages of subscriptions
}

func (f *fakeGNMI) serve(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(grpc.MaxSendMsgSize(64 << 20))
	gpb.RegisterGNMIServer(s, f)
	go func() { _ = s.Serve(l) }()
	t.Cleanup(s.Stop)
	return l.Addr().(*net.TCPAddr).Port
}

// The documents of a hostile server: each is in the bounds of bytes, or beyond them.
func (f *fakeGNMI) document() *gpb.TypedValue {
	var body string
	switch n := f.asked.Add(1); n % 4 {
	case 0:
		body = strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20)
	case 1:
		body = "[" + strings.Repeat("0,", 3<<20) + "0]"
	case 2:
		body = `{"x":"` + strings.Repeat("x", 16<<20) + `"}`
	default:
		body = invented(50_000, int(n))
	}
	return &gpb.TypedValue{Value: &gpb.TypedValue_JsonIetfVal{JsonIetfVal: []byte(body)}}
}

// invented are rows of counters of ports that no device has, other ones at each call.
func invented(rows, call int) string {
	var b strings.Builder
	b.WriteByte('{')
	for n := range rows {
		fmt.Fprintf(&b, `"Ethernet%d_%d:3":{"SAI_QUEUE_STAT_PACKETS":"1","SAI_QUEUE_STAT_BYTES":"2","SAI_QUEUE_STAT_DROPPED_PACKETS":"3"},`, call, n)
	}
	return strings.TrimSuffix(b.String(), ",") + "}"
}

func (f *fakeGNMI) Capabilities(context.Context, *gpb.CapabilityRequest) (*gpb.CapabilityResponse, error) {
	return &gpb.CapabilityResponse{SupportedEncodings: []gpb.Encoding{gpb.Encoding_JSON, gpb.Encoding_JSON_IETF, gpb.Encoding_PROTO}, GNMIVersion: "0.7.0"}, nil
}

func (f *fakeGNMI) Get(_ context.Context, r *gpb.GetRequest) (*gpb.GetResponse, error) {
	var out gpb.GetResponse
	for _, p := range r.GetPath() {
		value := &gpb.TypedValue{Value: &gpb.TypedValue_JsonIetfVal{JsonIetfVal: []byte("{}")}}
		if f.hostile && r.GetPrefix().GetTarget() != "CONFIG_DB" { // without the facts there nobody would subscribe
			value = f.document()
		}
		out.Notification = append(out.Notification, &gpb.Notification{Prefix: r.GetPrefix(), Update: []*gpb.Update{{Path: p, Val: value}}})
	}
	return &out, nil
}

func (f *fakeGNMI) Subscribe(stream gpb.GNMI_SubscribeServer) error {
	request, err := stream.Recv()
	if err != nil {
		return err
	}
	subscribed := request.GetSubscribe()
	for n := 0; ; n++ {
		if !f.hostile && n > 0 {
			<-stream.Context().Done()
			return nil
		}
		for _, s := range subscribed.GetSubscription() {
			value := &gpb.TypedValue{Value: &gpb.TypedValue_JsonIetfVal{JsonIetfVal: []byte(`{}`)}}
			path := s.GetPath()
			if f.hostile {
				value.Value = &gpb.TypedValue_JsonIetfVal{JsonIetfVal: []byte(invented(20_000, n))}
				path = numbered(path, n)
			}
			update := &gpb.Notification{Timestamp: time.Now().UnixNano(), Prefix: subscribed.GetPrefix(), Update: []*gpb.Update{{Path: path, Val: value}}}
			if err := stream.Send(&gpb.SubscribeResponse{Response: &gpb.SubscribeResponse_Update{Update: update}}); err != nil {
				return err
			}
			f.said.Add(1)
		}
		if err := stream.Send(&gpb.SubscribeResponse{Response: &gpb.SubscribeResponse_SyncResponse{SyncResponse: true}}); err != nil {
			return err
		}
	}
}

// numbered gives every key of a path that is a wildcard a name of its own.
func numbered(p *gpb.Path, n int) *gpb.Path {
	out := &gpb.Path{Origin: p.GetOrigin(), Target: p.GetTarget()}
	for _, e := range p.GetElem() {
		elem := &gpb.PathElem{Name: e.GetName(), Key: map[string]string{}}
		for k, v := range e.GetKey() {
			if v == "*" {
				v = fmt.Sprint("Ethernet", n)
			}
			elem.Key[k] = v
		}
		out.Elem = append(out.Elem, elem)
	}
	return out
}

// serveSSH has one account. A hostile server never ends what it says, in a command and in a terminal.
func serveSSH(t *testing.T, hostile bool) int {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	config := &ssh.ServerConfig{PasswordCallback: func(ssh.ConnMetadata, []byte) (*ssh.Permissions, error) { return nil, nil }}
	config.AddHostKey(signer)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go sessions(conn, config, hostile)
		}
	}()
	return l.Addr().(*net.TCPAddr).Port
}

func sessions(conn net.Conn, config *ssh.ServerConfig, hostile bool) {
	defer conn.Close()
	_, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for c := range channels {
		channel, asked, err := c.Accept()
		if err != nil {
			return
		}
		go func() {
			defer channel.Close()
			for r := range asked {
				_ = r.Reply(true, nil)
				switch r.Type {
				case "exec", "shell":
					if hostile {
						endless(channel)
						return
					}
					_, _ = io.WriteString(channel, "nothing is here\n")
					_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{1}))
					return
				}
			}
		}()
	}
}

// endless writes until nobody reads any more: the mark that begins an answer, a prompt, and lines.
func endless(to io.Writer) {
	const mark = "==weir==\n"
	piece := bytes.Repeat([]byte("leaf1#0123456789\n"), 4096)
	if _, err := io.WriteString(to, mark); err != nil {
		return
	}
	for {
		if _, err := to.Write(piece); err != nil {
			return
		}
	}
}
