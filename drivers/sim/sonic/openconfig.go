package sonic

import (
	"encoding/json"
	"strconv"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Of OpenConfig the lab's switch has one leaf, the MTU of an interface, enough to show how SONiC treats leaves. There is no
// openconfig-qos.

// mtuPort is the port of /interfaces/interface[name=X]/config/mtu; empty for any other path.
func mtuPort(path *gpb.Path) string {
	e := path.GetElem()
	if len(e) != 4 || e[0].GetName() != "interfaces" && e[0].GetName() != "openconfig-interfaces:interfaces" ||
		e[1].GetName() != "interface" || e[2].GetName() != "config" || e[3].GetName() != "mtu" {
		return ""
	}
	return e[1].GetKey()["name"]
}

func (s *server) readOpenConfig(path *gpb.Path) (*gpb.TypedValue, error) {
	db, _ := s.snapshot()
	row, ok := db["PORT"][mtuPort(path)]
	if !ok {
		return nil, status.Error(codes.NotFound, "Resource not found")
	}
	return jsonValue(map[string]any{"openconfig-interfaces:mtu": number(row["mtu"])}), nil
}

// openConfigSet wants an object even for a leaf.
func openConfigSet(have database, req *gpb.SetRequest) (database, error) {
	want := have.clone()
	for _, u := range append(req.GetUpdate(), req.GetReplace()...) {
		port := mtuPort(u.GetPath())
		row, ok := want["PORT"][port]
		if !ok {
			return nil, status.Error(codes.NotFound, "Resource not found")
		}
		var value map[string]int64
		if err := json.Unmarshal(u.GetVal().GetJsonIetfVal(), &value); err != nil {
			return nil, status.Error(codes.Unknown, "parent container config (type *ocbinds.OpenconfigInterfaces_Interfaces_Interface_Config): "+
				"JSON contains unexpected value: got type float64 inside container")
		}
		mtu, ok := value["openconfig-interfaces:mtu"]
		if !ok {
			return nil, status.Error(codes.InvalidArgument, "the payload has no openconfig-interfaces:mtu")
		}
		row["mtu"] = strconv.FormatInt(mtu, 10)
	}
	return want, nil
}
