package sonic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/proof/deadlock"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/render"
)

// The maps of priority bumping, and the table that only they use.
const (
	tableRewrite = "TC_TO_DSCP_MAP"
	bumpMap      = "WEIR_BUMP"      // of ports towards the top: how they classify, and what they write into packets
	bumpUp       = "WEIR_BUMP_UP"   // queues of the ports towards the top
	bumpDown     = "WEIR_BUMP_DOWN" // queues of the others
	rewriteFile  = "bump.json"
)

var _ render.Rewriter = Language{}

// The traffic class and the DSCP of the network's own protocols.
const (
	control     = 7
	controlDSCP = 48
)

// maxTC is the last traffic class that SONiC's models know (sonic-types.yang, tc_type).
const maxTC = 15

// Rewrite says priority bumping as rows of CONFIG_DB for "config load". A packet that comes in from above gets a traffic class
// of its own for each lane, by the port's DSCP_TO_TC_MAP; TC_TO_PRIORITY_GROUP_MAP keeps it in the group of the priority that
// it came in, so that PAUSE goes where it is heeded; the port that it leaves over decides by its TC_TO_QUEUE_MAP whether it stays
// in its lane (down) or goes on in the next (up), and towards the top writes the DSCP of the next lane by TC_TO_DSCP_MAP. It is
// the manner of SONiC's remapping for tunnels of dual ToRs (sonic-net/SONiC doc/qos/tunnel_dscp_remapping.md), by port.
func (Language) Rewrite(sw *fabric.Switch, r render.Rewrite) ([]render.File, diag.List) {
	w := &rewriter{sw: sw, rule: r, rows: map[string]map[string]map[string]string{}}
	if !w.possible() {
		return nil, w.findings
	}
	w.maps()
	w.ports()
	w.says()
	body, err := json.MarshalIndent(w.rows, "", "  ")
	if err != nil {
		w.findings.Errorf(check, sw.Address(), nil, "the rules cannot be written: %v", err)
		return nil, w.findings
	}
	return []render.File{{Name: rewriteFile, Body: append(bytes.TrimSpace(body), '\n')}}, w.findings
}

// rewriter makes the rows of one switch.
type rewriter struct {
	sw       *fabric.Switch
	rule     render.Rewrite
	rows     map[string]map[string]map[string]string // by table, key and field
	spare    []int                                   // the traffic class of each lane's packets that came down, chain by chain
	findings diag.List
}

// lane is one lane of a chain and what comes after it.
type lane struct {
	deadlock.Lane
	next  deadlock.Lane
	spare int
}

func (w *rewriter) lanes() []lane {
	var out []lane
	for _, chain := range w.rule.Chains {
		for i, l := range chain {
			next := w.rule.Off
			if i+1 < len(chain) {
				next = chain[i+1]
			}
			out = append(out, lane{l, next, w.spare[len(out)]})
		}
	}
	return out
}

// possible finds the spare traffic classes, and says what stands in the way.
func (w *rewriter) possible() bool {
	used := map[int]bool{}
	count := 0
	for _, chain := range w.rule.Chains {
		for _, l := range chain {
			used[int(l.TC)] = true
			count++
		}
	}
	for _, tc := range w.sw.Maps.DSCPToTC {
		used[int(tc)] = true
	}
	for _, tc := range w.sw.Maps.PCPToTC {
		used[int(tc)] = true
	}
	used[control] = true
	for tc := 1; tc <= maxTC && len(w.spare) < count; tc++ {
		if !used[tc] {
			w.spare = append(w.spare, tc)
		}
	}
	if len(w.spare) < count {
		w.findings.Errorf(check, w.sw.Address(), nil, "the rules need %d traffic classes that no class uses, and %d are left", count, len(w.spare))
	}
	for _, p := range w.sw.Ports {
		if slices.Contains(w.rule.In, p.Name) && p.Trust != qos.TrustDSCP {
			w.findings.Errorf(check, addr.Port(w.sw.Name, p.Name), origin(p).Trust, "the rules go by DSCP, and the port trusts %s", p.Trust)
		}
	}
	return !w.findings.HasErrors()
}

