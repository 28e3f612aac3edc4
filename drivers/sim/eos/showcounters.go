package eos

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/weirfabric/weir/drivers/sim"
)

// perPort makes a table of all ports: an object of what value gives, where it gives something, and a text of rows.
func (c *cli) perPort(header string, value func(p sim.PortSpec, n sim.Counters) (any, []string)) (object, string) {
	all, text := object{}, []string{header}
	for _, p := range c.d.hw.Spec().Ports {
		v, rows := value(p, c.d.hw.Counters(p.Name))
		if v != nil {
			all[p.Name] = v
		}
		text = append(text, rows...)
	}
	return all, strings.Join(text, "\n")
}

func sum(counts [8]uint64) uint64 {
	var total uint64
	for _, n := range counts {
		total += n
	}
	return total
}

// showPFC is a table without a JSON form that a source knows.
func showPFC(c *cli, _ []string) (answer, error) {
	config := c.d.snapshot()
	_, text := c.perPort("Port         Enabled Priorities Active Note", func(p sim.PortSpec, _ sim.Counters) (any, []string) {
		b := port(config, p)
		on := map[bool]string{true: "Yes", false: "No"}[settingsOf(config, p.Name).has("priority-flow-control")]
		priorities := strings.ReplaceAll(b.PFC.String(), ",", " ")
		return nil, []string{fmt.Sprintf("%-12s %-7s %-10s %-6s DCBX disabled", p.Name, on, priorities, on)}
	})
	return answer{text: text}, nil
}

func showPFCCounters(c *cli, words []string) (answer, error) {
	only := ""
	if words[2] == "interfaces" {
		only = words[3]
	}
	all, text := c.perPort("Port               RxPfc          TxPfc", func(p sim.PortSpec, n sim.Counters) (any, []string) {
		if only != "" && p.Name != only {
			return nil, nil
		}
		rx, tx := sum(n.PFCReceived), sum(n.PFCSent)
		return object{"rxFrames": rx, "txFrames": tx}, []string{fmt.Sprintf("%-10s %13d  %13d", shortName(p.Name), rx, tx)}
	})
	return answer{text: text, value: object{"interfaceCounters": all}}, nil
}

func showPFCDetail(c *cli, words []string) (answer, error) {
	only := ""
	if words[2] != "priority-flow-control" {
		only = words[2]
	}
	all, text := c.perPort("Port       Priority         RxPfc          TxPfc", func(p sim.PortSpec, n sim.Counters) (any, []string) {
		if only != "" && p.Name != only {
			return nil, nil
		}
		priorities := object{}
		var rows []string
		for i := range 8 {
			priorities[strconv.Itoa(i)] = object{"rxFrames": n.PFCReceived[i], "txFrames": n.PFCSent[i]}
			rows = append(rows, fmt.Sprintf("%-10s %8d %13d  %13d", shortName(p.Name), i, n.PFCReceived[i], n.PFCSent[i]))
		}
		return object{"priorities": priorities}, rows
	})
	return answer{text: text, value: object{"interfaces": all}}, nil
}

// showWatchdogCounters has no entry for a queue before its first event.
func showWatchdogCounters(c *cli, _ []string) (answer, error) {
	all, text := c.perPort("Port       TxQ     Stuck   Recovery", func(p sim.PortSpec, n sim.Counters) (any, []string) {
		queues := object{}
		var rows []string
		for q := range 8 {
			if n.StormsDetected[q] > 0 {
				queues[strconv.Itoa(q)] = object{"stuckCount": n.StormsDetected[q], "recoveryCount": n.StormsRestored[q]}
				rows = append(rows, fmt.Sprintf("%-10s UC%d %7d %10d", shortName(p.Name), q, n.StormsDetected[q], n.StormsRestored[q]))
			}
		}
		if len(queues) == 0 {
			return nil, nil
		}
		return object{"txQueues": queues}, rows
	})
	return answer{text: text, value: object{"interfaces": all}}, nil
}

// counted says whether a queue counts what it marks.
func counted(config *node, port string, queue int) bool {
	return settingsOf(config, port).queue(queue).has("random-detect ecn count")
}

// showECNCounters has counts as strings, and a dash for what is not counted.
func showECNCounters(c *cli, _ []string) (answer, error) {
	config := c.d.snapshot()
	all, text := c.perPort("Port       TxQ   Marked Packets", func(p sim.PortSpec, n sim.Counters) (any, []string) {
		queues := object{}
		var rows []string
		for q := range 8 {
			count := "-"
			if counted(config, p.Name, q) {
				count = strconv.FormatUint(n.ECNMarked[q], 10)
			}
			queues[strconv.Itoa(q)] = count
			rows = append(rows, fmt.Sprintf("%-10s UC%d %16s", shortName(p.Name), q, count))
		}
		return object{"queueCounters": queues}, rows
	})
	return answer{text: text, value: object{"intfQueueCounters": all}}, nil
}

