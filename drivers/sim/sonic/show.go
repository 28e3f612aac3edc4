package sonic

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/weirfabric/weir/drivers/sim"
)

// show is the command of that name. Its tables are as sonic-utilities prints them.
func (d *Device) show(i invocation, args []string) (int, error) {
	asJSON := slices.Contains(args, "--json") || slices.Contains(args, "-j")
	words := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return strings.HasPrefix(a, "-") })
	switch strings.Join(words, " ") {
	case "version":
		return d.showVersion(i.out)
	case "runningconfiguration all":
		_, err := i.out.Write(d.told().print())
		return 0, err
	case "pfc counters":
		return d.showPFC(i.out)
	case "queue counters":
		return d.showQueues(i.out, asJSON)
	case "queue wredcounters":
		return d.showWRED(i.out, asJSON)
	case "pfcwd stats":
		return d.showWatchdog(i.out)
	case "pfcwd config":
		return d.showWatchdogConfig(i.out)
	case "priority-group drop counters":
		return d.showDrops(i.out)
	case "priority-group watermark headroom":
		return d.showHeadroom(i.out, asJSON)
	case "interfaces status":
		return d.showInterfaces(i.out)
	}
	fmt.Fprintf(i.err, "Usage: show [OPTIONS] COMMAND [ARGS]...\nTry \"show -h\" for help.\n\nError: No such command \"%s\".\n", strings.Join(words, " "))
	return 2, nil
}

func (d *Device) showVersion(w io.Writer) (int, error) {
	db, _ := d.snapshot()
	meta := db["DEVICE_METADATA"]["localhost"]
	_, err := fmt.Fprintf(w, "\nSONiC Software Version: %s\nSONiC OS Version: 13\nDistribution: Debian 13.1\nKernel: 6.12.41+deb13-sonic-amd64\n"+
		"Build commit: 0000000\n\nPlatform: %s\nHwSKU: %s\nASIC: vs\nASIC Count: 1\n", version, meta["platform"], meta["hwsku"])
	return 0, err
}

// grid prints a table as Python's tabulate does in its format simple: columns as wide as their widest cell and two more
// than their title, aligned right, with two spaces between.
func grid(w io.Writer, header []string, rows [][]string) error {
	widths := make([]int, len(header))
	for c, title := range header {
		widths[c] = len(title) + 2
	}
	for _, row := range rows {
		for c, cell := range row {
			widths[c] = max(widths[c], len(cell))
		}
	}
	line := func(row []string) string {
		cells := make([]string, len(row))
		for c, cell := range row {
			cells[c] = fmt.Sprintf("%*s", widths[c], cell)
		}
		return strings.TrimRight(strings.Join(cells, "  "), " ")
	}
	rule := make([]string, len(header))
	for c := range rule {
		rule[c] = strings.Repeat("-", widths[c])
	}
	lines := []string{line(header), strings.Join(rule, "  ")}
	for _, row := range rows {
		lines = append(lines, line(row))
	}
	_, err := fmt.Fprintln(w, strings.Join(lines, "\n"))
	return err
}

// ports are the names of the ports in order.
func (d *Device) ports() []string {
	var names []string
	for _, p := range d.hw.Spec().Ports {
		names = append(names, p.Name)
	}
	return names
}

// showPFC is two tables. Numbers have no separators: SONiC puts those into differences to a cleared baseline only.
func (d *Device) showPFC(w io.Writer) (int, error) {
	for _, side := range []struct {
		name string
		of   func(*sim.Counters) [8]uint64
	}{
		{"Rx", func(c *sim.Counters) [8]uint64 { return c.PFCReceived }},
		{"Tx", func(c *sim.Counters) [8]uint64 { return c.PFCSent }},
	} {
		header := []string{"Port " + side.name}
		for p := range 8 {
			header = append(header, "PFC"+strconv.Itoa(p))
		}
		var rows [][]string
		for _, port := range d.ports() {
			row := []string{port}
			c := d.group("PORT", port)
			for p := range 8 {
				if c == nil {
					row = append(row, "N/A")
				} else {
					row = append(row, decimal(side.of(c)[p]))
				}
			}
			rows = append(rows, row)
		}
		if err := grid(w, header, rows); err != nil {
			return 1, err
		}
		fmt.Fprintln(w)
	}
	return 0, nil
}

// queueCells are the cells of one queue under the header of a command; N/A where the device does not count.
type queueCells func(port string, q int) []string

func (d *Device) showQueues(w io.Writer, asJSON bool) (int, error) {
	return d.showPerQueue(w, asJSON, []string{"Counter/pkts", "Counter/bytes", "Drop/pkts", "Drop/bytes"},
		[]string{"totalpacket", "totalbytes", "droppacket", "dropbytes"}, func(port string, q int) []string {
			c := d.group("QUEUE", port)
			if c == nil {
				return []string{"N/A", "N/A", "N/A", "N/A"}
			}
			return []string{decimal(c.QueuePackets[q]), decimal(c.QueueBytes[q]),
				decimal(c.QueueDropped[q]), decimal(c.QueueDropped[q] * meanPacket(c, q))}
		})
}

func (d *Device) showWRED(w io.Writer, asJSON bool) (int, error) {
	return d.showPerQueue(w, asJSON, []string{"WredDrp/pkts", "WredDrp/bytes", "EcnMarked/pkts", "EcnMarked/bytes"},
		[]string{"wreddroppacket", "wreddropbytes", "ecnmarkedpacket", "ecnmarkedbytes"}, func(port string, q int) []string {
			c := d.group("WRED_ECN_QUEUE", port)
			if c == nil {
				return []string{"N/A", "N/A", "N/A", "N/A"}
			}
			return []string{"0", "0", decimal(c.ECNMarked[q]), decimal(c.ECNMarked[q] * meanPacket(c, q))}
		})
}

