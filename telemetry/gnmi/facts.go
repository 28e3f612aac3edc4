package gnmi

import (
	"context"
	"errors"
	"fmt"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/weirfabric/weir/templates/pack"
)

// learn asks the device for its facts: a rollout may switch counters on, a restart rename ports.
func (r *running) learn(ctx context.Context, conn Conn) error {
	ports, err := r.table(ctx, conn, r.Bindings.Facts.Aliases)
	switches, err2 := r.table(ctx, conn, r.Bindings.Facts.Switches)
	if err = errors.Join(err, err2); err != nil {
		return err
	}
	r.apply(ports, switches)
	r.learned.Store(true)
	return nil
}

// apply gives the facts to the decoders: aliases turned to port names, and the groups of counters that are not on.
func (r *running) apply(aliases, switches map[string]string) {
	ports := make(map[string]string, len(aliases))
	for port, alias := range aliases {
		ports[alias] = port
	}
	off := map[string]bool{}
	if fact := r.Bindings.Facts.Switches; fact.Path != "" {
		for _, p := range r.Bindings.Streams {
			for _, l := range p.Fields {
				if l.Switch != "" && switches[l.Switch] != fact.On {
					off[l.Switch] = true
				}
			}
		}
	}
	for _, f := range r.feeds {
		f.decoder.Learn(ports, off)
	}
}

// table asks for one fact: the field of each row. A device that does not have the table has no such rows.
func (r *running) table(ctx context.Context, conn Conn, fact pack.Fact) (map[string]string, error) {
	out := map[string]string{}
	if fact.Path == "" {
		return out, nil
	}
	path, err := parsePath(fact.Path)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	resp, err := gpb.NewGNMIClient(conn).Get(ctx, &gpb.GetRequest{Prefix: &gpb.Path{Target: fact.Target},
		Path: []*gpb.Path{path}, Encoding: r.encoding()})
	if status.Code(err) == codes.NotFound {
		return out, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: ask for %s: %w", r.Device.Name, fact.Path, err)
	}
	for _, n := range resp.GetNotification() {
		for _, u := range n.GetUpdate() {
			var row string
			err = errors.Join(err, scanRows(u.GetVal().GetJsonIetfVal(), func(name []byte) bool { row = string(name); return true },
				func(name, value []byte) {
					if string(name) == fact.Field {
						out[row] = string(value)
					}
				}))
		}
	}
	return out, err
}
