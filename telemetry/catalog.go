package telemetry

import (
	"slices"

	"github.com/weirfabric/weir/intent/addr"
)

// Labels that metrics have after device. They are the same for every vendor.
const (
	LabelPort     = "port"
	LabelPriority = "priority"
	LabelQueue    = "queue"
	LabelGroup    = "priority_group"
	LabelCheck    = "check"
	LabelMetric   = "metric"
	LabelStatus   = "status"
	LabelPeer     = "peer"
	LabelPeerPort = "peer_port"
)

// Metrics of ports. Counters count since a moment that the device chooses: only their growth means something.
var (
	PortUp             = gauge("weir_port_up", "Whether the port is up: 1, or 0.", LabelPort)
	ReceivedBytes      = counter("weir_port_received_bytes_total", "Bytes that the port received.", LabelPort)
	TransmittedBytes   = counter("weir_port_transmitted_bytes_total", "Bytes that the port sent.", LabelPort)
	ReceivedPackets    = counter("weir_port_received_packets_total", "Packets that the port received.", LabelPort)
	TransmittedPackets = counter("weir_port_transmitted_packets_total", "Packets that the port sent.", LabelPort)

	PFCReceived = counter("weir_port_pfc_pause_frames_received_total",
		"PFC PAUSE frames of the priority that the port received: the neighbour asks it to stop.", LabelPort, LabelPriority)
	PFCTransmitted = counter("weir_port_pfc_pause_frames_transmitted_total",
		"PFC PAUSE frames of the priority that the port sent: it asks the neighbour to stop.", LabelPort, LabelPriority)
	PFCSeconds = counter("weir_port_pfc_pause_seconds_total",
		"Time for which received PAUSE frames kept the port from sending the priority.", LabelPort, LabelPriority)
	PriorityReceivedBytes = counter("weir_priority_received_bytes_total",
		"Bytes of the priority that the port received, where the device counts them by priority.", LabelPort, LabelPriority)
	PriorityTransmittedBytes = counter("weir_priority_transmitted_bytes_total",
		"Bytes of the priority that the port sent, where the device counts them by priority.", LabelPort, LabelPriority)
	PriorityDropped = counter("weir_priority_dropped_packets_total",
		"Received packets of the priority that were dropped for want of a buffer.", LabelPort, LabelPriority)
)

// Metrics of egress queues and ingress priority groups.
var (
	QueuePackets   = counter("weir_queue_transmitted_packets_total", "Packets that left the queue.", LabelPort, LabelQueue)
	QueueBytes     = counter("weir_queue_transmitted_bytes_total", "Bytes that left the queue.", LabelPort, LabelQueue)
	QueueDropped   = counter("weir_queue_dropped_packets_total", "Packets that the queue dropped.", LabelPort, LabelQueue)
	ECNMarked      = counter("weir_queue_ecn_marked_packets_total", "Packets that the queue marked with ECN CE, or selected for it, as the device counts.", LabelPort, LabelQueue)
	QueueWatermark = gauge("weir_queue_watermark_bytes", "Highest occupancy of the queue in the device's last watermark period.", LabelPort, LabelQueue)

	WatchdogDetected = counter("weir_queue_watchdog_detected_total", "PFC storms that the watchdog detected on the queue.", LabelPort, LabelQueue)
	WatchdogRestored = counter("weir_queue_watchdog_restored_total", "PFC storms on the queue that the watchdog saw end.", LabelPort, LabelQueue)
	WatchdogStormed  = gauge("weir_queue_watchdog_stormed", "Whether the watchdog holds the queue in its storm state: 1, or 0.", LabelPort, LabelQueue)

	GroupDropped      = counter("weir_priority_group_dropped_packets_total", "Packets that arrived when the headroom of the priority group was full.", LabelPort, LabelGroup)
	HeadroomWatermark = gauge("weir_priority_group_headroom_watermark_bytes", "Highest use of the priority group's headroom in the device's last watermark period.", LabelPort, LabelGroup)
)

// Metrics of NICs.
var (
	CNPSent       = counter("weir_nic_cnp_sent_total", "Congestion notification packets that the NIC sent, as notification point.", LabelPort)
	CNPHandled    = counter("weir_nic_cnp_handled_total", "Congestion notification packets that slowed a flow of the NIC down, as reaction point.", LabelPort)
	CEReceived    = counter("weir_nic_ecn_marked_packets_total", "RoCE packets that arrived at the NIC with ECN CE.", LabelPort)
	OutOfSequence = counter("weir_nic_out_of_sequence_packets_total", "RDMA packets that arrived out of order: the trace of a loss or of more than one path.", LabelPort)
	NICDiscarded  = counter("weir_nic_discarded_packets_total", "Packets that the NIC discarded for want of a buffer.", LabelPort)
)

