package catalog

// The sources of the rows below.
const (
	sonicASICTable = "sonic-net/sonic-buildimage, platform/mellanox/asic_table.j2"
	sonicHeadroom  = sonicASICTable + "; " + CellSource
	dcqcnPaper     = "Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015, section Buffer settings"
	reverie        = "inet-tub/ns3-datacenter, Reverie buffer-size.py: buffer per port and Gb/s"
	gcuASICs       = "sonic-net/sonic-utilities, generic_config_updater/gcu_field_operation_validators.conf.json"
	poolSN4600C    = "sonic-net/sonic-buildimage, src/sonic-config-engine/tests/sample_output/py3, SN4600C: size of egress_lossless_pool"
)

// The sources of the headroom models.
const (
	CellSource  = "sonic-net/sonic-swss, cfgmgr/buffer_headroom_mellanox.lua"
	AnnexSource = "IEEE 802.1Qbb annex O (802.1Q annex N); interface delays as Cisco Press publishes them; pause quanta of IEEE 802.3 31B.3.7"
)

// asics are the chips. The delays of the cell model are 0.8 KiB (MAC and PHY) and 3.8 KiB (peer) in every row of its source.
// Of the others only what is named in a source is known; their headroom is the sum of the standard's annex.
var asics = []ASIC{
	{
		Name: "Spectrum", Cell: 96, PipelineLatency: 19 << 10, MACPHYDelay: 820, PeerResponse: 3892,
		MACPHYDelayKiB: 0.8, PeerResponseKiB: 3.8, Model: Cell, Source: sonicHeadroom,
	},
	{
		Name: "Spectrum-2", Cell: 144, PipelineLatency: 19 << 10, MACPHYDelay: 820, PeerResponse: 3892,
		MACPHYDelayKiB: 0.8, PeerResponseKiB: 3.8, Model: Cell, Source: sonicHeadroom,
	},
	{
		Name: "Spectrum-3", Buffer: 60817392, Cell: 144, PipelineLatency: 19 << 10, MACPHYDelay: 820, PeerResponse: 3892,
		MACPHYDelayKiB: 0.8, PeerResponseKiB: 3.8, Model: Cell, Source: sonicHeadroom, BufferSource: poolSN4600C,
	},
	{
		Name: "Spectrum-4", Cell: 192, PipelineLatency: 19 << 10, MACPHYDelay: 820, PeerResponse: 3892,
		MACPHYDelayKiB: 0.8, PeerResponseKiB: 3.8, OnTile: true, Model: Cell, Source: sonicHeadroom,
	},
	{
		Name: "Spectrum-5", Cell: 192, PipelineLatency: 19 << 10, MACPHYDelay: 820, PeerResponse: 3892,
		MACPHYDelayKiB: 0.8, PeerResponseKiB: 3.8, OnTile: true, Model: Cell, Source: sonicHeadroom,
	},
	{
		Name: "Spectrum-6", Cell: 256, PipelineLatency: 42 << 10, MACPHYDelay: 820, PeerResponse: 3892,
		MACPHYDelayKiB: 0.8, PeerResponseKiB: 3.8, Extra: 18 << 10, Model: Cell, Source: sonicHeadroom,
	},
	{Name: "Trident II", Buffer: 12e6, Model: Annex, Source: gcuASICs, BufferSource: dcqcnPaper},
	{Name: "Trident 3", Model: Annex, Source: gcuASICs},
	{Name: "Tomahawk", Buffer: 16e6, Model: Annex, Source: gcuASICs, BufferSource: reverie + "; 5.12 kB x 32 x 100 Gb/s = 16.4 MB"},
	{Name: "Tomahawk 2", Model: Annex, Source: gcuASICs},
	{Name: "Tomahawk 3", Model: Annex, Source: gcuASICs},
	{Name: "Tomahawk 4", Model: Annex, Source: gcuASICs},
	{Name: "Tomahawk 5", Model: Annex, Source: gcuASICs},
	{Name: "Jericho 2C+", Model: Annex, Source: gcuASICs},
}
