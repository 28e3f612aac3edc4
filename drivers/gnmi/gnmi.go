// Package gnmi moves bytes to and from devices over gNMI.
//
// A chunk is one SetRequest, which the specification makes a transaction. What a server does otherwise stands in the
// session section of its platform's pack. Paths are text with the origin before the colon
// (sonic-db:/CONFIG_DB/localhost/QUEUE); a path without one is of origin openconfig.
package gnmi

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"slices"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/keepalive"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/templates/pack"
)

const (
	defaultTimeout    = time.Minute     // of one Get
	defaultSetTimeout = 2 * time.Minute // where the pack does not say
	reconnectTimeout  = 10 * time.Second
	maxMessage        = drivers.MaxAnswer + 64<<10 // bytes received: an answer, and what is around it
	maxHeaders        = 64 << 10                   // bytes of a call's headers, where errors stand; gRPC's default is 16 MB

	// pingEvery is how long a silent connection may be before weir asks whether it is alive. A server with gRPC's default
	// policy takes more than one ping in five minutes as an attack and ends the connection, which would cut a long Set
	// off (google.golang.org/grpc/keepalive, EnforcementPolicy.MinTime). A dead peer is noticed earlier by TCP.
	pingEvery   = 330 * time.Second
	pingTimeout = 20 * time.Second
)

// Dialer opens gNMI connections.
type Dialer struct {
	Packs fs.FS // holds PLATFORM/pack.yaml: templates.FS
	// DialContext opens the connection, as net.Dialer's method does. It may be called from many goroutines at once. Nil: the
	// network of the machine.
	DialContext func(ctx context.Context, network, address string) (net.Conn, error)
}

// Dial connects, proves who weir is, and asks for the server's Capabilities. It makes one attempt.
func (d Dialer) Dial(ctx context.Context, e drivers.Endpoint) (drivers.Target, error) {
	session, err := pack.ReadSession(d.Packs, e.Platform)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.Device, err)
	}
	watch := &watch{open: d.DialContext}
	if watch.open == nil {
		watch.open = (&net.Dialer{}).DialContext
	}
	transport, err := transportCredentials(e, watch)
	if err != nil {
		return nil, err
	}
	options := []grpc.DialOption{
		grpc.WithTransportCredentials(transport),
		grpc.WithContextDialer(watch.dial),
		grpc.WithUserAgent("weir"),
		grpc.WithMaxHeaderListSize(maxHeaders),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: pingEvery, Timeout: pingTimeout}),
	}
	if e.User != "" {
		options = append(options, grpc.WithPerRPCCredentials(login{e.User, e.Password, !e.Insecure.Plaintext}))
	}
	// passthrough: the address is an operator's, and goes to the dialer as it is, without a resolver or a proxy.
	conn, err := grpc.NewClient("passthrough:///"+e.GNMI, options...)
	if err != nil {
		return nil, fmt.Errorf("%s: prepare the connection to %s: %w", e.Device, e.GNMI, err)
	}
	t := &Target{endpoint: e, pack: session.GNMI, conn: conn, client: gpb.NewGNMIClient(conn), watch: watch}
	if err := t.hello(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return t, nil
}

// Target is a gNMI connection to a device.
type Target struct {
	endpoint     drivers.Endpoint
	pack         pack.GNMI
	conn         *grpc.ClientConn
	client       gpb.GNMIClient
	watch        *watch
	capabilities Capabilities
	encoding     gpb.Encoding
}

// Capabilities is what a server says that it can do.
type Capabilities struct {
	Version   string // of gNMI
	Encodings []string
	Models    []Model
}

// Model is a YANG module that the server speaks.
type Model struct{ Name, Organization, Version string }

// Capabilities are as the server gave them when the connection was made.
func (t *Target) Capabilities() Capabilities { return t.capabilities }

// Encoding is the one that values travel in.
func (t *Target) Encoding() string { return t.encoding.String() }

// hello asks for Capabilities, which is also where a wrong certificate or password shows, and settles the encoding.
func (t *Target) hello(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, t.timeout(defaultTimeout))
	defer cancel()
	answer, err := t.client.Capabilities(ctx, &gpb.CapabilityRequest{})
	if err != nil {
		return t.connectError(ctx, err)
	}
	t.capabilities = Capabilities{Version: answer.GetGNMIVersion()}
	for _, e := range answer.GetSupportedEncodings() {
		t.capabilities.Encodings = append(t.capabilities.Encodings, e.String())
	}
	for _, m := range answer.GetSupportedModels() {
		t.capabilities.Models = append(t.capabilities.Models, Model{m.GetName(), m.GetOrganization(), m.GetVersion()})
	}
	t.encoding, err = choose(t.pack.Encoding, answer.GetSupportedEncodings())
	if err != nil {
		return fmt.Errorf("%s: %s", t.endpoint.Device, t.endpoint.Quote(err.Error()))
	}
	return nil
}

// choose is the pack's encoding, or the first one of JSON_IETF and JSON that the server has.
func choose(only string, has []gpb.Encoding) (gpb.Encoding, error) {
	if only != "" {
		e, ok := gpb.Encoding_value[only]
		if !ok {
			return 0, fmt.Errorf("the platform's pack names an encoding %q that gNMI does not have", only)
		}
		return gpb.Encoding(e), nil
	}
	for _, e := range []gpb.Encoding{gpb.Encoding_JSON_IETF, gpb.Encoding_JSON} {
		if slices.Contains(has, e) {
			return e, nil
		}
	}
	return 0, fmt.Errorf("the server has neither encoding JSON_IETF nor JSON, only %v", has)
}

func (t *Target) timeout(fallback time.Duration) time.Duration {
	if t.endpoint.Timeout != 0 {
		return t.endpoint.Timeout
	}
	return fallback
}

// ready waits until there is a connection, so that an error after it cannot mean that nothing was sent. A server may have
// closed an idle one, or be back from a reboot while gRPC still waits before it tries again.
func (t *Target) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, reconnectTimeout)
	defer cancel()
	for {
		state := t.conn.GetState()
		switch state {
		case connectivity.Ready:
			return nil
		case connectivity.TransientFailure:
			t.conn.ResetConnectBackoff()
		case connectivity.Idle:
			t.conn.Connect()
		}
		if !t.conn.WaitForStateChange(ctx, state) {
			return t.connectError(ctx, ctx.Err())
		}
	}
}

// Conn is the connection itself, for what a Target does not do: to subscribe. It ends with the Target.
func (t *Target) Conn() *grpc.ClientConn { return t.conn }

// Close ends the connection.
func (t *Target) Close() error { return t.conn.Close() }
