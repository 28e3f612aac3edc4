package sonic

import (
	"context"
	"encoding/json"
	"fmt"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/weirfabric/weir/drivers/sim"
)

// Get answers from the native tables, from the databases named by prefix.target, and from nothing else.
func (s *server) Get(ctx context.Context, req *gpb.GetRequest) (*gpb.GetResponse, error) {
	switch s.hw.Fault(sim.Get).Kind {
	case sim.Reject:
		return nil, status.Error(codes.Unavailable, "Redis is not available")
	case sim.Hang, sim.Reboot:
		<-ctx.Done()
		return nil, ctx.Err()
	case sim.Drop, sim.DropBefore, sim.Partial:
		return nil, s.drop(ctx)
	}
	if req.GetType() != gpb.GetRequest_ALL {
		return nil, status.Errorf(codes.Unimplemented, "unsupported request type: %s", req.GetType())
	}
	switch e := req.GetEncoding(); e {
	case gpb.Encoding_JSON_IETF:
	case gpb.Encoding_JSON, gpb.Encoding_PROTO:
		return nil, status.Errorf(codes.NotFound, "Unknown encoding %s", e)
	default:
		return nil, status.Errorf(codes.Unimplemented, "unsupported encoding: %s", e)
	}
	resp := &gpb.GetResponse{}
	for _, path := range req.GetPath() {
		value, err := s.read(req.GetPrefix(), path, false)
		if err != nil {
			return nil, err
		}
		if value == nil {
			continue // a table that is not there is no error, and no answer
		}
		resp.Notification = append(resp.Notification, &gpb.Notification{
			Timestamp: s.hw.Now().UnixNano(),
			Prefix:    req.GetPrefix(),
			Update:    []*gpb.Update{{Path: path, Val: value}},
		})
	}
	return resp, nil
}

// read is the value at a path; nil where a whole table is absent. Native paths are answered from the checkpoint while an
// update runs, unless live is set; the older form with a target always is live.
func (s *server) read(prefix, path *gpb.Path, live bool) (*gpb.TypedValue, error) {
	origin, err := originOf(prefix, []*gpb.Path{path})
	if err != nil {
		return nil, err
	}
	names := elements(prefix, path)
	switch target := prefix.GetTarget(); {
	case origin == native:
		return s.readNative(names, live)
	case origin != "" && origin != "openconfig":
		return nil, status.Errorf(codes.NotFound, "unsupported origin %s", origin)
	case len(names) > 0 && (origin == "openconfig" || target == ""):
		return s.readOpenConfig(path)
	case target == "CONFIG_DB":
		return s.readConfig(names, true)
	case target == "COUNTERS_DB":
		return s.readCounters(names)
	case target == "APPL_DB":
		return s.readApplication(names)
	case target == "STATE_DB":
		return s.readState(names)
	}
	return nil, status.Error(codes.Unimplemented, "Empty target data not supported")
}

// readNative is a path of origin sonic-db: no names are translated in it.
func (s *server) readNative(names []string, live bool) (*gpb.TypedValue, error) {
	if len(names) > 0 && names[0] == "COUNTERS_DB" {
		path, err := tablePath(names, "COUNTERS_DB")
		if err != nil {
			return nil, err
		}
		return s.rawCounters(path)
	}
	if len(names) > 0 && names[0] == "STATE_DB" {
		path, err := tablePath(names, "STATE_DB")
		if err != nil {
			return nil, err
		}
		return s.readState(path)
	}
	path, err := tablePath(names, "CONFIG_DB")
	if err != nil {
		return nil, err
	}
	return s.readConfig(path, live)
}

func (s *server) readConfig(path []string, live bool) (*gpb.TypedValue, error) {
	s.mu.Lock()
	db := s.toldLocked()
	if s.answers != nil && !live {
		db = s.answers
	}
	value := db.at(path)
	s.mu.Unlock()
	switch {
	case value == nil && len(path) == 1:
		return nil, status.Errorf(codes.NotFound, "Failed to find CONFIG_DB %s", path[0])
	case value == nil && len(path) == 2 && db[path[0]] != nil:
		return jsonValue(map[string]any{}), nil // a row that is not there
	case value == nil:
		return nil, status.Errorf(codes.NotFound, "No valid entry found for path %v", path)
	}
	return jsonValue(value), nil
}

// jsonValue is a value as JSON.
func jsonValue(v any) *gpb.TypedValue {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("encode %v: %v", v, err)) // only strings, and maps and lists of them, come here
	}
	return &gpb.TypedValue{Value: &gpb.TypedValue_JsonIetfVal{JsonIetfVal: text}}
}
