package sonic

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weirfabric/weir/intent/lossless"
	"github.com/weirfabric/weir/intent/qos"
)

// buffermgrd writes CONFIG_DB by itself. In the traditional model it makes a profile and a BUFFER_PG row for every port
// whose speed, cable length and pfc_enable it knows (sonic-swss, cfgmgr/buffermgr.cpp, doSpeedUpdateTask): a profile of that
// name that exists is kept as it is, and a length that pg_profile_lookup.ini does not have, 0m among them, leaves the port
// without headroom.

// lookedUpLengths are the cable lengths in metres of the lab's pg_profile_lookup.ini.
var lookedUpLengths = []int{1, 2, 3, 5, 10, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200, 300, 500, 1000, 2000}

// pgProfile is one row of pg_profile_lookup.ini, as the published table of the MSN4700 was worked out (all its 21 rows come
// out exactly); 800 Gb/s as eight lanes of the same chip.
func pgProfile(mbps, metres int64) (lossless.Result, bool) {
	if !slices.Contains(lookedUpLengths, int(metres)) {
		return lossless.Result{}, false
	}
	return lossless.Cells{
		Speed: qos.Rate(mbps) * 1e6, Cable: qos.Metres(metres), PortMTU: 9216, LosslessMTU: 1024, Small: 100,
		EightLanes: mbps >= 400000, Cell: 144, PipelineLatency: 19 * 1024, MACPHYDelay: 0.8 * 1024, PeerResponse: 3.8 * 1024,
		Exact: true, Older: true,
	}.Headroom(), true
}

// buffermgrd makes its rows in now for every port whose inputs are not what they were in before.
func buffermgrd(before, now database) {
	if now["DEVICE_METADATA"]["localhost"]["buffer_model"] == "dynamic" {
		return
	}
	for port := range now["PORT"] {
		if inputs := bufferInputs(now, port); inputs != bufferInputs(before, port) {
			derive(now, port, inputs)
		}
	}
}

// bufferInput is what a port's lossless buffers follow from.
type bufferInput struct{ speed, cable, priorities string }

func bufferInputs(db database, port string) bufferInput {
	return bufferInput{db["PORT"][port]["speed"], db["CABLE_LENGTH"]["AZURE"][port], db["PORT_QOS_MAP"][port]["pfc_enable"]}
}

// derive makes the rows of one port.
func derive(db database, port string, in bufferInput) {
	for key, row := range db["BUFFER_PG"] {
		if name, _, _ := strings.Cut(key, "|"); name == port && isDerived(row["profile"]) {
			db.remove("BUFFER_PG", key)
		}
	}
	mbps, err := strconv.ParseInt(in.speed, 10, 64)
	metres, bad := strconv.ParseInt(strings.TrimSuffix(in.cable, "m"), 10, 64)
	if err != nil || bad != nil || in.priorities == "" {
		return
	}
	r, found := pgProfile(mbps, metres)
	if !found {
		return
	}
	profile := fmt.Sprintf("pg_lossless_%d_%dm_profile", mbps, metres)
	if _, exists := db["BUFFER_PROFILE"][profile]; !exists {
		db.put("BUFFER_PROFILE", profile, map[string]string{
			"pool": "ingress_lossless_pool", "xon": fmt.Sprint(int64(r.XON)), "xoff": fmt.Sprint(int64(r.Headroom)),
			"size": fmt.Sprint(int64(r.Reserved)), "dynamic_th": "0",
		})
	}
	for _, groups := range ranges(parsePriorities(in.priorities)) {
		db.put("BUFFER_PG", port+"|"+groups, map[string]string{"profile": profile})
	}
}

// isDerived says whether a profile has a name that buffermgrd gives.
func isDerived(profile string) bool {
	return strings.HasPrefix(profile, "pg_lossless_") && strings.HasSuffix(profile, "_profile")
}

// ranges writes a set as runs of neighbours: 3,4 is 3-4.
func ranges(s qos.PrioritySet) []string {
	var out []string
	for first := 0; first < 8; first++ {
		if !s.Has(qos.Priority(first)) {
			continue
		}
		last := first
		for last < 7 && s.Has(qos.Priority(last+1)) {
			last++
		}
		if out = append(out, strconv.Itoa(first)); last > first {
			out[len(out)-1] += "-" + strconv.Itoa(last)
		}
		first = last
	}
	return out
}

// parsePriorities reads "3,4"; what is no priority is left out.
func parsePriorities(s string) qos.PrioritySet {
	var set qos.PrioritySet
	for word := range strings.SplitSeq(s, ",") {
		if n, err := strconv.Atoi(word); err == nil && n >= 0 && n < 8 {
			set |= qos.Priorities(qos.Priority(n))
		}
	}
	return set
}

// span reads an index or a range of them, 3 or 3-4, as far as 0 to 7.
func span(s string) []int {
	a, b, isRange := strings.Cut(s, "-")
	first, err := strconv.Atoi(a)
	last := first
	if err == nil && isRange {
		last, err = strconv.Atoi(b)
	}
	var all []int
	for i := first; err == nil && i <= last && i < 8; i++ {
		if i >= 0 {
			all = append(all, i)
		}
	}
	return all
}
