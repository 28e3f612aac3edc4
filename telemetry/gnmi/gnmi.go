// Package gnmi brings samples by gNMI Subscribe: one stream for each origin and target, each on a connection of its own, watched over
// path by path and kept alive for as long as the device is watched.
package gnmi

import (
	"fmt"
	"slices"
	"strings"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"github.com/openconfig/ygot/ygot"

	"github.com/weirfabric/weir/telemetry/oc"
	"github.com/weirfabric/weir/templates/pack"
)

// openconfig is the origin whose paths a schema is known of.
const openconfig = "openconfig"

// stream is what one stream asks for.
type stream struct {
	origin, target string
	paths          []pack.Path
}

// streams merges paths into as few streams as gNMI allows: a prefix has one origin and one target.
func streams(paths []pack.Path) []stream {
	var out []stream
	for _, p := range paths {
		i := slices.IndexFunc(out, func(s stream) bool { return s.origin == p.Origin && s.target == p.Target })
		if i < 0 {
			out = append(out, stream{origin: p.Origin, target: p.Target})
			i = len(out) - 1
		}
		out[i].paths = append(out[i].paths, p)
	}
	return out
}

// String names the stream for people.
func (s stream) String() string {
	switch {
	case s.target != "":
		return s.target
	case s.origin != "":
		return s.origin
	}
	return "default"
}

// request is the SubscribeRequest of the stream. Counters are sampled, since what ON_CHANGE means for them differs from
// vendor to vendor (openconfig/reference issue 219); state comes on change, with a heartbeat.
func (s stream) request(encoding gpb.Encoding) (*gpb.SubscribeRequest, error) {
	list := &gpb.SubscriptionList{
		Prefix:   &gpb.Path{Origin: s.origin, Target: s.target},
		Mode:     gpb.SubscriptionList_STREAM,
		Encoding: encoding,
	}
	for i, p := range s.paths {
		if slices.ContainsFunc(s.paths[:i], func(q pack.Path) bool { return q.Path == p.Path }) {
			continue
		}
		path, err := parsePath(wildcards(p.Path))
		if err != nil {
			return nil, err
		}
		sub := &gpb.Subscription{Path: path, Mode: gpb.SubscriptionMode_SAMPLE, SampleInterval: uint64(p.Every)}
		if p.Change {
			sub = &gpb.Subscription{Path: path, Mode: gpb.SubscriptionMode_ON_CHANGE, HeartbeatInterval: uint64(p.Every)}
		}
		list.Subscription = append(list.Subscription, sub)
	}
	return &gpb.SubscribeRequest{Request: &gpb.SubscribeRequest_Subscribe{Subscribe: list}}, nil
}

// wildcards turns what a path captures into what it subscribes to.
func wildcards(path string) string {
	return strings.NewReplacer("{port}", "*", "{priority}", "*", "{queue}", "*", "{group}", "*").Replace(path)
}

// parsePath reads a path as people write it.
func parsePath(text string) (*gpb.Path, error) {
	path, err := ygot.StringToStructuredPath(text)
	if err != nil {
		return nil, fmt.Errorf("path %q: %w", text, err)
	}
	return path, nil
}

// check refuses a path of an OpenConfig model that the model does not have: a device would answer it with silence.
func check(p pack.Path, leaf *gpb.Path) error {
	if p.Origin != openconfig || p.Model != "" || oc.HasLeaf(leaf) {
		return nil
	}
	text, err := ygot.PathToSchemaPath(leaf)
	if err != nil {
		return err
	}
	return fmt.Errorf("path %s is not in the OpenConfig models", text)
}

// slowest is the longest interval of the stream.
func (s stream) slowest() time.Duration {
	var d time.Duration
	for _, p := range s.paths {
		d = max(d, p.Every)
	}
	return d
}

// held says whether everything of the stream is sent on change only, so that silence is no sign of trouble.
func (s stream) held() bool {
	return !slices.ContainsFunc(s.paths, func(p pack.Path) bool { return !p.Change })
}
