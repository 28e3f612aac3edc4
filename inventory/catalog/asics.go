package catalog

// The sources of the rows below. sonic-buildimage is that of 23 August 2026 (086b03bd), sonic-mgmt that of the day before.
const (
	sonicASICTable = "sonic-net/sonic-buildimage, platform/mellanox/asic_table.j2"
	dcqcnPaper     = "Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015, section Buffer settings"
	reverie        = "inet-tub/ns3-datacenter, Reverie buffer-size.py: buffer per port and Gb/s"
	gcuASICs       = "sonic-net/sonic-utilities, generic_config_updater/gcu_field_operation_validators.conf.json"
	poolSN4600C    = "sonic-net/sonic-buildimage, src/sonic-config-engine/tests/sample_output/py3, SN4600C: size of egress_lossless_pool"
	// poolOf begins the source of a buffer that is a pool of SONiC's images: the largest that they give out, and what the
	// software keeps for itself is not in it.
	poolOf = "sonic-net/sonic-buildimage, buffers_defaults_*.j2 of device/"

	// What the vendors' images set on a chip, the chip is taken to be able to do.
	watchdogSet    = "watchdog: the chips for which " + gcuASICs + " lets PFC_WD be changed"
	ecnProfiles    = "ECN: ecn_all in sonic-net/sonic-buildimage, qos.json.j2 of device/ and files/build_templates/qos_config.j2"
	cells          = "cell: cell_size in sonic-net/sonic-mgmt, tests/qos/files/qos_params.*.yaml"
	strataAlpha    = "alpha: the values that EOS takes for the MMU of these chips, aristanetworks/avd, platform-trident.j2"
	spectrumAlpha  = "alpha: the values from 1/128 to 64 of NVUE, CumulusNetworks/docs, advance-buffer-config; it takes 0 and infinity too"
	spectrumSource = sonicASICTable + "; " + CellSource + "; " + watchdogSet + "; " + ecnProfiles + "; " + spectrumAlpha
	strataSource   = gcuASICs + "; " + cells + "; " + watchdogSet + "; " + ecnProfiles + "; " + strataAlpha
	sandSource     = gcuASICs + "; " + cells + "; " + watchdogSet + "; " + ecnProfiles
)

// The sources of the headroom models.
const (
	CellSource  = "sonic-net/sonic-swss, cfgmgr/buffer_headroom_mellanox.lua"
	AnnexSource = "IEEE 802.1Qbb annex O (802.1Q annex N); interface delays as Cisco Press publishes them; pause quanta of IEEE 802.3 31B.3.7"
)

