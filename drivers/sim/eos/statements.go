package eos

// place is where a configuration line stands: globally, or inside another line.
type place int

const (
	global place = iota
	inInterface
	inProfile
	inQueue // of an interface or a profile
	inMMU
	inMonitor
	inGNMI
	inTransport
	inSecurity
	inSSLProfile
	inForeign // of something that the lab knows nothing about: every line is accepted
)

// statement is one form of configuration line.
//
// A form is words, alternatives (a|b) and arguments: <lo-hi> is a number, <lo-hi:d> one with at most d decimals, <lo-hi>+
// several numbers, which make a line each, <interface> an Ethernet port of the device, <word> one word and <rest> whatever
// follows. The words before a lone ! name the setting: a later line that begins with the same words replaces this one, and
// "no" with them removes it. Without a ! all of them do.
type statement struct {
	place  place
	form   string
	enters place  // the lines that may stand inside; global: none
	prompt string // of the mode that it enters; $ stands for the last word of the line
	no     bool   // "no" is a setting of its own and is kept
	on     family // the only ASICs that have it; anyASIC: all
}

// family is a kind of ASIC as EOS tells them apart.
type family int

const (
	anyASIC family = iota
	strata         // Trident and Tomahawk
	sand           // Jericho
)

// statements are the configuration lines that the lab's EOS knows, in the order in which it prints them. Lines that make a
// network lossless are those of reference tables that were seen in Arista's own templates (AVD) or running code; the others
// are ordinary lines that stand for what weir must not touch. A line is matched in its own place first, then in the places
// around it. Modes' prompts but those of interfaces are the lab's own.
var statements = []statement{
	{place: global, form: "transceiver qsfp ! <rest>"},
	{place: global, form: "queue-monitor streaming", enters: inMonitor, prompt: "qm-streaming"},
	{place: global, form: "queue-monitor length"},
	{place: global, form: "queue-monitor length default thresholds ! <1-1000000> <1-1000000>"},
	{place: global, form: "queue-monitor length tx-latency"},
	{place: global, form: "queue-monitor length notifying"},
	{place: global, form: "logging <rest>"},
	{place: global, form: "hostname ! <word>"},
	{place: global, form: "dns domain ! <word>"},
	{place: global, form: "ip name-server <rest>"},
	{place: global, form: "ntp server <rest>"},
	{place: global, form: "platform trident mmu headroom-pool limit ! bytes|cells <1-1000000000>", on: strata},
	{place: global, form: "platform trident mmu headroom-pool limit ! <1-1000000000>", on: strata},
	{place: global, form: "platform trident mmu queue profile <word>", enters: inMMU, prompt: "mmu-queue-profile-$", on: strata},
	{place: global, form: "platform trident mmu queue profile <word> apply", on: strata},
	{place: global, form: "platform sand qos map traffic-class <0-7>+ ! to network-qos <0-63>", on: sand},
	{place: global, form: "priority-flow-control all off"},
	{place: global, form: "qos rewrite dscp"},
	{place: global, form: "qos rewrite cos"},
	{place: global, form: "qos random-detect ecn allow non-ect chip-based"},
	{place: global, form: "qos random-detect ecn allow non-ect"},
	{place: global, form: "qos map cos <0-7>+ ! to traffic-class <0-7>"},
	{place: global, form: "qos map dscp <0-63>+ ! to traffic-class <0-7>"},
	{place: global, form: "qos map dscp <0-63>+ ! to traffic-class <0-7> drop-precedence <0-2>"},
	{place: global, form: "qos map traffic-class <0-7>+ to dscp ! <0-63>"},
	{place: global, form: "qos map traffic-class <0-7>+ to cos ! <0-7>"},
	{place: global, form: "qos map traffic-class <0-7>+ to tx-queue|uc-tx-queue|mc-tx-queue ! <0-7>"},
	{place: global, form: "qos traffic-class <0-7> name ! <word>"},
	{place: global, form: "qos tx-queue <0-7> name ! <word>", on: sand},
	{place: global, form: "qos uc-tx-queue <0-7> name ! <word>", on: strata},
	{place: global, form: "qos profile <word>", enters: inProfile, prompt: "qos-profile-$"},
	{place: global, form: "priority-flow-control pause watchdog default timeout ! <0.01-60:2>"},
	{place: global, form: "priority-flow-control pause watchdog default recovery-time ! <0.01-60:2>"},
	{place: global, form: "priority-flow-control pause watchdog default polling-interval ! <0.005-30:3>"},
	{place: global, form: "priority-flow-control pause watchdog action ! drop|no-drop"},
	{place: global, form: "priority-flow-control pause watchdog override action ! drop"},
	{place: global, form: "spanning-tree mode ! <word>"},
	{place: global, form: "lldp run", no: true},
	{place: global, form: "aaa <rest>"},
	{place: global, form: "username <word> ! <rest>"},
	{place: global, form: "vlan <1-4094>", enters: inForeign, prompt: "vlan-$"},
	{place: global, form: "vrf instance <word>", enters: inForeign, prompt: "vrf-$"},
	{place: global, form: "management api gnmi", enters: inGNMI, prompt: "mgmt-api-gnmi"},
	{place: global, form: "management security", enters: inSecurity, prompt: "mgmt-security"},
	{place: global, form: "management <word>", enters: inForeign, prompt: "mgmt-$"},
	{place: global, form: "management api <word>", enters: inForeign, prompt: "mgmt-api-$"},
	{place: global, form: "interface <interface>", enters: inInterface, prompt: "if-$"},
	{place: global, form: "interface <logical>", enters: inForeign, prompt: "if-$"},
	{place: global, form: "ip routing", no: true},
	{place: global, form: "ipv6 unicast-routing"},
	{place: global, form: "ip route <rest>"},
	{place: global, form: "ip prefix-list <word>", enters: inForeign, prompt: "ip-pfx"},
	{place: global, form: "snmp-server <rest>"},
	{place: global, form: "route-map <word> permit|deny <0-65535>", enters: inForeign, prompt: "route-map"},
	{place: global, form: "router bgp <1-4294967295>", enters: inForeign, prompt: "router-bgp"},

	{place: inMonitor, form: "shutdown", no: true},

	{place: inInterface, form: "description ! <rest>"},
	{place: inInterface, form: "shutdown"},
	{place: inInterface, form: "mtu ! <68-9214>"},
	{place: inInterface, form: "speed ! <rest>"},
	{place: inInterface, form: "error-correction encoding ! <rest>"},
	{place: inInterface, form: "flowcontrol send ! on|off|desired"},
	{place: inInterface, form: "flowcontrol receive ! on|off|desired"},
	{place: inInterface, form: "channel-group <rest>"},
	{place: inInterface, form: "switchport", no: true},
	{place: inInterface, form: "switchport mode ! <rest>"},
	{place: inInterface, form: "switchport access vlan ! <1-4094>"},
	{place: inInterface, form: "switchport trunk ! <rest>"},
	{place: inInterface, form: "ip address ! <rest>"},
	{place: inInterface, form: "ipv6 address <rest>"},
	{place: inInterface, form: "lldp transmit", no: true},
	{place: inInterface, form: "lldp receive", no: true},
	{place: inInterface, form: "service-policy type qos input ! <word>"},
	{place: inInterface, form: "service-profile ! <word>"},

	{place: inQueue, form: "priority ! strict", no: true},
	{place: inQueue, form: "bandwidth percent ! <1-100>"},
	{place: inQueue, form: "bandwidth guaranteed ! percent <1-100>"},
	{place: inQueue, form: "bandwidth guaranteed ! <1-400000000>"},
	{place: inQueue, form: "shape rate ! <1-800000000> kbps"},
	{place: inQueue, form: "shape rate ! <1-100> percent"},
	{place: inQueue, form: "random-detect ecn ! minimum-threshold <1-256000000> segments|bytes|kbytes|mbytes|milliseconds maximum-threshold <1-256000000> segments|bytes|kbytes|mbytes|milliseconds max-mark-probability <1-100>"},
	{place: inQueue, form: "random-detect ecn ! minimum-threshold <1-256000000> segments|bytes|kbytes|mbytes|milliseconds maximum-threshold <1-256000000> segments|bytes|kbytes|mbytes|milliseconds max-mark-probability <1-100> weight <0-15>"},
	{place: inQueue, form: "random-detect ecn count"},
	{place: inQueue, form: "random-detect drop ! <rest>"},

	{place: inMMU, form: "ingress reserved ! bytes|cells <0-1000000000>"},
	{place: inMMU, form: "ingress reserved ! <0-1000000000>"},
	{place: inMMU, form: "ingress threshold ! 1/128|1/64|1/32|1/16|1/8|1/4|1/2|1|2|4|8"},
	{place: inMMU, form: "ingress headroom ! bytes|cells <0-1000000000>"},
	{place: inMMU, form: "ingress headroom ! <0-1000000000>"},
	{place: inMMU, form: "ingress resume ! <0-1000000000>"},
	{place: inMMU, form: "ingress priority-group <0-7> reserved ! bytes|cells <0-1000000000>"},
	{place: inMMU, form: "ingress priority-group <0-7> reserved ! <0-1000000000>"},
	{place: inMMU, form: "ingress priority-group <0-7> threshold ! 1/128|1/64|1/32|1/16|1/8|1/4|1/2|1|2|4|8"},
	{place: inMMU, form: "egress unicast|multicast queue <0-7> reserved ! bytes|cells <0-1000000000>"},
	{place: inMMU, form: "egress unicast|multicast queue <0-7> reserved ! <0-1000000000>"},
	{place: inMMU, form: "egress unicast|multicast queue <0-7> threshold ! 1/128|1/64|1/32|1/16|1/8|1/4|1/2|1|2|4|8"},
	{place: inMMU, form: "egress unicast queue <0-7> drop-precedence <1-2> drop-threshold ! <word>"},

	{place: inGNMI, form: "transport grpc <word>", enters: inTransport, prompt: "gnmi-transport-$"},
	{place: inGNMI, form: "transport grpc-tunnel <word>", enters: inForeign, prompt: "gnmi-transport-$"},
	{place: inGNMI, form: "provider eos-native"},
	{place: inGNMI, form: "operation set persistence"},
	{place: inTransport, form: "ssl profile ! <word>"},
	{place: inTransport, form: "vrf ! <word>"},
	{place: inTransport, form: "port ! <1-65535>"},
	{place: inTransport, form: "ip access-group ! <word>"},
	{place: inTransport, form: "authorization requests"},
	{place: inTransport, form: "notification timestamp ! send-time"},
	{place: inTransport, form: "shutdown", no: true},
	{place: inSecurity, form: "ssl profile <word>", enters: inSSLProfile, prompt: "mgmt-sec-ssl-profile-$"},
	{place: inSSLProfile, form: "certificate ! <word> key <word>"},
	{place: inSSLProfile, form: "trust certificate <word>"},

	{place: inForeign, form: "<rest>", no: true},
}

