package sonic

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/plan"
)

// table is one table of CONFIG_DB as it is read: fields by key.
type table map[string]map[string]string

// UnmarshalJSON reads a table of strings, as CONFIG_DB is. In files that people made values are sometimes numbers or switches:
// they are read as the device would store them. Lists are passed over: none of them is looked at.
func (t *table) UnmarshalJSON(body []byte) error {
	var strict map[string]map[string]string
	if err := json.Unmarshal(body, &strict); err == nil {
		*t = strict
		return nil
	}
	var loose map[string]map[string]json.RawMessage
	if err := json.Unmarshal(body, &loose); err != nil {
		return err
	}
	*t = make(table, len(loose))
	for key, fields := range loose {
		row := make(map[string]string, len(fields))
		for field, raw := range fields {
			var text string
			switch raw[0] {
			case '"':
				if err := json.Unmarshal(raw, &text); err != nil {
					return err
				}
				row[field] = text
			case '[':
			case '{':
				return fmt.Errorf("%s|%s is an object, and rows hold values", key, field)
			default:
				row[field] = string(raw)
			}
		}
		(*t)[key] = row
	}
	return nil
}

// parse reads the device's answer.
func parse(answers []plan.Answer) (*database, error) {
	i := slices.IndexFunc(answers, func(a plan.Answer) bool { return a.Name == document && !a.Missing })
	if i < 0 {
		return nil, errors.New("the device gave none")
	}
	db := &database{}
	if err := json.Unmarshal(answers[i].Body, db); err != nil {
		return nil, fmt.Errorf("it is not whole: %w", err)
	}
	if len(db.Port) == 0 {
		if len(db.Metadata) > 0 {
			return nil, errors.New("it has no table PORT, so it is not that of a switch with ports: a switch with several ASICs has one CONFIG_DB for its host " +
				"and one for each ASIC (asic0, asic1), which weir does not manage yet; take the device out of the inventory")
		}
		return nil, errors.New("it is not whole: it has no table PORT")
	}
	return db, nil
}

// database are the tables that weir looks at. Every other table is passed over.
type database struct {
	DSCP         table `json:"DSCP_TO_TC_MAP"`
	PCP          table `json:"DOT1P_TO_TC_MAP"`
	QueueMap     table `json:"TC_TO_QUEUE_MAP"`
	GroupMap     table `json:"TC_TO_PRIORITY_GROUP_MAP"`
	PFCQueue     table `json:"MAP_PFC_PRIORITY_TO_QUEUE"`
	PFCGroup     table `json:"PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"`
	PortMap      table `json:"PORT_QOS_MAP"`
	Scheduler    table `json:"SCHEDULER"`
	WRED         table `json:"WRED_PROFILE"`
	Queue        table `json:"QUEUE"`
	Watchdog     table `json:"PFC_WD"`
	Cable        table `json:"CABLE_LENGTH"`
	Port         table `json:"PORT"`
	Group        table `json:"BUFFER_PG"`
	Profile      table `json:"BUFFER_PROFILE"`
	Default      table `json:"DEFAULT_LOSSLESS_BUFFER_PARAMETER"`
	Counters     table `json:"FLEX_COUNTER_TABLE"`
	Metadata     table `json:"DEVICE_METADATA"`
	Versions     table `json:"VERSIONS"`
	Pool         table `json:"BUFFER_POOL"`
	QueueBuffer  table `json:"BUFFER_QUEUE"`
	PortChannel  table `json:"PORTCHANNEL"`
	ChannelPorts table `json:"PORTCHANNEL_MEMBER"`
	Interface    table `json:"INTERFACE"`
	Tunnel       table `json:"TUNNEL"`
}

// sorted are the tables with leaves, in the order of their names.
func (d *database) sorted() []struct {
	name string
	rows table
} {
	return []struct {
		name string
		rows table
	}{
		{tableGroup, d.Group}, {tablePool, d.Pool}, {tableProfile, d.Profile}, {tableQueueBuffer, d.QueueBuffer},
		{tableCable, d.Cable}, {tableDefault, d.Default}, {tablePCP, d.PCP}, {tableDSCP, d.DSCP}, {tableCounters, d.Counters},
		{tablePFCQueue, d.PFCQueue}, {tableWatchdog, d.Watchdog}, {tablePFCGroup, d.PFCGroup}, {tablePort, d.Port},
		{tableLAG, d.PortChannel}, {tablePortMap, d.PortMap}, {tableQueue, d.Queue},
		{tableScheduler, d.Scheduler}, {tableGroupMap, d.GroupMap}, {tableQueueMap, d.QueueMap},
		{tableTunnel, d.Tunnel}, {tableWRED, d.WRED},
	}
}

// Facts that a state has, where the device says them. A device that names no buffer model has the traditional one; where nothing
// is said of the device at all, as in a document that weir printed, the model is not known.
const (
	FactSKU         = "hwsku"
	FactBufferModel = "buffer_model" // dynamic or traditional
	FactSwitchType  = "switch_type"  // voq and others; empty: an ordinary switch
	FactRelease     = "release"      // the version of the database's schema: version_202511_01
	FactASIC        = "asic"         // as the updater calls it: spc3; empty: the updater does not know the hwsku
	factRouted      = "routed"       // ports with a row of their own in INTERFACE, joined by commas
	factMember      = "member/"      // and a port: the port channel that it is in

	dynamic     = "dynamic"
	traditional = "traditional"
)

func (d *database) facts() map[string]string {
	local := d.Metadata["localhost"]
	facts := map[string]string{}
	if len(local) > 0 {
		facts[FactBufferModel] = cmp.Or(local["buffer_model"], traditional)
	}
	for fact, value := range map[string]string{
		FactSKU: local["hwsku"], FactSwitchType: local["switch_type"], FactRelease: d.Versions["DATABASE"]["VERSION"],
		FactASIC: updaterASIC(local["hwsku"]),
	} {
		if value != "" {
			facts[fact] = value
		}
	}
	var routed []string
	for key := range d.Interface {
		if !strings.Contains(key, "|") {
			routed = append(routed, key)
		}
	}
	if len(routed) > 0 {
		slices.SortFunc(routed, addr.Natural)
		facts[factRouted] = strings.Join(routed, ",")
	}
	return facts
}

// lossless says whether a profile of a group has headroom: its own, or what the dynamic model computes for it.
func (d *database) lossless(profile string) bool {
	headroom, err := strconv.ParseUint(d.Profile[profile]["xoff"], 10, 64)
	computed := d.Metadata["localhost"]["buffer_model"] == dynamic && d.Profile[profile]["headroom_type"] == dynamic
	return err == nil && headroom > 0 || computed
}
