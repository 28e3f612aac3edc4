// Package sim is a laboratory: simulated devices on loopback that speak the protocols of the real ones, over one
// simulated data plane. The software of each kind of device is a folder of this package.
package sim

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/weirfabric/weir/intent/qos"
)

// Spec is one device to simulate.
type Spec struct {
	Name, Platform, SKU string
	Host                bool
	Ports               []PortSpec
	Files               map[string][]byte // configuration to start from, by the device's own names; nil: factory
	Buffer              qos.Bytes         // packet buffer of a switch; 0: 16 MB, a Tomahawk's
}

// PortSpec is one port and what it is cabled to.
type PortSpec struct {
	Name                 string
	Alias                string // the vendor's own name on the front, where it differs
	Speed                qos.Rate
	Cable                qos.Metres
	RDMA                 string // RDMA device, of a host's port
	PeerDevice, PeerPort string // empty: not cabled
}

// Personality is the software of one device. It keeps the configuration, tells the hardware after every change what that
// makes it do, and serves its protocols until ctx ends.
type Personality interface {
	// Serve answers connections that the lab accepts until ctx ends.
	Serve(ctx context.Context, s Services) error
	// Serves says which protocols the device has.
	Serves() Protocols
	// Restart is a reboot: the running configuration becomes the one the device would start with.
	Restart()
	// Faults are the kinds that an operation can meet, beside those that can happen to any device.
	Faults(on Operation) []FaultKind
}

// Protocols a device has.
type Protocols struct{ GNMI, SSH bool }

// Services is what the lab gives a device to be reached by.
type Services struct {
	GNMI     net.Listener // nil where the device has no gNMI
	SSH      net.Listener // nil where it has no SSH
	TLS      *tls.Config  // of the gNMI server; client certificates are asked for, not required
	HostKey  ssh.Signer
	User     string
	Password string
	Keys     []ssh.PublicKey // that User may log in with over SSH as well; nil: none
	// Drop ends the connection that comes from remote, at once and without a farewell. Nil where nothing can be dropped.
	Drop func(remote net.Addr)
}

// Hardware is the data plane under one device, as its software sees it. All times are device time: wall time multiplied by
// the lab's scale. It may be used from many goroutines at once.
type Hardware interface {
	Spec() Spec
	// Apply makes the ports behave so from now on. Ports that are not mentioned are down.
	Apply(b Behaviour)
	// Counters is a snapshot of a port's counters since the device started.
	Counters(port string) Counters
	// Flap takes a port down and up again, as a device's updater does around some changes.
	Flap(port string)
	Now() time.Time
	// Sleep waits for a device-time duration, or until ctx ends, or until the device loses its power (ErrHalted).
	Sleep(ctx context.Context, d time.Duration) error
	// Fault is what goes wrong with an operation that begins now; it is taken, so that the next one is well. It may take device
	// time, and change the configuration, so the caller holds no lock. When it is Reboot the lab takes the device down by
	// itself: the operation stops where it is.
	Fault(on Operation) Fault
}

// Behaviour is what a device's configuration makes its hardware do.
type Behaviour struct {
	Classify [64]qos.Priority // DSCP to priority, which is also traffic class and queue in the lab
	Ports    map[string]PortBehaviour
}

// PortBehaviour is what one port does.
type PortBehaviour struct {
	Up          bool
	MTU         qos.Bytes
	FlowControl bool // IEEE 802.3x
	PFC         qos.PrioritySet
	Watched     qos.PrioritySet
	Watchdog    qos.Watchdog
	Queues      [8]QueueBehaviour
	Headroom    [8]qos.Bytes      // by priority group; what arrives after XOFF and does not fit is dropped
	Alpha       [8]qos.AlphaShift // dynamic threshold of each priority group
	TOS         uint8             // hosts: the byte that RDMA traffic is sent with
	ECN         bool              // hosts: DCQCN answers marks with CNPs and slows down
	CNP         qos.DSCP          // hosts: DSCP of CNPs
}

// QueueBehaviour is what one queue does.
type QueueBehaviour struct {
	Strict bool
	Weight float64
	WRED   *qos.WRED // nil: no marking
}

// Counters of one port since the device started. Arrays are by priority, queue or priority group.
type Counters struct {
	Up                       bool
	Flaps                    uint64
	PFCReceived, PFCSent     [8]uint64 // PAUSE frames
	PausedReceived           [8]time.Duration
	QueuePackets, QueueBytes [8]uint64
	QueueDropped             [8]uint64 // packets
	ECNMarked                [8]uint64 // packets
	GroupDropped             [8]uint64 // packets, headroom overrun
	HeadroomWatermark        [8]qos.Bytes
	QueueWatermark           [8]qos.Bytes
	Stormed                  [8]bool
	StormsDetected           [8]uint64
	StormsRestored           [8]uint64
	InPackets, OutPackets    uint64
	InBytes, OutBytes        uint64
	CNPSent, CNPHandled      uint64 // hosts
	ECNReceived              uint64 // hosts: packets that arrived with CE
	OutOfSequence            uint64 // hosts: RDMA packets that a loss put out of order
}

// Traffic is what the hosts send.
type Traffic string

// The scenarios.
const (
	Quiet        Traffic = "quiet"         // nothing of the class
	Steady       Traffic = "steady"        // moderate load between all hosts, no congestion
	Incast       Traffic = "incast"        // many hosts to one
	NICStorm     Traffic = "nic-storm"     // one host's NIC sends PAUSE without end
	DroppedClass Traffic = "dropped-class" // incast, with the class classified into a lossy queue somewhere
)
