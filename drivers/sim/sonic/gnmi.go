package sonic

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/weirfabric/weir/drivers/sim"
)

// server is SONiC's gNMI server. Codes and words are those of sonic-gnmi.
type server struct {
	gpb.UnimplementedGNMIServer
	*Device
	services sim.Services
	names    nameMaps // as they were when the server started

	portsMu   sync.Mutex // of portTable
	portTable portTable
	clients   clients
}

// nameMaps are the ports that the server knows. It reads them once: what is added later is not resolved before a restart.
type nameMaps struct {
	ports   []string          // in order
	aliases map[string]string // by name
	names   map[string]string // by alias
}

// minPing is how often, in wall time, a client may ask whether the server is still there.
const minPing = 10 * time.Second

// serveGNMI answers until ctx ends.
func (d *Device) serveGNMI(ctx context.Context, s sim.Services) error {
	srv := &server{Device: d, services: s, names: d.readNames()}
	denied := status.Error(codes.Unauthenticated, "Unauthenticated")
	return sim.ServeGNMI(ctx, s, srv, denied,
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: minPing, PermitWithoutStream: true}))
}

func (d *Device) readNames() nameMaps {
	db, _ := d.snapshot()
	n := nameMaps{aliases: map[string]string{}, names: map[string]string{}}
	for _, p := range d.hw.Spec().Ports {
		row, ok := db["PORT"][p.Name]
		if !ok {
			continue
		}
		n.ports = append(n.ports, p.Name)
		alias := row["alias"]
		if alias == "" {
			alias = p.Name
		}
		n.aliases[p.Name], n.names[alias] = alias, p.Name
	}
	return n
}

// Capabilities: openconfig-qos is not among the models, and the encodings are more than the native tables can do.
func (s *server) Capabilities(context.Context, *gpb.CapabilityRequest) (*gpb.CapabilityResponse, error) {
	model := func(name, organization, version string) *gpb.ModelData {
		return &gpb.ModelData{Name: name, Organization: organization, Version: version}
	}
	return &gpb.CapabilityResponse{
		SupportedModels: []*gpb.ModelData{
			model("openconfig-acl", "OpenConfig working group", "1.0.2"),
			model("openconfig-mclag", "OpenConfig working group", "0.1.0"),
			model("openconfig-sampling-sflow", "OpenConfig working group", "1.0.0"),
			model("openconfig-interfaces", "OpenConfig working group", "2.4.3"),
			model("openconfig-lldp", "OpenConfig working group", "0.2.1"),
			model("openconfig-platform", "OpenConfig working group", "0.16.0"),
			model("openconfig-system", "OpenConfig working group", "0.7.0"),
			model("sonic-db", "SONiC", "0.1.0"),
		},
		SupportedEncodings: []gpb.Encoding{gpb.Encoding_JSON, gpb.Encoding_JSON_IETF, gpb.Encoding_PROTO},
		GNMIVersion:        "0.7.0",
	}, nil
}

// drop ends the connection that a call came over.
func (s *server) drop(ctx context.Context) error {
	if p, ok := peer.FromContext(ctx); ok && s.services.Drop != nil {
		s.services.Drop(p.Addr)
	}
	<-ctx.Done()
	return ctx.Err()
}

// native is the origin of SONiC's own tables.
const native = "sonic-db"

// originOf is the origin that all paths of a request share.
func originOf(prefix *gpb.Path, paths []*gpb.Path) (string, error) {
	if origin := prefix.GetOrigin(); origin != "" {
		return origin, nil
	}
	var origin string
	for i, p := range paths {
		if i > 0 && p.GetOrigin() != origin {
			return "", status.Error(codes.Unimplemented, "Origin conflict in path")
		}
		origin = p.GetOrigin()
	}
	return origin, nil
}

// elements are the names along prefix and path. A key in brackets is an element after its name.
func elements(prefix, path *gpb.Path) []string {
	var names []string
	for _, e := range slices.Concat(prefix.GetElem(), path.GetElem()) {
		names = append(names, e.GetName())
		for _, v := range e.GetKey() {
			names = append(names, v)
		}
	}
	return names
}

// tablePath is what comes after the database and the namespace. A slash in a key is written ~1, as in a JSON pointer.
func tablePath(names []string, database string) ([]string, error) {
	switch {
	case len(names) == 0:
		return nil, status.Error(codes.Unimplemented, "No target specified in path")
	case names[0] != database:
		return nil, status.Errorf(codes.Unknown, "Set RPC does not support %s", names[0])
	case len(names) < 2 || names[1] != "localhost":
		return nil, status.Error(codes.Unimplemented, "Namespace/container conflict in path")
	}
	var path []string
	for _, name := range names[2:] {
		if name != "" {
			path = append(path, strings.NewReplacer("~1", "/", "~0", "~").Replace(name))
		}
	}
	return path, nil
}