// maps writes the five maps. Each says all that the switch's own map of its kind says, and the spare traffic classes.
func (w *rewriter) maps() {
	m := &w.sw.Maps
	for d, tc := range m.DSCPToTC {
		w.set(tableDSCP, bumpMap, numbers[d], int(tc))
	}
	for tc := range m.TCToQueue {
		w.set(tableGroupMap, bumpMap, numbers[tc], int(m.TCToGroup[tc]))
		w.set(tableQueueMap, bumpUp, numbers[tc], int(m.TCToQueue[tc]))
		w.set(tableQueueMap, bumpDown, numbers[tc], int(m.TCToQueue[tc]))
		w.set(tableRewrite, bumpMap, numbers[tc], w.dscp(tc))
	}
	for _, l := range w.lanes() {
		tc := numbers[l.spare]
		for _, d := range l.DSCP {
			w.set(tableDSCP, bumpMap, numbers[d], l.spare)
		}
		w.set(tableGroupMap, bumpMap, tc, int(l.Group))
		w.set(tableQueueMap, bumpUp, tc, int(l.next.Queue))
		w.set(tableQueueMap, bumpDown, tc, int(l.Queue))
		w.set(tableRewrite, bumpMap, tc, int(l.next.DSCP[0]))
	}
}

// dscp is what packets of a traffic class carry. That of the network's own protocols, where no class is in it, is the one of
// SONiC's own remapping (qos_config.j2, AZURE_TUNNEL).
func (w *rewriter) dscp(tc int) int {
	if tc == control && !slices.Contains(w.sw.Maps.DSCPToTC[:], control) {
		return controlDSCP
	}
	return int(w.sw.Maps.TCToDSCP[tc])
}

// ports writes the whole rows of PORT_QOS_MAP: SONiC takes a field that is not there as off.
func (w *rewriter) ports() {
	doc, _ := Language{}.Write(w.sw)
	for _, leaf := range doc {
		if leaf.Path[0] == tablePortMap && leaf.Path[1] != everywhere {
			w.text(tablePortMap, leaf.Path[1], leaf.Path[2], leaf.Value)
		}
	}
	for port := range w.rows[tablePortMap] {
		if !slices.Contains(w.rule.In, port) {
			w.text(tablePortMap, port, "tc_to_queue_map", bumpDown)
			continue
		}
		w.text(tablePortMap, port, "dscp_to_tc_map", bumpMap)
		w.text(tablePortMap, port, "tc_to_pg_map", bumpMap)
		w.text(tablePortMap, port, "tc_to_queue_map", bumpUp)
		w.text(tablePortMap, port, "tc_to_dscp_map", bumpMap)
	}
}

// says is what must be looked at before the rules are loaded.
func (w *rewriter) says() {
	var spare, several []string
	for _, l := range w.lanes() {
		spare = append(spare, fmt.Sprintf("%d for class %s that came down", l.spare, l.Class))
	}
	var count [8]int
	for _, tc := range w.sw.Maps.DSCPToTC {
		count[tc&7]++
	}
	for tc, n := range count {
		if n > 1 {
			several = append(several, fmt.Sprintf("the %d of traffic class %d become %d", n, tc, w.dscp(tc)))
		}
	}
	detail := "Traffic classes: " + strings.Join(spare, ", ") +
		". Not verified on hardware: that the chip maps to a queue by the map of the port that a packet leaves over, and that it knows traffic classes above 7 where they are used. " +
		"SONiC switches DSCP rewriting on where a port has a TC_TO_DSCP_MAP (sonic-net/sonic-swss pull request 3517). Try it on one switch, and look at the queues that packets leave by."
	if len(several) > 0 {
		detail += " Ports with the map rewrite every packet, so that several DSCPs of one traffic class become one: " + strings.Join(several, ", ") + "."
	}
	w.findings.Add(diag.Diagnostic{Severity: diag.Note, Check: check, Addr: w.sw.Address(), Summary: "what the rules rest on", Detail: detail})
}

func (w *rewriter) set(table, key, field string, value int) {
	w.text(table, key, field, numbers[value])
}

func (w *rewriter) text(table, key, field, value string) {
	if w.rows[table] == nil {
		w.rows[table] = map[string]map[string]string{}
	}
	if w.rows[table][key] == nil {
		w.rows[table][key] = map[string]string{}
	}
	w.rows[table][key][field] = value
}
