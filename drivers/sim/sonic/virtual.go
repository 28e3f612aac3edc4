package sonic

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// The virtual paths of COUNTERS_DB (sonic-gnmi, virtual_db.go). An answer is one JSON object. Asked for all ports it is
// keyed by the vendor's alias, not SONiC's name; asked for one, by the name that was asked for. Values are strings.

// plain is a value that stands in an answer as a string and not as JSON.
type plain string

// readCounters answers a path below prefix.target COUNTERS_DB.
func (s *server) readCounters(path []string) (*gpb.TypedValue, error) {
	value, err := s.counterValue(path)
	if text, is := value.(plain); is {
		return &gpb.TypedValue{Value: &gpb.TypedValue_StringVal{StringVal: string(text)}}, nil
	}
	return encoded(value, err)
}

// counterValue is what an answer to a path below COUNTERS_DB says, before it is encoded.
func (s *server) counterValue(path []string) (any, error) {
	db, _ := s.snapshot()
	if len(path) == 0 {
		return nil, status.Error(codes.NotFound, "Can not read all tables in COUNTERS_DB")
	}
	switch path[0] {
	case "INTERFACE_COUNTERS":
		all := map[string]any{}
		for _, port := range s.names.ports {
			all[port] = s.portRow(db, port)
		}
		return all, nil
	case "COUNTERS", "PERIODIC_WATERMARKS", "RATES":
		if len(path) > 1 && len(path) < 4 {
			return s.virtual(db, path)
		}
		return nil, notFound(path)
	}
	if m := s.nameMap(path[0]); m != nil {
		return oneOfMap(m, path)
	}
	return nil, notFound(path)
}

// notAPort is what the server says of a port that it does not know.
const notAPort = "not a valid SONiC interface"

func notFound(path []string) error {
	return status.Errorf(codes.NotFound, "No valid entry found on COUNTERS_DB with key %v", path)
}

// oneOfMap is a whole name map, or one entry.
func oneOfMap(m map[string]string, path []string) (any, error) {
	if len(path) == 1 {
		return m, nil
	}
	if v, ok := m[path[1]]; ok && len(path) == 2 {
		return v, nil
	}
	return nil, notFound(path)
}

// virtual answers TABLE/PORT and TABLE/PORT/WHAT.
func (s *server) virtual(db database, path []string) (any, error) {
	if row := s.oidRow(db, path[1]); row != nil && path[0] == "COUNTERS" {
		return oneOfMap(row, path[1:])
	}
	what := ""
	if len(path) == 3 {
		what = path[2]
	}
	if isWild(path[1]) {
		all := map[string]any{}
		for _, port := range s.names.ports {
			s.collect(db, all, path[0], port, s.names.aliases[port], what)
		}
		if len(all) == 0 {
			return nil, notFound(path)
		}
		return all, nil
	}
	port, ok := s.names.known(path[1])
	if !ok {
		return nil, status.Errorf(codes.NotFound, "%s %s. Vendor alias is %s", port, notAPort, path[1])
	}
	one := map[string]any{}
	s.collect(db, one, path[0], port, path[1], what)
	row, isPort := one[path[1]].(map[string]string)
	switch {
	case len(one) == 0:
		return nil, notFound(path)
	case isPort && what == "":
		return row, nil
	case isPort:
		return plain(row[what]), nil
	}
	return one, nil
}

// collect adds what a port has of a table, under the name that the answer calls the port by.
func (s *server) collect(db database, into map[string]any, table, port, as, what string) {
	add := func(key string, row map[string]string) {
		if len(row) > 0 {
			into[key] = row
		}
	}
	switch table + " " + what {
	case "COUNTERS Queues":
		for q := range 8 {
			add(as+":"+strconv.Itoa(q), s.queueRow(db, port, q))
			add(as+":"+strconv.Itoa(q)+":periodic", s.periodicQueue(port, q))
		}
	case "COUNTERS Pfcwd":
		for _, q := range losslessQueues(db) {
			add(as+":"+strconv.Itoa(q), s.queueRow(db, port, q))
		}
	case "PERIODIC_WATERMARKS PriorityGroups":
		for g := range 8 {
			add(as+":"+strconv.Itoa(g), s.periodicGroup(port, g))
		}
	case "PERIODIC_WATERMARKS Queues":
		for q := range 8 {
			add(as+":"+strconv.Itoa(q), s.periodicQueue(port, q))
		}
	case "RATES ": // the lab works none out
		add(as, map[string]string{"RX_BPS": "0", "RX_PPS": "0", "TX_BPS": "0", "TX_PPS": "0"})
	default:
		row := s.portRow(db, port)
		if table != "COUNTERS" {
			return
		}
		if what == "" {
			add(as, row)
		} else if v, ok := row[what]; ok {
			add(as, map[string]string{what: v})
		}
	}
}

