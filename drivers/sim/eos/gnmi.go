package eos

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"strings"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/weirfabric/weir/drivers/sim"
)

// server is the device's gNMI.
type server struct {
	gpb.UnimplementedGNMIServer
	d    *Device
	drop func(net.Addr)
}

// serveGNMI answers gNMI until ctx ends.
func (d *Device) serveGNMI(ctx context.Context, s sim.Services) error {
	denied := status.Error(codes.Unauthenticated, "authentication failed")
	return sim.ServeGNMI(ctx, s, &server{d: d, drop: s.Drop}, denied)
}

// fault is what goes wrong with a unary call: the error that it ends with, or nil. The call does what it is for all the
// same when effect is true.
func (s *server) fault(ctx context.Context, on sim.Operation) (err error, effect bool) {
	switch s.d.hw.Fault(on).Kind {
	case sim.Reject:
		return status.Errorf(codes.Aborted, "%s is refused", on), false
	case sim.Hang:
		<-ctx.Done()
		return status.FromContextError(ctx.Err()).Err(), true
	case sim.Drop:
		return s.cut(ctx), true
	case sim.DropBefore, sim.Partial, sim.Reboot:
		return s.cut(ctx), false
	}
	return nil, true
}

// cut ends the connection that a call came by.
func (s *server) cut(ctx context.Context) error {
	if p, ok := peer.FromContext(ctx); ok && s.drop != nil {
		s.drop(p.Addr)
	}
	return status.Error(codes.Unavailable, "the connection ended")
}

// models that the device says it has; versions of the OpenConfig ones as in Arista's list of paths for this release.
var models = []*gpb.ModelData{
	{Name: "arista-intf-augments", Organization: "Arista Networks <http://arista.com/>"},
	{Name: "arista-qos-augments", Organization: "Arista Networks <http://arista.com/>", Version: "0.0.4"},
	{Name: "openconfig-if-ethernet", Organization: "OpenConfig working group", Version: "2.17.0"},
	{Name: "openconfig-interfaces", Organization: "OpenConfig working group", Version: "3.8.1"},
	{Name: "openconfig-lldp", Organization: "OpenConfig working group"},
	{Name: "openconfig-qos", Organization: "OpenConfig working group", Version: "2.2.0"},
	{Name: "openconfig-system", Organization: "OpenConfig working group"},
}

// encodings of Get and Subscribe.
var encodings = []gpb.Encoding{gpb.Encoding_JSON, gpb.Encoding_JSON_IETF, gpb.Encoding_PROTO, gpb.Encoding_ASCII}

// Capabilities lists models and encodings.
func (s *server) Capabilities(context.Context, *gpb.CapabilityRequest) (*gpb.CapabilityResponse, error) {
	return &gpb.CapabilityResponse{SupportedModels: models, SupportedEncodings: encodings, GNMIVersion: "0.10.0"}, nil
}

// join is the elements of a path behind a prefix. It checks the origin, which stands in one of the two.
func join(prefix, path *gpb.Path) (elems []*gpb.PathElem, origin string, err error) {
	origin = prefix.GetOrigin()
	if own := path.GetOrigin(); own != "" {
		if origin != "" {
			return nil, "", status.Error(codes.InvalidArgument, "an origin both in the prefix and in the path")
		}
		origin = own
	}
	// gnmi_cli sends a path in the old form beside the new one.
	if old(path) || old(prefix) {
		return nil, "", status.Error(codes.Unimplemented, "paths of strings are not supported: use elem")
	}
	elems = append(append(elems, prefix.GetElem()...), path.GetElem()...)
	switch origin {
	case "", "openconfig", "cli":
		return elems, origin, nil
	}
	return nil, "", status.Errorf(codes.Unimplemented, "origin %q is not supported", origin)
}

// old says whether a path is in the form that gNMI had before elem, and in no other.
func old(p *gpb.Path) bool {
	//lint:ignore SA1019 to refuse what old clients send
	return len(p.GetElement()) > 0 && len(p.GetElem()) == 0 //nolint:staticcheck // as above
}

// checkEncoding refuses encodings that the lab cannot write for leaves.
func checkEncoding(e gpb.Encoding) error {
	if e == gpb.Encoding_JSON || e == gpb.Encoding_JSON_IETF || e == gpb.Encoding_PROTO {
		return nil
	}
	return status.Errorf(codes.Unimplemented, "encoding %v is not supported", e)
}