// showPerQueue prints a table for every port, or one JSON object of ports, queues and cells.
func (d *Device) showPerQueue(w io.Writer, asJSON bool, header, keys []string, cells queueCells) (int, error) {
	all := map[string]map[string]any{}
	for _, port := range d.ports() {
		var rows [][]string
		all[port] = map[string]any{"time": d.hw.Now().UTC().Format("2006-01-02T15:04:05.000000")}
		for q := range 8 {
			name := "UC" + strconv.Itoa(q)
			values := cells(port, q)
			rows = append(rows, append([]string{port, name}, values...))
			entry := map[string]string{}
			for n, k := range keys {
				entry[k] = values[n]
			}
			all[port][name] = entry
		}
		if asJSON {
			continue
		}
		fmt.Fprintln(w, "For namespace None:")
		if err := grid(w, append([]string{"Port", "TxQ"}, header...), rows); err != nil {
			return 1, err
		}
		fmt.Fprintln(w)
	}
	if !asJSON {
		return 0, nil
	}
	return printJSON(w, all)
}

func printJSON(w io.Writer, v any) (int, error) {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return 1, err
	}
	_, err = fmt.Fprintln(w, string(text))
	return 0, err
}

func (d *Device) showWatchdog(w io.Writer) (int, error) {
	db, _ := d.snapshot()
	var rows [][]string
	for _, port := range d.ports() {
		c := d.group("PFCWD", port)
		if c == nil {
			continue
		}
		for _, q := range watched(db, port).All() {
			f := watchdogFields(db["PFC_WD"][port], c, int(q))
			pair := func(a, b string) string {
				return f["PFC_WD_QUEUE_STATS_"+a] + "/" + f["PFC_WD_QUEUE_STATS_"+b]
			}
			rows = append(rows, []string{
				fmt.Sprintf("%s:%d", port, q), f["PFC_WD_STATUS"], pair("DEADLOCK_DETECTED", "DEADLOCK_RESTORED"),
				pair("TX_PACKETS", "TX_DROPPED_PACKETS"), pair("RX_PACKETS", "RX_DROPPED_PACKETS"),
				pair("TX_PACKETS_LAST", "TX_DROPPED_PACKETS_LAST"), pair("RX_PACKETS_LAST", "RX_DROPPED_PACKETS_LAST"),
			})
		}
	}
	return 0, grid(w, []string{"QUEUE", "STATUS", "STORM DETECTED/RESTORED", "TX OK/DROP", "RX OK/DROP", "TX LAST OK/DROP", "RX LAST OK/DROP"}, rows)
}

func (d *Device) showWatchdogConfig(w io.Writer) (int, error) {
	db, _ := d.snapshot()
	if ms := db["PFC_WD"]["GLOBAL"]["POLL_INTERVAL"]; ms != "" {
		fmt.Fprintf(w, "Changed polling interval to %sms\n", ms)
	}
	var rows [][]string
	for _, port := range d.ports() {
		if row, ok := db["PFC_WD"][port]; ok {
			rows = append(rows, []string{port, orElse(row["action"], "drop"), orElse(row["detection_time"], "N/A"),
				orElse(row["restoration_time"], "infinite"), orElse(row["pfc_stat_history"], "disable")})
		}
	}
	return 0, grid(w, []string{"PORT", "ACTION", "DETECTION TIME", "RESTORATION TIME", "HISTORY"}, rows)
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func (d *Device) showDrops(w io.Writer) (int, error) {
	return 0, d.perGroup(w, "Ingress PG dropped packets:", "PG_DROP", func(c *sim.Counters, g int) string { return decimal(c.GroupDropped[g]) })
}

func (d *Device) showHeadroom(w io.Writer, asJSON bool) (int, error) {
	if asJSON {
		all := map[string]map[string]string{}
		for _, port := range d.ports() {
			all[port] = map[string]string{}
			for g := range 8 {
				all[port]["PG"+strconv.Itoa(g)] = orElse(d.periodicGroup(port, g)["SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES"], "N/A")
			}
		}
		return printJSON(w, all)
	}
	return 0, d.perGroup(w, "Ingress headroom per PG:", "PG_WATERMARK", func(c *sim.Counters, g int) string {
		return decimal(uint64(c.HeadroomWatermark[g]))
	})
}

// perGroup prints one line a port and one column a priority group.
func (d *Device) perGroup(w io.Writer, title, group string, cell func(*sim.Counters, int) string) error {
	fmt.Fprintln(w, title)
	header := []string{"Port"}
	for g := range 8 {
		header = append(header, "PG"+strconv.Itoa(g))
	}
	var rows [][]string
	for _, port := range d.ports() {
		row := []string{port}
		c := d.group(group, port)
		for g := range 8 {
			if c == nil {
				row = append(row, "N/A")
			} else {
				row = append(row, cell(c, g))
			}
		}
		rows = append(rows, row)
	}
	return grid(w, header, rows)
}

func (d *Device) showInterfaces(w io.Writer) (int, error) {
	db, _ := d.snapshot()
	var rows [][]string
	for _, port := range d.ports() {
		row, ok := db["PORT"][port]
		if !ok {
			continue
		}
		oper := "down"
		if d.hw.Counters(port).Up {
			oper = "up"
		}
		rows = append(rows, []string{port, row["lanes"], strconv.FormatInt(number(row["speed"])/1000, 10) + "G", row["mtu"],
			orElse(row["fec"], "N/A"), row["alias"], "routed", oper, row["admin_status"]})
	}
	return 0, grid(w, []string{"Interface", "Lanes", "Speed", "MTU", "FEC", "Alias", "Vlan", "Oper", "Admin"}, rows)
}