// rawCounters answers below sonic-db:/COUNTERS_DB/localhost, where ports have no names: their rows stand under OIDs, and
// asking by name gives an empty object.
func (s *server) rawCounters(path []string) (*gpb.TypedValue, error) {
	db, _ := s.snapshot()
	switch {
	case len(path) == 0:
		return nil, notFound(path)
	case path[0] != "COUNTERS":
		if m := s.nameMap(path[0]); m != nil {
			return encoded(oneOfMap(m, path))
		}
		return nil, notFound(path)
	case len(path) < 2:
		return jsonValue(map[string]any{}), nil
	}
	row := s.oidRow(db, path[1])
	if row == nil {
		return jsonValue(map[string]any{}), nil
	}
	return encoded(oneOfMap(row, path[1:]))
}

// encoded is a value as JSON, unless there was an error.
func encoded(v any, err error) (*gpb.TypedValue, error) {
	if err != nil {
		return nil, err
	}
	return jsonValue(v), nil
}

// readState answers PORT_TABLE of STATE_DB, the only table of it that the lab has.
func (s *server) readState(path []string) (*gpb.TypedValue, error) {
	tables := database{}
	for _, port := range s.names.ports {
		tables.put("PORT_TABLE", port, map[string]string{"state": "ok", "netdev_oper_status": "up"})
	}
	value := tables.at(path)
	if value == nil || len(path) == 0 {
		return nil, status.Errorf(codes.NotFound, "Failed to find STATE_DB %v", path)
	}
	return jsonValue(value), nil
}

// readApplication answers PORT_TABLE of APPL_DB, the only table of it that the lab has.
func (s *server) readApplication(path []string) (*gpb.TypedValue, error) {
	if len(path) == 0 || path[0] != "PORT_TABLE" || len(path) > 3 {
		return nil, status.Errorf(codes.NotFound, "No valid entry found on APPL_DB with key %v", path)
	}
	up := make([]bool, len(s.names.ports))
	for i, port := range s.names.ports {
		up[i] = s.hw.Counters(port).Up
	}
	db, changed := s.snapshot()
	s.portsMu.Lock()
	last := s.portTable
	s.portsMu.Unlock()
	if last.changed != changed || !slices.Equal(last.up, up) {
		last = portTable{changed, up, s.applicationPorts(db, up), map[string]*gpb.TypedValue{}}
	}
	at := strings.Join(path, "|")
	if last.values[at] == nil {
		value := last.tables.at(path)
		if value == nil {
			return nil, status.Errorf(codes.NotFound, "No valid entry found on APPL_DB with key %v", path)
		}
		last.values = maps.Clone(last.values)
		last.values[at] = jsonValue(value)
		s.portsMu.Lock()
		s.portTable = last
		s.portsMu.Unlock()
	}
	return last.values[at], nil
}

// portTable is PORT_TABLE as it last was: who subscribes to it looks several times a second, and it hardly ever changes.
type portTable struct {
	changed <-chan struct{} // of the configuration that it is of
	up      []bool
	tables  database
	values  map[string]*gpb.TypedValue // by path; replaced, never written to
}

// applicationPorts is PORT_TABLE for a configuration and the state of the links.
func (s *server) applicationPorts(db database, up []bool) database {
	tables := database{}
	for i, port := range s.names.ports {
		row := maps.Clone(db["PORT"][port])
		if row == nil {
			continue
		}
		row["oper_status"] = map[bool]string{true: "up", false: "down"}[up[i]]
		tables.put("PORT_TABLE", port, row)
	}
	return tables
}