// Get answers with one notification for each path. What is asked of the origin cli is a show command.
func (s *server) Get(ctx context.Context, req *gpb.GetRequest) (*gpb.GetResponse, error) {
	if err, _ := s.fault(ctx, sim.Get); err != nil {
		return nil, err
	}
	resp := &gpb.GetResponse{}
	for _, p := range req.GetPath() {
		elems, origin, err := join(req.GetPrefix(), p)
		if err != nil {
			return nil, err
		}
		if origin == "cli" {
			n, err := s.show(ctx, elems, p, req.GetEncoding())
			if err != nil {
				return nil, err
			}
			resp.Notification = append(resp.Notification, n)
			continue
		}
		if err := checkEncoding(req.GetEncoding()); err != nil {
			return nil, err
		}
		if req.GetType() == gpb.GetRequest_CONFIG {
			return nil, status.Error(codes.Unimplemented, "the lab's EOS has state only: read the configuration by origin cli")
		}
		sel := s.d.selectLeaves(elems)
		n := &gpb.Notification{Timestamp: s.d.hw.Now().UnixNano(), Prefix: echo(req.GetPrefix())}
		for _, part := range sel.notifications(nil, req.GetEncoding(), sel.values(), func(int) bool { return true }) {
			n.Update = append(n.Update, part.Update...)
		}
		if len(n.Update) == 0 {
			return nil, status.Error(codes.NotFound, "path invalid: nothing is there")
		}
		resp.Notification = append(resp.Notification, n)
	}
	return resp, nil
}

// echo is the prefix of an answer: the target and origin that were asked for.
func echo(prefix *gpb.Path) *gpb.Path {
	if prefix.GetTarget() == "" && prefix.GetOrigin() == "" {
		return nil
	}
	return &gpb.Path{Target: prefix.GetTarget(), Origin: prefix.GetOrigin()}
}

// show runs a command that a path of the origin cli names: as JSON, or as text where ASCII is asked for.
func (s *server) show(ctx context.Context, elems []*gpb.PathElem, path *gpb.Path, e gpb.Encoding) (*gpb.Notification, error) {
	var words []string
	for _, elem := range elems {
		words = append(words, elem.GetName())
	}
	command := strings.Join(words, " ")
	if !strings.HasPrefix(command, "show ") {
		return nil, status.Errorf(codes.InvalidArgument, "%q is no show command", command)
	}
	if e != gpb.Encoding_ASCII {
		command += " | json"
	}
	var out bytes.Buffer
	if err := (&cli{d: s.d, privileged: true}).Line(ctx, command, &out); err != nil {
		return nil, s.cut(ctx)
	}
	value := &gpb.TypedValue{Value: &gpb.TypedValue_AsciiVal{AsciiVal: out.String()}}
	if e != gpb.Encoding_ASCII {
		if !json.Valid(out.Bytes()) {
			return nil, status.Error(codes.InvalidArgument, strings.TrimSpace(out.String()))
		}
		value = &gpb.TypedValue{Value: &gpb.TypedValue_JsonIetfVal{JsonIetfVal: out.Bytes()}}
	}
	return &gpb.Notification{Timestamp: s.d.hw.Now().UnixNano(), Update: []*gpb.Update{{Path: path, Val: value}}}, nil
}

// Set takes configuration lines by the origin cli, in one configuration session. OpenConfig configuration is not part of
// the lab's EOS.
func (s *server) Set(ctx context.Context, req *gpb.SetRequest) (*gpb.SetResponse, error) {
	if len(req.GetDelete())+len(req.GetReplace())+len(req.GetUnionReplace()) > 0 || len(req.GetUpdate()) == 0 {
		return nil, status.Error(codes.Unimplemented, "the lab's EOS takes updates of origin cli only")
	}
	var lines []string
	resp := &gpb.SetResponse{Prefix: req.GetPrefix(), Timestamp: s.d.hw.Now().UnixNano()}
	for _, u := range req.GetUpdate() {
		_, origin, err := join(req.GetPrefix(), u.GetPath())
		if err != nil {
			return nil, err
		}
		if _, ascii := u.GetVal().GetValue().(*gpb.TypedValue_AsciiVal); origin != "cli" || !ascii {
			return nil, status.Error(codes.Unimplemented, "the lab's EOS takes updates of origin cli only, with an ascii_val")
		}
		lines = append(lines, strings.Split(u.GetVal().GetAsciiVal(), "\n")...)
		resp.Response = append(resp.Response, &gpb.UpdateResult{Path: u.GetPath(), Op: gpb.UpdateResult_UPDATE})
	}
	err, effect := s.fault(ctx, sim.Set)
	if !effect {
		return nil, err
	}
	if refused := s.d.merge(lines); refused != nil {
		return nil, status.Error(codes.InvalidArgument, refused.Error())
	}
	return resp, err
}

// merge enters lines into the running configuration, all or none.
func (d *Device) merge(lines []string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := &editor{grammar: d.grammar, path: []*node{d.running.clone()}}
	for _, l := range lines {
		if strings.TrimSpace(l) == "exit" && len(e.path) > 1 {
			e.path = e.path[:len(e.path)-1]
		} else if err := e.enter(l); err != nil {
			return errors.New(strings.TrimSpace(l) + ": " + err.Error())
		}
	}
	d.running = e.path[0]
	d.apply()
	return nil
}
