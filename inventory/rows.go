package inventory

import (
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/intent/source"
)

// catalogDoc is a document of kind Catalog: rows that the built-in catalog does not have, or has otherwise.
type catalogDoc struct {
	ASICs []asicRow `yaml:"asics" doc:"Switch chips. A row of a name that the catalog has replaces what it says and leaves the rest."`
	SKUs  []skuRow  `yaml:"skus" doc:"Models of switches. A row of a name that the catalog has replaces what it says and leaves the rest."`
	NICs  []nicRow  `yaml:"nics" doc:"Models of RDMA NICs. A row of a name that the catalog has replaces what it says and leaves the rest."`
	Bugs  []bugRow  `yaml:"bugs" doc:"Known faults of switch software. A row of a name that the catalog has takes its place."`
}

type asicRow struct {
	Name            source.Value[string]         `yaml:"name,required" form:"model" doc:"Name of the chip."`
	Buffer          source.Value[qos.Bytes]      `yaml:"buffer" min:"1B" doc:"Packet buffer in all: 32MB."`
	Cell            source.Value[qos.Bytes]      `yaml:"cell" min:"1B" doc:"Unit in which the chip stores packets: 208B."`
	PipelineLatency source.Value[qos.Bytes]      `yaml:"pipelineLatency" min:"1B" doc:"What may arrive before the chip decides to send PAUSE."`
	MACPHYDelay     source.Value[qos.Bytes]      `yaml:"macPhyDelay" min:"1B" doc:"What is on its way in the MAC and PHY of a port."`
	PeerResponse    source.Value[qos.Bytes]      `yaml:"peerResponse" min:"1B" doc:"What a peer may still send until it obeys PAUSE."`
	Model           source.Value[string]         `yaml:"model" enum:"cell,annex,linear" doc:"How headroom is worked out: cell counts cells, annex is the sum of IEEE 802.1Qbb, linear is for switches with long cables."`
	LosslessClasses source.Value[int]            `yaml:"losslessClasses" min:"1" max:"8" doc:"The most lossless classes that the chip supports."`
	AlphaMin        source.Value[qos.AlphaShift] `yaml:"alphaMin" doc:"The least dynamic threshold that can be set: 1/128."`
	AlphaMax        source.Value[qos.AlphaShift] `yaml:"alphaMax" doc:"The largest dynamic threshold that can be set: 8."`
	ECN             source.Value[bool]           `yaml:"ecn" doc:"Whether the chip can mark packets with ECN."`
	Watchdog        source.Value[bool]           `yaml:"watchdog" doc:"Whether the chip can watch for PFC storms."`
	ThresholdUnit   source.Value[qos.Bytes]      `yaml:"thresholdUnit" min:"1B" doc:"To which the chip rounds the thresholds of WRED: 208B."`
	Source          source.Value[string]         `yaml:"source" doc:"Where these numbers come from."`
	At              diag.Pos
}

type skuRow struct {
	Name     source.Value[string] `yaml:"name,required" form:"model" doc:"The model, as its vendor writes it and as devices have it in sku."`
	ASIC     source.Value[string] `yaml:"asic" form:"model" doc:"Name of the chip in it, as the catalog has it."`
	Computes source.Value[bool]   `yaml:"computes" doc:"Whether the switch works headroom out by itself from speed and cable length."`
	Headroom source.Value[string] `yaml:"headroom" form:"file" doc:"File in inventory/ with the vendor's table of headroom, like inventory/tables/leaf.ini, in the columns of pg_profile_lookup.ini: speed cable size xon xoff threshold. computed: the switch uses no table, as with a dynamic buffer model."`
	Source   source.Value[string] `yaml:"source" doc:"Where this comes from."`
	At       diag.Pos
}

type nicRow struct {
	Name       source.Value[string] `yaml:"name,required" form:"model" doc:"The model, as NIC ports have it in model."`
	RoCE       []source.Value[int]  `yaml:"roce" min:"1" max:"2" doc:"The versions of RoCE that it speaks: [1, 2]."`
	Firmware   source.Value[string] `yaml:"firmware" form:"version" doc:"The lowest firmware that may run."`
	Driver     source.Value[string] `yaml:"driver" form:"version" doc:"The lowest driver that may run."`
	Generation source.Value[int]    `yaml:"generation" min:"1" max:"1000" doc:"Generation: NICs of different ones may answer congestion marks differently."`
	Source     source.Value[string] `yaml:"source" doc:"Where this comes from."`
	At         diag.Pos
}

type bugRow struct {
	Name     source.Value[string] `yaml:"name,required" form:"model" doc:"The fault as its makers know it: repository and number."`
	Platform source.Value[string] `yaml:"platform" form:"name" doc:"The platform that has it; without it any."`
	ASICs    []string             `yaml:"asics" form:"model" doc:"The chips that have it, as the catalog names them; without it all."`
	Releases []string             `yaml:"releases" form:"version" doc:"The releases that have it, with all that follows them behind a dot; without it all."`
	Action   source.Value[string] `yaml:"action" enum:"drop,forward,alert" doc:"The action of the watchdog with which it shows; without it any."`
	Summary  source.Value[string] `yaml:"summary,required" doc:"What happens, in one line."`
	Remedy   source.Value[string] `yaml:"remedy,required" doc:"What to do about it."`
	Source   source.Value[string] `yaml:"source" doc:"Where it is described."`
	At       diag.Pos
}