// asics are the chips. The delays of the cell model are 0.8 KiB (MAC and PHY) and 3.8 KiB (peer) in every row of its source.
// Of the others only what is named in a source is known: their headroom is the sum of the standard's annex, and on long
// cables that of the published line. How many lossless classes a chip supports, and to what it rounds the thresholds of
// WRED, no source says that was read.
var asics = []ASIC{
	{
		Name: "Spectrum", Buffer: 13945824, Cell: 96, PipelineLatency: 19 << 10, MACPHYDelay: 820, PeerResponse: 3892,
		MACPHYDelayKiB: 0.8, PeerResponseKiB: 3.8, Model: Cell,
		AlphaMin: -7, AlphaMax: 6, ECN: Yes, Watchdog: Yes,
		Source:       spectrumSource,
		BufferSource: poolOf + "mellanox/x86_64-mlnx_msn2700-r0/ACS-MSN2700: egress_lossless_pool",
	},
	{
		Name: "Spectrum-2", Buffer: 34287552, Cell: 144, PipelineLatency: 19 << 10, MACPHYDelay: 820, PeerResponse: 3892,
		MACPHYDelayKiB: 0.8, PeerResponseKiB: 3.8, Model: Cell,
		AlphaMin: -7, AlphaMax: 6, ECN: Yes, Watchdog: Yes,
		Source:       spectrumSource,
		BufferSource: poolOf + "mellanox/x86_64-mlnx_msn3700-r0/ACS-MSN3700: egress_lossless_pool",
	},
	{
		Name: "Spectrum-3", Buffer: 60817392, Cell: 144, PipelineLatency: 19 << 10, MACPHYDelay: 820, PeerResponse: 3892,
		MACPHYDelayKiB: 0.8, PeerResponseKiB: 3.8, Model: Cell,
		AlphaMin: -7, AlphaMax: 6, ECN: Yes, Watchdog: Yes,
		Source:       spectrumSource,
		BufferSource: poolSN4600C,
	},
	{
		Name: "Spectrum-4", Buffer: 158229504, Cell: 192, PipelineLatency: 19 << 10, MACPHYDelay: 820, PeerResponse: 3892,
		MACPHYDelayKiB: 0.8, PeerResponseKiB: 3.8, OnTile: true, Model: Cell,
		AlphaMin: -7, AlphaMax: 6, ECN: Yes, Watchdog: Yes,
		Source:       spectrumSource,
		BufferSource: poolOf + "mellanox/x86_64-nvidia_sn5600-r0/ACS-SN5600: egress_lossless_pool",
	},
	{
		Name: "Spectrum-5", Buffer: 136209408, Cell: 192, PipelineLatency: 19 << 10, MACPHYDelay: 820, PeerResponse: 3892,
		MACPHYDelayKiB: 0.8, PeerResponseKiB: 3.8, OnTile: true, Model: Cell,
		AlphaMin: -7, AlphaMax: 6, ECN: Yes, Watchdog: Yes,
		Source:       spectrumSource,
		BufferSource: poolOf + "mellanox/x86_64-nvidia_sn5640-r0/Mellanox-SN5640-C448O16: egress_lossless_pool",
	},
	{
		Name: "Spectrum-6", Buffer: 226492416, Cell: 256, PipelineLatency: 42 << 10, MACPHYDelay: 820, PeerResponse: 3892,
		MACPHYDelayKiB: 0.8, PeerResponseKiB: 3.8, Extra: 18 << 10, Model: Cell,
		AlphaMin: -7, AlphaMax: 6, ECN: Yes, Watchdog: Yes,
		Source:       spectrumSource,
		BufferSource: poolOf + "mellanox/x86_64-nvidia_sn6600_ld-r0/ACS-SN6600_LD: egress_lossless_pool",
	},
	{
		Name: "Trident II", Buffer: 12e6, Cell: 208, Model: Annex, AlphaMin: -7, AlphaMax: 3, ECN: Yes, Watchdog: Yes,
		Source:       strataSource + "; ECN as " + dcqcnPaper + " uses it",
		BufferSource: dcqcnPaper,
	},
	{
		Name: "Trident 3", Buffer: 32599040, Cell: 256, Model: Annex, AlphaMin: -7, AlphaMax: 3, ECN: Yes, Watchdog: Yes,
		Source:       strataSource,
		BufferSource: poolOf + "arista/x86_64-arista_7050cx3_32s/Arista-7050CX3-32S-C32: egress_lossless_pool",
	},
	{
		Name: "Trident 4", Buffer: 84219120, Model: Annex, AlphaMin: -7, AlphaMax: 3, Watchdog: Yes,
		Source:       gcuASICs + "; " + watchdogSet + "; " + strataAlpha,
		BufferSource: poolOf + "nokia/x86_64-nokia_ixr7220_d4-r0/Nokia-IXR7220-D4-36D: ingress_lossless_pool",
	},
	{
		Name: "Tomahawk", Buffer: 16e6, Cell: 208, Model: Annex, AlphaMin: -7, AlphaMax: 3, ECN: Yes, Watchdog: Yes,
		Source:       strataSource,
		BufferSource: reverie + "; 5.12 kB x 32 x 100 Gb/s = 16.4 MB",
	},
	{
		Name: "Tomahawk 2", Buffer: 43481152, Cell: 208, Model: Annex, AlphaMin: -7, AlphaMax: 3, ECN: Yes, Watchdog: Yes,
		Source:       strataSource,
		BufferSource: poolOf + "common/profiles/th2/7260/BALANCED: egress_lossless_pool",
	},
	{
		Name: "Tomahawk 3", Buffer: 66394076, Cell: 254, Model: Annex, AlphaMin: -7, AlphaMax: 3, Watchdog: Yes,
		Source:       gcuASICs + "; " + cells + "; " + watchdogSet + "; " + strataAlpha,
		BufferSource: poolOf + "dell/x86_64-dellemc_z9332f_d1508-r0/DellEMC-Z9332f-O32: ingress_lossless_pool",
	},
	{
		Name: "Tomahawk 4", Buffer: 113620296, Model: Annex, AlphaMin: -7, AlphaMax: 3, Watchdog: Yes,
		Source:       gcuASICs + "; " + watchdogSet + "; " + strataAlpha,
		BufferSource: poolOf + "dell/x86_64-dell_z9664f-r0/DellEMC-Z9664f-O64: ingress_lossless_pool",
	},
	{
		Name: "Tomahawk 5", Buffer: 166115492, Cell: 254, Model: Annex, AlphaMin: -7, AlphaMax: 3, ECN: Yes, Watchdog: Yes,
		Source:       strataSource,
		BufferSource: poolOf + "arista/x86_64-arista_7060x6_64pe/Arista-7060X6-64PE-O128S2: egress_lossless_pool",
	},
	{
		Name: "Tomahawk 6", Buffer: 257154240, Model: Annex, Watchdog: Yes,
		Source:       gcuASICs + "; " + watchdogSet,
		BufferSource: poolOf + "nokia/x86_64-nokia_ixr7220_h6_128-r0/Nokia-IXR7220-H6-O256: ingress_lossless_pool",
	},
	{
		Name: "Jericho 2", Buffer: 6441610000, Cell: 4096, Model: Linear, ECN: Yes,
		Source:       gcuASICs + "; " + cells + "; " + ecnProfiles,
		BufferSource: poolOf + "arista/x86_64-arista_7800r3_48cq2_lc/Arista-7800R3-48CQ2-C48: ingress_lossless_pool, memory outside the chip included",
	},
	{
		Name: "Jericho 2C+", Buffer: 6441610000, Cell: 4096, Model: Linear, ECN: Yes, Watchdog: Yes,
		Source:       sandSource,
		BufferSource: poolOf + "nokia/x86_64-nokia_ixr7250e_36x400g-r0/Nokia-IXR7250E-36x100G: ingress_lossless_pool, memory outside the chip included",
	},
	{
		Name: "Qumran 3D", Buffer: 25766440000, Cell: 4096, Model: Linear, ECN: Yes, Watchdog: Yes,
		Source:       sandSource,
		BufferSource: poolOf + "arista/x86_64-arista_7280r4_32qf_32df/Arista-7280R4-32QF-32DF-64O: ingress_lossless_pool, memory outside the chip included",
	},
}
