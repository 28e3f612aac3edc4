package check

// The papers that several rows cite.
const (
	guo = "Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section "
	bai = "Bai et al., Empowering Azure Storage with RDMA, NSDI 2023, section "
)

// verdict is a case of the table of verdicts.
func verdict(name string) replay { return replay{"telemetry/health", "TestVerdicts", name} }

// incidents are the published incidents. What is said of each was read in the source that it names, but where it is cited from
// others, which the source says.
var incidents = []incident{
	{
		id: "I1", title: "One dead NIC pauses half of the servers",
		story: "A server whose NIC had failed sent more than 2,000 PAUSE frames a second, and neither sent nor took data. The pause spread from its leaf through the fabric until half of a customer's servers stood still. " +
			"It is rare, a handful of cases in hundreds of thousands of servers, and each one takes a part of the network down.",
		source: guo + "6.2", plan: []string{"watchdog"}, live: []string{"pfc-storm"},
		how:     "Every lossless port has a watchdog unless the operator takes it away, and the ports towards hosts are told of by themselves.",
		replays: []replay{verdict("a NIC storm is told at its origin, with the host at fault")},
	},
	{
		id: "I2", title: "A new model of leaf has another alpha",
		story:  "A new model of leaf came with an alpha of 1/64 where the older ones had 1/16. Its ports paused far too early, and two leaves flooded thousands of servers with up to 60,000 PAUSE frames in five minutes.",
		source: guo + "6.2", plan: []string{"ecn-before-pfc", "sku"}, live: []string{"congestion"},
		how:     "weir writes alpha on every switch and leaves none to the maker, says so of a model that it does not know, and refuses an alpha with which PFC fires before ECN.",
		replays: []replay{verdict("a switch that pauses without a cause")},
	},
	{
		id: "I3", title: "Flooded packets deadlock a Clos",
		story:  "A leaf that knew the MAC address of a host, and had forgotten the port, flooded the packets in a lossless class, up again too. ARP entries lasted four hours and MAC entries five minutes. The buffers of leaves and spines came to wait for each other in a circle, and did not drain again.",
		source: guo + "4.2", plan: []string{"deadlock"}, live: []string{"pfc-deadlock"},
		how:     "Where routing.flooding is not written the proof takes it for drop, and says so.",
		open:    "The ages of the tables are not in the intent, so that it is for the operator to say what the switches do.",
		replays: []replay{{"intent/depend", "TestFloodingOfALosslessClassMakesACycleInAClos", ""}, verdict("a deadlock")},
	},
	{
		id: "I4", title: "Traffic that bounces between two leaves of one host deadlocks",
		story:  "With two leaves to each host, the one whose link is on standby sends the host's packets back up, to reach the other leaf. Down and up again in one lossless priority closes a circle of buffers that stays when the congestion is over. The remedy moved the bounced traffic to priorities of its own.",
		source: "sonic-net/SONiC, doc/qos/tunnel_dscp_remapping.md", plan: []string{"deadlock"}, live: []string{"pfc-deadlock"},
		how:     "Where hosts are joined to two switches and routing.detour is not written, the proof says that detours are not covered.",
		replays: []replay{{"intent/depend", "TestTheBounceOfADualHomedHostNeedsAPriorityOfItsOwn", ""}, verdict("a deadlock")},
	},
	{
		id: "I5", title: "A NIC that begins anew after each lost packet",
		story:  "Firmware that answered a lost packet by sending the whole message again came to a standstill when one packet in 256 was lost: the wire was full, and nothing was ever complete.",
		source: guo + "4.1", plan: []string{"firmware"},
		how: "The operator names the lowest firmware of a model in the catalog of the repo; weir names none by itself.",
	},
	{
		id: "I6", title: "A NIC that misses its translation cache receives slowly",
		story:  "A NIC's cache held the translations of 2,000 pages, 8 MB with pages of 4 KB. With more memory in use it fetched entries over PCIe for each message, fell behind, and sent thousands of PAUSE frames a second.",
		source: guo + "4.4", live: []string{"slow-receiver"},
		seen:    "It names the host, and not that translations are why.",
		replays: []replay{verdict("frames alone, with a queue that drains, are a slow receiver")},
	},
	{
		id: "I7", title: "Hosts that send to themselves receive slowly",
		story:  "RDMA from a host to itself crossed PCIe twice, and left too little of it for what came in. Many hosts paused gently and for long, too little for any watchdog.",
		source: bai + "8.3", live: []string{"slow-receiver"},
		seen:    "It names each host that stops its port for a tenth of the time, and not why.",
		replays: []replay{verdict("a slow receiver pauses gently")},
	},
	{
		id: "I8", title: "MACsec and PFC: one end encrypts, and the other does not expect it",
		story:  "When PFC was switched on for long links with MACsec, alarms of corrupt frames began: the standard leaves open whether PFC frames are encrypted, and makers of switches had decided differently.",
		source: bai + "8.3", plan: []string{"macsec"},
	},
	{
		id: "I9", title: "Generations of NICs answer marks differently",
		story:  "Three generations of NICs had to share a network. They thinned out CNPs at different places, at the receiver or at the sender, and so slowed down too much or too little beside each other, until all were set alike.",
		source: bai + "7.2", plan: []string{"nic-generations"},
		how: "weir compares what the host profiles say of the CNP interval and of how a flow is held to its rate; it does not set them.",
	},
	{
		id: "I10", title: "One slow flow slows down all flows of the NIC",
		story:  "Tests before a rollout found firmware in which the flows of a NIC waited for each other: one that was slowed down for congestion on its path took all others along.",
		source: bai + "8.3", plan: []string{"firmware"},
		how: "The operator names the lowest firmware of a model in the catalog of the repo.",
	},
	{
		id: "I11", title: "A hidden wait of one round trip for each message",
		story:  "The driver's way to register memory waited for the answer of each message before it sent the next, so that the time of an operation grew with the distance between data centres.",
		source: bai + "8.3", plan: []string{"firmware"},
		how: "The operator names the lowest version of the driver in the catalog of the repo.",
	},
	{
		id: "I12", title: "Thresholds of ECN are raised, and PFC fires first",
		story:  "Where the depth at which marking begins is raised and the threshold of PFC is not, senders are paused before they are told to slow down. ECN must come before PFC on every model and in every state of the pool.",
		source: bai + "7.3", plan: []string{"ecn-before-pfc"}, live: []string{"pfc-without-ecn"},
		replays: []replay{verdict("PAUSE comes before ECN")},
	},
	{
		id: "I13", title: "Counting PAUSE frames led the tuning of DCQCN astray",
		story:  "The parameters that NICs came with slowed senders down more than was needed. They were tuned by the time that the slowest messages took, the 99th percentile, and not by the number of PAUSE frames.",
		source: bai + "8.2",
		open:   "weir sets no parameters of DCQCN and measures no message times. That a wave is watched before the next begins (I19) does not judge them.",
	},
	{
		id: "I14", title: "Long links need gigabytes of headroom",
		story:  "Between the data centres of a region what is in flight after a PAUSE comes to gigabytes for one switch. Chips with large buffers were needed, and a pool of headroom that is shared on purpose and by a known ratio.",
		source: bai + "7.1", plan: []string{"headroom", "buffer-fit"}, live: []string{"lossless-drops"},
		how:     "Headroom follows from speed, cable, MTU and chip, and a shared pool has the ratio that buffers.oversubscribe names.",
		replays: []replay{verdict("packets arrived when the headroom was full")},
	},
	{
		id: "I15", title: "Clusters with small buffers have more trouble",
		story:  "Over a large fleet, trouble with RDMA went along with small buffers: the less buffer a switch had, the more there was.",
		source: bai + "9; the sizes: inet-tub/ns3-datacenter, Reverie buffer-size.py, from 85 down to 3.44 kB per port and Gb/s", plan: []string{"small-buffer"},
	},
	{
		id: "I16", title: "DCQCN is switched off for a year, and PFC works alone",
		story:  "At 400G the firmware's DCQCN had changed: it had faults, and counted CNPs wrongly. The operator switched it off and ran on PFC alone for more than a year.",
		source: "Gangidi et al., RDMA over Ethernet for Distributed AI Training at Meta Scale, SIGCOMM 2024, section 5.2.1, as others quote it",
		how:    "PFC without DCQCN is an intent of its own: no check and no verdict objects to it.",
		live:   []string{"cnp-silent"}, seen: "Where DCQCN is on, counts of CNPs that cannot be are told: marks without CNPs, and CNPs that are sent and not handled.",
		replays: []replay{
			verdict("PAUSE without ECN is fine where PFC alone is the intent"), verdict("a NIC does not answer marks"), verdict("CNPs are lost"),
		},
	},
	{
		id: "I17", title: "Few flows, one link: ECMP leaves the others idle",
		story:  "Training sends few and large flows, so that ECMP put several of them on one link while others stood idle, and pinned paths broke when jobs were spread over the fabric: performance fell by more than 30 %. Hashing by queue pair and more queue pairs for each transfer brought up to 40 % back.",
		source: "Gangidi et al., RDMA over Ethernet for Distributed AI Training at Meta Scale, SIGCOMM 2024, as others cite it", plan: []string{"hash-fields"}, live: []string{"incast"},
		how:     "weir sets no hash. It compares what the intent says of it, routing.hash, with what RoCE needs.",
		seen:    "It names the link on which flows collide.",
		replays: []replay{verdict("flows that collide on a link between switches have no culprit")},
	},
	{
		id: "I18", title: "Only large packets are lost, and no counter says so",
		story:  "A fault dropped packets of more than 1 KB and counted none of them. Probes of 64 bytes went through, so that the network looked well.",
		source: "Aegis, NSDI 2025, as others cite it",
		open:   "weir sends no probes of its own, and reads counters only: what no device counts it does not see.",
	},
	{
		id: "I19", title: "Falling back to TCP is an incident by itself",
		story:  "When RDMA failed, the traffic that went over TCP instead was a serious incident by itself. So a rollout must stop at the first thing that is odd, and begin where it hurts least.",
		source: bai + "9", plan: []string{"canary"}, live: []string{"lossless-drops"},
		how:     "Every plan begins with one device alone. Who does not choose it is told so.",
		seen:    "A wave after which packets of a lossless class are dropped is undone, and ends the run.",
		replays: []replay{{"intent/plan", "TestWavesGoFromTheCanaryThroughTheTiersToTheHosts", ""}, {"drivers/apply", "TestAWaveThatTheCountersRefuseIsUndoneAndTheOneBeforeStays", ""}, {"cmd/control", "TestAWaveThatMakesTheNetworkDropIsLedBack", ""}},
	},
	{
		id: "I20", title: "PCP does not cross a router, and trunks break booting",
		story:  "PFC by the PCP of a VLAN tag needs trunk ports, on which hosts did not boot from the network, and the tag is gone behind the first router. The class moved to DSCP.",
		source: guo + "3", plan: []string{"trust"},
	},
	{
		id: "I21", title: "Ports without a cable length got no buffers",
		story:  "Loading QoS anew took the cables from another file than the one in use. Ports that had no length there were left without priority groups.",
		source: "https://github.com/sonic-net/SONiC/issues/223", live: []string{"lossless-drops"},
		how:     "Every lossless port has a length, the link's or that of pfc.cable, and headroom that follows from it; a device that reserves none is told of when it is next read.",
		replays: []replay{{"render/sonic", "TestMissingHeadroomIsSaid", ""}, verdict("packets arrived when the headroom was full")},
	},
	{
		id: "I22", title: "Loading QoS rewrote the whole configuration",
		story:  "A command that was to load QoS anew rewrote all tables of the configuration, and with them what had nothing to do with QoS.",
		source: "https://github.com/sonic-net/sonic-utilities/issues/3479",
		how:    "A plan holds the rows that are weir's and no others, on each route.",
		replays: []replay{
			{"render/sonic", "TestARealPortIsLedThereAndBackAndNothingElseIsTouched", ""}, {"render/sonic", "TestAMapThatAForeignPortUsesIsReportedAndTheRestIsPlanned", ""},
		},
	},
	{
		id: "I23", title: "After a breakout only the first port has a priority group",
		story:  "When a socket was split, the first of its ports got a lossless priority group, and the others none: they dropped.",
		source: "https://github.com/sonic-net/sonic-buildimage/issues/23354 and https://github.com/sonic-net/sonic-swss/issues/2865", plan: []string{"headroom"}, live: []string{"lossless-drops"},
		how:     "Every port of a split socket is a port of its own in the inventory, with its own priority groups in the document.",
		replays: []replay{{"render/sonic", "TestMissingHeadroomIsSaid", ""}, verdict("packets arrived when the headroom was full")},
	},
	{
		id: "I24", title: "A stale storm is replayed at a warm restart",
		story:  "The record of a storm that was over stood in the database when the switch restarted warm. The queue was put back into storm, and dropped everything for good.",
		source: "https://github.com/sonic-net/sonic-swss/issues/4667", live: []string{"pfc-watchdog"},
		replays: []replay{verdict("a queue that is stormed without PAUSE")},
	},
	{
		id: "I25", title: "A watchdog goes in and out of one storm",
		story:  "When all lossless priorities of a port are in storm, the chip stops counting the PAUSE frames by which the watchdog tells that the storm lasts. It ends the storm and finds it again: 170 times in 20 minutes, every 624 ms.",
		source: "https://github.com/sonic-net/sonic-buildimage/issues/29203", plan: []string{"known-bugs"}, live: []string{"pfc-watchdog"},
		replays: []replay{verdict("a watchdog that flaps")},
	},
	{
		id: "I26", title: "A queue in storm goes on sending PAUSE upstream",
		story:  "The watchdog had found the storm and dropped what the queue held, and the switch still paused its neighbours: the storm spread all the same.",
		source: "https://github.com/sonic-net/sonic-buildimage/issues/23444", live: []string{"pfc-watchdog"},
		replays: []replay{verdict("a stormed port that goes on sending PAUSE")},
	},
	{
		id: "I27", title: "No headroom, though the cable has a length",
		story:  "A port had PFC and a cable length, and its headroom was 0: packets were dropped on arrival.",
		source: "https://github.com/sonic-net/SONiC/issues/480", plan: []string{"headroom"}, live: []string{"lossless-drops"},
		how:     "A length for which the switch finds no row is an error; a device that reserves none is told of when it is next read.",
		replays: []replay{{"render/sonic", "TestMissingHeadroomIsSaid", ""}, verdict("packets arrived when the headroom was full")},
	},
	{
		id: "I28", title: "A new chip needs more headroom than the formula gives",
		story:  "The formula that fitted five generations of a chip gave 18 KiB too little for the sixth, and 2 KiB too little where few small packets are expected.",
		source: "https://github.com/sonic-net/sonic-swss/pull/4797 and https://github.com/sonic-net/sonic-swss/pull/4757", plan: []string{"known-bugs"}, live: []string{"lossless-drops"},
		how:     "Each chip has its own numbers in the catalog, and explain shows each term.",
		replays: []replay{{"intent/lossless", "TestEachPartOfTheCellModelCounts", ""}, verdict("packets arrived when the headroom was full")},
	},
	{
		id: "I29", title: "Time stamps of the watchdog silence telemetry",
		story:  "The watchdog wrote a time stamp into the rows of counters so often that the telemetry server, asked to sample them, sent the first update and no other.",
		source: "https://github.com/sonic-net/sonic-buildimage/issues/22201", plan: []string{"known-bugs"}, live: []string{"stale-target"},
		seen:    "Silence is never taken for health.",
		replays: []replay{verdict("a port of a device that answers")},
	},
	{
		id: "I30", title: "Changing buffers under traffic can spoil them",
		story:  "On some chips a change of buffers while packets are in them can leave the memory in disorder, and nothing tells that it happened.",
		source: "https://github.com/project-arlo/SONiC/pull/146",
		how:    "Every change says what it does to traffic on its platform, a change that takes ports down needs --allow-flap, and drops after a wave undo it.",
		live:   []string{"lossless-drops"}, replays: []replay{{"render/sonic", "TestFewChangesGoByGNMI", ""}, {"cmd/control", "TestAWaveThatMakesTheNetworkDropIsLedBack", ""}},
	},
	{
		id: "I31", title: "Configurations drift, on switches and on servers",
		story:  "With many models, releases and hands, what ran was not what was meant. The operator built a monitor that compares both, and found that it must look at servers as well as at switches.",
		source: guo + "5.1", live: []string{"drift"},
		seen:    "Hosts are devices like switches, and are read and compared in the same way.",
		replays: []replay{verdict("drift")},
	},
	{
		id: "I32", title: "The number of PAUSE frames misleads",
		story:  "A PAUSE frame may stop a port for an instant or be renewed without end; only the time for which ports are stopped shows how bad it is, and the chips of switches did not count it.",
		source: guo + "5.2", live: []string{"pfc-storm", "slow-receiver"},
		seen:    "weir judges the time. Where only frames are counted the time follows from them as an upper bound, and the verdict says that it is an estimate.",
		replays: []replay{verdict("a storm that only PAUSE frames show is an estimate, and the queue must stand still"), verdict("frames alone, with a queue that drains, are a slow receiver")},
	},
	{
		id: "I33", title: "A storage service keeps TCP at hand against PFC storms",
		story:  "A large storage service met PFC storms in production, and came to rely on close monitoring.",
		source: "Gao et al., When Cloud Storage Meets RDMA, NSDI 2021, abstract", live: []string{"pfc-storm"},
		seen:    "Moving traffic to TCP is left to the service.",
		replays: []replay{verdict("a NIC storm is told at its origin, with the host at fault")},
	},
}
