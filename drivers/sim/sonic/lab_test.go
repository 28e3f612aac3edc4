package sonic_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"

	"github.com/weirfabric/weir/drivers/sim"
	"github.com/weirfabric/weir/drivers/sim/sonic"
)

// bench is one lab with one switch, and clients of it.
type bench struct {
	*sim.Lab
	t    *testing.T
	gnmi gpb.GNMIClient
	ctx  context.Context // with credentials
}

// leaf is a switch with two ports that are cabled to each other.
func leaf(files map[string][]byte) sim.Spec {
	return sim.Spec{Name: "leaf1", Platform: "sonic", SKU: "Mellanox-SN4600C-C64", Files: files, Ports: []sim.PortSpec{
		{Name: "Ethernet0", Alias: "etp1", Speed: 100e9, Cable: 40, PeerDevice: "leaf1", PeerPort: "Ethernet4"},
		{Name: "Ethernet4", Alias: "etp2", Speed: 100e9, Cable: 40, PeerDevice: "leaf1", PeerPort: "Ethernet0"},
	}}
}

// newBench starts a switch in a lab that runs 200 times as fast as the world.
func newBench(t *testing.T, spec sim.Spec) *bench {
	t.Helper()
	return newBenchAt(t, spec, 200)
}

func newBenchAt(t *testing.T, spec sim.Spec, scale float64) *bench {
	t.Helper()
	return benchOf(t, []sim.Spec{spec}, scale, map[string]func(sim.Hardware) sim.Personality{"sonic": sonic.New})
}

// benchOf starts a lab in which the switch is called leaf1.
func benchOf(t *testing.T, specs []sim.Spec, scale float64, personalities map[string]func(sim.Hardware) sim.Personality) *bench {
	t.Helper()
	lab, err := sim.New(specs, sim.Options{Scale: scale, Dir: t.TempDir(), Personalities: personalities})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lab.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := lab.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	b := &bench{Lab: lab, t: t}
	user, password := lab.Credentials()
	b.ctx = metadata.AppendToOutgoingContext(t.Context(), "username", user, "password", password)
	b.gnmi = b.dial(&tls.Config{})
	return b
}

// dial is a gNMI client that verifies the switch.
func (b *bench) dial(config *tls.Config) gpb.GNMIClient {
	b.t.Helper()
	ca, err := os.ReadFile(b.CAFile())
	if err != nil {
		b.t.Fatal(err)
	}
	config.RootCAs = x509.NewCertPool()
	config.RootCAs.AppendCertsFromPEM(ca)
	address, _ := b.Endpoint("leaf1")
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(credentials.NewTLS(config)))
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { conn.Close() })
	return gpb.NewGNMIClient(conn)
}

// path reads origin:/a/b/c.
func path(text string) *gpb.Path {
	p := &gpb.Path{}
	if origin, rest, ok := strings.Cut(text, ":/"); ok {
		p.Origin, text = origin, rest
	}
	for name := range strings.SplitSeq(strings.Trim(text, "/"), "/") {
		p.Elem = append(p.Elem, &gpb.PathElem{Name: name})
	}
	return p
}

const config = "sonic-db:/CONFIG_DB/localhost/"

// get is the JSON at a path of a target; empty where the switch sends nothing.
func (b *bench) get(target, text string) (string, error) {
	resp, err := b.gnmi.Get(b.ctx, &gpb.GetRequest{
		Prefix: &gpb.Path{Target: target}, Path: []*gpb.Path{path(text)}, Encoding: gpb.Encoding_JSON_IETF,
	})
	if err != nil || len(resp.GetNotification()) == 0 {
		return "", err
	}
	val := resp.GetNotification()[0].GetUpdate()[0].GetVal()
	if s, ok := val.GetValue().(*gpb.TypedValue_StringVal); ok {
		return s.StringVal, nil
	}
	return string(val.GetJsonIetfVal()), nil
}

// must is get of what is there.
func (b *bench) must(target, text string) string {
	b.t.Helper()
	got, err := b.get(target, text)
	if err != nil {
		b.t.Fatalf("get %s: %v", text, err)
	}
	return got
}

func ietf(v any) *gpb.TypedValue {
	text, _ := json.Marshal(v)
	return &gpb.TypedValue{Value: &gpb.TypedValue_JsonIetfVal{JsonIetfVal: text}}
}

// row is a row of CONFIG_DB.
type row map[string]string

func update(text string, v any) *gpb.SetRequest {
	return &gpb.SetRequest{Update: []*gpb.Update{{Path: path(text), Val: ietf(v)}}}
}

// set sends a request with time to spare.
func (b *bench) set(req *gpb.SetRequest) (*gpb.SetResponse, error) {
	ctx, cancel := context.WithTimeout(b.ctx, 2*time.Minute)
	defer cancel()
	return b.gnmi.Set(ctx, req)
}

// shell logs in over SSH.
func (b *bench) shell() *ssh.Client {
	b.t.Helper()
	keys, err := knownhosts.New(b.KnownHosts())
	if err != nil {
		b.t.Fatal(err)
	}
	user, password := b.Credentials()
	_, address := b.Endpoint("leaf1")
	c, err := ssh.Dial("tcp", address, &ssh.ClientConfig{
		User: user, Auth: []ssh.AuthMethod{ssh.Password(password)}, HostKeyCallback: keys, Timeout: time.Minute,
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { c.Close() })
	return c
}

// run executes a command with an input and gives its output, errors after it, and its exit status.
func (b *bench) run(command, input string) (string, int) {
	b.t.Helper()
	session, err := b.shell().NewSession()
	if err != nil {
		b.t.Fatal(err)
	}
	defer session.Close()
	var out, errs bytes.Buffer
	session.Stdin, session.Stdout, session.Stderr = strings.NewReader(input), &out, &errs
	status := 0
	if err := session.Run(command); err != nil {
		var exit *ssh.ExitError
		if !errors.As(err, &exit) {
			b.t.Fatalf("%s: %v", command, err)
		}
		status = exit.ExitStatus()
	}
	return out.String() + errs.String(), status
}

// clientWithCertificate is a gNMI client that shows the lab's client certificate.
func (b *bench) clientWithCertificate() gpb.GNMIClient {
	b.t.Helper()
	cert, err := tls.LoadX509KeyPair(b.ClientCertificate())
	if err != nil {
		b.t.Fatal(err)
	}
	return b.dial(&tls.Config{Certificates: []tls.Certificate{cert}})
}

func (b *bench) inject(on sim.Operation, f sim.FaultKind) {
	b.t.Helper()
	if err := b.Inject(sim.Fault{Kind: f, Device: "leaf1", On: on}); err != nil {
		b.t.Fatal(err)
	}
}

// eventually waits for something that the switch does by itself.
func (b *bench) eventually(what string, is func() bool) {
	b.t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(2 * time.Minute); !is(); <-tick.C {
		if time.Now().After(deadline) {
			b.t.Fatalf("%s: it did not come to that", what)
		}
	}
}
