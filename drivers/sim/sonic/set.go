package sonic

import (
	"context"
	"slices"
	"strings"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/weirfabric/weir/drivers/sim"
)

// patchProcess is the updater as the gNMI server starts it.
const patchProcess = configProcess + "apply-patch -f CONFIGDB /tmp/gcu.patch"

// Set makes a JSON patch of the request, deletes first, and has the updater apply it: all of it in one go, slowly, and
// saved at once. Whoever stops waiting does not stop the updater.
func (s *server) Set(ctx context.Context, req *gpb.SetRequest) (*gpb.SetResponse, error) {
	fault := s.hw.Fault(sim.Set)
	switch fault.Kind {
	case sim.Reject:
		return nil, status.Error(codes.Unknown, notThere)
	case sim.DropBefore:
		return nil, s.drop(ctx)
	}
	origin, err := originOf(req.GetPrefix(), pathsOf(req))
	if err != nil {
		return nil, err
	}
	if err := s.awaitUpdater(ctx, queueTimeout); err != nil {
		return nil, status.Error(codes.Unknown, err.Error())
	}
	have, _ := s.snapshot()
	want, err := s.wanted(have, origin, req)
	if err == nil {
		err = refusal(have, want)
	}
	if err != nil {
		_ = s.hw.Sleep(ctx, updateTime) // the refusal stands, whether or not somebody waits for it
		<-s.turn
		return nil, refused(err)
	}
	done := s.update(task{patchProcess, want, fault, true})
	if err := s.await(ctx, done, fault.Kind); err != nil {
		return nil, err
	}
	if fault.Kind == sim.Drop {
		return nil, s.drop(ctx)
	}
	return setResponse(req), nil
}

// refused gives an error of the updater its code, which is Unknown for all of them.
func refused(err error) error {
	if _, ok := status.FromError(err); ok {
		return err
	}
	if strings.Contains(err.Error(), "Modification of ") { // of what the updater says the server passes the first line on
		err = errNoPath
	}
	return status.Error(codes.Unknown, err.Error())
}

// await waits for the updater as long as the client does, and no longer than the server.
func (s *server) await(ctx context.Context, done <-chan error, fault sim.FaultKind) error {
	if fault == sim.Hang || fault == sim.Reboot {
		<-ctx.Done()
		return status.FromContextError(ctx.Err()).Err()
	}
	limit, cancel := context.WithCancel(ctx)
	late := make(chan error, 1)
	go func() { late <- s.hw.Sleep(limit, serverTimeout) }()
	defer func() {
		cancel()
		<-late
	}()
	for {
		select {
		case err := <-done:
			if err != nil {
				return refused(err)
			}
			return nil
		case err := <-late:
			late <- nil // for the one who waits for it at the end
			if ctx.Err() != nil {
				return status.FromContextError(ctx.Err()).Err()
			}
			if err != nil {
				return status.Error(codes.Unavailable, err.Error())
			}
			return status.Error(codes.Unknown, "Timeout 600")
		}
	}
}

func pathsOf(req *gpb.SetRequest) []*gpb.Path {
	paths := slices.Clone(req.GetDelete())
	for _, u := range slices.Concat(req.GetReplace(), req.GetUpdate()) {
		paths = append(paths, u.GetPath())
	}
	return paths
}

// wanted is the configuration that a request asks for.
func (s *server) wanted(have database, origin string, req *gpb.SetRequest) (database, error) {
	if origin != native {
		return openConfigSet(have, req)
	}
	want := have.clone()
	for _, p := range req.GetDelete() {
		path, err := tablePath(elements(req.GetPrefix(), p), "CONFIG_DB")
		if err != nil {
			return nil, err
		}
		if want.at(path) == nil {
			continue
		}
		if err := want.patch(operation{"remove", path, nil}); err != nil {
			return nil, err
		}
	}
	for _, u := range req.GetReplace() {
		if err := want.change(req, u, "replace"); err != nil {
			return nil, err
		}
	}
	for _, u := range req.GetUpdate() {
		if err := want.change(req, u, "add"); err != nil {
			return nil, err
		}
	}
	return want, nil
}

// change applies one update or replace. What is not in JSON_IETF cannot be parsed.
func (db database) change(req *gpb.SetRequest, u *gpb.Update, kind string) error {
	path, err := tablePath(elements(req.GetPrefix(), u.GetPath()), "CONFIG_DB")
	if err != nil {
		return err
	}
	value := u.GetVal().GetJsonIetfVal()
	if len(value) == 0 {
		return status.Error(codes.Unknown, "Fail to parse ")
	}
	if kind == "replace" && len(path) == 0 {
		return db.replaceAll(value)
	}
	return db.patch(operation{kind, path, value})
}

// replaceAll makes the database what the JSON says.
func (db database) replaceAll(value []byte) error {
	all, err := parseDatabase(value)
	if err != nil {
		return status.Errorf(codes.Unknown, "%s: %v", notAllowed, err)
	}
	clear(db)
	for table, rows := range all {
		db[table] = rows
	}
	return nil
}

// setResponse names what was done, and has no timestamp.
func setResponse(req *gpb.SetRequest) *gpb.SetResponse {
	resp := &gpb.SetResponse{Prefix: req.GetPrefix()}
	for _, p := range req.GetDelete() {
		resp.Response = append(resp.Response, &gpb.UpdateResult{Path: p, Op: gpb.UpdateResult_DELETE})
	}
	for _, u := range req.GetReplace() {
		resp.Response = append(resp.Response, &gpb.UpdateResult{Path: u.GetPath(), Op: gpb.UpdateResult_REPLACE})
	}
	for _, u := range req.GetUpdate() {
		resp.Response = append(resp.Response, &gpb.UpdateResult{Path: u.GetPath(), Op: gpb.UpdateResult_UPDATE})
	}
	return resp
}