func showQueueCounters(c *cli, _ []string) (answer, error) {
	all, text := c.perPort("Port  TxQ    Counter/pkts   Counter/bytes  Drop/pkts  Drop/bytes", func(p sim.PortSpec, n sim.Counters) (any, []string) {
		unicast, multicast := object{}, object{}
		var rows []string
		for q := range 8 {
			name := fmt.Sprintf("TC%d", q)
			unicast[name] = dropPrecedence(n.QueuePackets[q], n.QueueBytes[q], n.QueueDropped[q])
			multicast[name] = dropPrecedence(0, 0, 0)
			rows = append(rows, fmt.Sprintf("%s UC%d %d %d %d %d", shortName(p.Name), q,
				n.QueuePackets[q], n.QueueBytes[q], n.QueueDropped[q], n.QueueDropped[q]*mean(n, q)))
		}
		return object{"ucastQueues": object{"trafficClasses": unicast}, "mcastQueues": object{"trafficClasses": multicast}}, rows
	})
	return answer{text: text, value: object{"egressQueueCounters": object{"interfaces": all}}}, nil
}

func dropPrecedence(packets, bytes, dropped uint64) object {
	return object{"dropPrecedences": object{"DP0": object{
		"enqueuedPackets": packets, "enqueuedBytes": bytes, "droppedPackets": dropped,
	}}}
}

// mean is the bytes of a packet of a queue, for what the lab counts in packets only.
func mean(n sim.Counters, q int) uint64 {
	if n.QueuePackets[q] == 0 {
		return 0
	}
	return n.QueueBytes[q] / n.QueuePackets[q]
}

func showFlowControl(c *cli, _ []string) (answer, error) {
	config := c.d.snapshot()
	all, text := c.perPort("Port       Send FlowControl  Receive FlowControl  RxPause  TxPause", func(p sim.PortSpec, _ sim.Counters) (any, []string) {
		s := settingsOf(config, p.Name)
		state := func(key string) string {
			if v, ok := s.value(key); ok {
				return v
			}
			return "off"
		}
		send, receive := state("flowcontrol send"), state("flowcontrol receive")
		return object{"txAdminState": send, "rxAdminState": receive, "txPause": 0, "rxPause": 0},
			[]string{fmt.Sprintf("%-10s %-17s %-20s %7d  %7d", shortName(p.Name), send, receive, 0, 0)}
	})
	return answer{text: text, value: object{"interfaceFlowControls": all}}, nil
}

func showCounters(c *cli, _ []string) (answer, error) {
	all, text := c.perPort("Port        InOctets     InUcastPkts       OutOctets    OutUcastPkts", func(p sim.PortSpec, n sim.Counters) (any, []string) {
		return object{
			"inOctets": n.InBytes, "inUcastPkts": n.InPackets, "inMulticastPkts": 0, "inBroadcastPkts": 0,
			"inDiscards": sum(n.GroupDropped), "outOctets": n.OutBytes, "outUcastPkts": n.OutPackets,
			"outMulticastPkts": 0, "outBroadcastPkts": 0, "outDiscards": sum(n.QueueDropped),
		}, []string{fmt.Sprintf("%-7s %12d %15d %15d %15d", shortName(p.Name), n.InBytes, n.InPackets, n.OutBytes, n.OutPackets)}
	})
	return answer{text: text, value: object{"interfaces": all}}, nil
}

func showStatus(c *cli, _ []string) (answer, error) {
	config := c.d.snapshot()
	all, text := c.perPort("Port       Name   Status       Speed", func(p sim.PortSpec, n sim.Counters) (any, []string) {
		status := map[bool]string{true: "connected", false: "notconnect"}[n.Up]
		s := settingsOf(config, p.Name)
		if s.has("shutdown") {
			status = "disabled"
		}
		description, _ := s.value("description")
		return object{
			"linkStatus": status, "bandwidth": int64(p.Speed), "description": description, "interfaceType": "Not Present",
			"duplex": "duplexFull",
		}, []string{fmt.Sprintf("%-10s %-6s %-12s %s", shortName(p.Name), description, status, p.Speed)}
	})
	return answer{text: text, value: object{"interfaceStatuses": all}}, nil
}