// Metrics of weir itself.
var (
	TargetUp       = gauge("weir_target_up", "Whether the device's counters arrive: 1, or 0.")
	LastUpdate     = gauge("weir_target_last_update_timestamp_seconds", "When the last update of the device arrived, in Unix time.")
	Reconnects     = counter("weir_target_reconnects_total", "Connections to the device that were made again.")
	Updates        = counter("weir_target_updates_total", "Updates that the device sent.")
	Unmatched      = counter("weir_target_unmatched_updates_total", "Updates of the device that no binding reads.")
	Lag            = gauge("weir_target_lag_seconds", "Age of the device's last update when it arrived, by the device's clock.")
	SilentPaths    = gauge("weir_target_silent_paths", "Paths that were subscribed or commands that were polled, and bring nothing.")
	SeriesCount    = gauge("weir_target_series", "Series that are kept of the device.")
	DroppedSamples = counter("weir_target_dropped_samples_total", "Samples of the device that were dropped since the store is full.")

	ReadingStatus = gauge("weir_reading_status",
		"Readings of the metric on the port whose value is not a true measurement, by why: estimated, unsupported, disabled, suspect, missing.",
		LabelPort, LabelMetric, LabelStatus)
	DriftChanges = gauge("weir_drift_changes", "Changes that would bring the device back to the intent.")
	Verdict      = gauge("weir_verdict", "The verdict of a check on the device: 0 well, 1 note, 2 warning, 3 error, -1 unknown.", LabelCheck)
	PortVerdict  = gauge("weir_port_verdict", "The verdict of a check on a port, while it is not well: 1 note, 2 warning, 3 error, -1 unknown.",
		LabelPort, LabelPriority, LabelCheck)
	PortPeer = gauge("weir_port_peer", "The port of the inventory at the other end of the cable, of a port that is watched: 1.",
		LabelPort, LabelPeer, LabelPeerPort)
)

// Catalog is every metric that weir knows, in the order of their names.
func Catalog() []*Metric {
	all := []*Metric{
		PortUp, ReceivedBytes, TransmittedBytes, ReceivedPackets, TransmittedPackets,
		PFCReceived, PFCTransmitted, PFCSeconds, PriorityReceivedBytes, PriorityTransmittedBytes, PriorityDropped,
		QueuePackets, QueueBytes, QueueDropped, ECNMarked, QueueWatermark,
		WatchdogDetected, WatchdogRestored, WatchdogStormed, GroupDropped, HeadroomWatermark,
		CNPSent, CNPHandled, CEReceived, OutOfSequence, NICDiscarded,
		TargetUp, LastUpdate, Reconnects, Updates, Unmatched, Lag, SilentPaths, SeriesCount, DroppedSamples,
		ReadingStatus, DriftChanges, Verdict, PortVerdict, PortPeer,
	}
	slices.SortFunc(all, func(a, b *Metric) int { return addr.Natural(a.Name, b.Name) })
	return all
}

// Find is the metric of a name, or nil.
func Find(name string) *Metric {
	for _, m := range Catalog() {
		if m.Name == name {
			return m
		}
	}
	return nil
}

func counter(name, help string, labels ...string) *Metric {
	return &Metric{Name: name, Help: help, Counter: true, Labels: labels, kind: numbered(labels)}
}

func gauge(name, help string, labels ...string) *Metric {
	return &Metric{Name: name, Help: help, Labels: labels, kind: numbered(labels)}
}

// numbered is the kind of the things that the labels number, or empty.
func numbered(labels []string) addr.Kind {
	for _, l := range labels {
		switch l {
		case LabelPriority:
			return addr.PFC
		case LabelQueue:
			return addr.Queue
		case LabelGroup:
			return addr.PG
		}
	}
	return ""
}

// At is the address of the metric's reading on a port, by the number of its priority, queue or group where it has one:
// leaf1/Ethernet0/queue/3.
func (m *Metric) At(device, port, number string) addr.Addr {
	a := addr.Addr{Device: device, Port: port}
	if number != "" {
		a.Kind, a.Name = m.kind, number
	}
	return a
}

// Numbered says whether the metric is one of priorities, queues or priority groups.
func (m *Metric) Numbered() bool { return m.kind != "" }

// Values are the values of the metric's labels for a reading at a, the device's first.
func (m *Metric) Values(a addr.Addr) []string {
	values := []string{a.Device}
	for _, l := range m.Labels {
		switch l {
		case LabelPort:
			values = append(values, a.Port)
		case LabelCheck, LabelStatus, LabelPeerPort:
			values = append(values, a.Leaf)
		case LabelPriority, LabelQueue, LabelGroup, LabelMetric, LabelPeer:
			values = append(values, a.Name)
		}
	}
	return values
}