// onPorts are the lines that stand in interfaces and in profiles alike, after the queues.
var onPorts = []statement{
	{form: "qos trust ! dscp|cos", no: true},
	{form: "qos cos ! <0-7>"},
	{form: "qos dscp ! <0-63>"},
	{form: "tx-queue <0-7>", enters: inQueue, prompt: "txq-$", on: sand},
	{form: "uc-tx-queue <0-7>", enters: inQueue, prompt: "uc-txq-$", on: strata},
	{form: "mc-tx-queue <0-7>", enters: inQueue, prompt: "mc-txq-$", on: strata},
	{form: "priority-flow-control ! on"},
	{form: "priority-flow-control priority <0-7> ! no-drop|drop"},
	{form: "priority-flow-control pause watchdog"},
	{form: "priority-flow-control pause watchdog port action ! drop|notify-only"},
	{form: "priority-flow-control pause watchdog port timer ! timeout <0.01-60:2> polling-interval auto recovery-time <0.01-60:2>"},
	{form: "priority-flow-control pause watchdog port timer ! timeout <0.01-60:2> polling-interval auto recovery-time <0.01-60:2> forced"},
	{form: "priority-flow-control pause watchdog port timer ! timeout <0.01-60:2> polling-interval <0.005-30:3> recovery-time <0.01-60:2>"},
	{form: "priority-flow-control pause watchdog port timer ! timeout <0.01-60:2> polling-interval <0.005-30:3> recovery-time <0.01-60:2> forced"},
}

// unprinted are lines that say what is so anyway. They remove a setting, and the device does not print them.
var unprinted = map[string]bool{
	"flowcontrol send off":    true,
	"flowcontrol receive off": true,
	"switchport":              true,
	"lldp run":                true,
	"lldp transmit":           true,
	"lldp receive":            true,
	"mtu 1500":                true,
	"no ip routing":           true,
}
