package inventory

import (
	"reflect"
	"sync"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/intent/source"
)

// switchesDoc is a document of kind Switches.
type switchesDoc struct {
	Defaults switchDefaults `yaml:"defaults" doc:"What holds for every switch of this document that does not say otherwise."`
	Switches []switchSpec   `yaml:"switches,required" doc:"The switches."`
}

type switchDefaults struct {
	common `yaml:",inline"`
	Ports  []portSpec `yaml:"ports" doc:"Ports of every switch of this document."`
}

type switchSpec struct {
	identity `yaml:",inline"`
	common   `yaml:",inline"`
	Ports    []portSpec `yaml:"ports" doc:"Ports of this switch, beside those of the defaults or in place of those of the same name."`
}

// hostsDoc is a document of kind Hosts.
type hostsDoc struct {
	Defaults hostDefaults `yaml:"defaults" doc:"What holds for every host of this document that does not say otherwise."`
	Hosts    []hostSpec   `yaml:"hosts,required" doc:"The hosts."`
}

type hostDefaults struct {
	common `yaml:",inline"`
	NICs   []nicSpec `yaml:"nics" doc:"RDMA NIC ports of every host of this document."`
}

type hostSpec struct {
	identity `yaml:",inline"`
	common   `yaml:",inline"`
	NICs     []nicSpec  `yaml:"nics" doc:"NIC ports of this host, beside those of the defaults or in place of those of the same name."`
	Bonds    []bondSpec `yaml:"bonds" doc:"Bonds of this host, which a host profile makes of its NIC ports."`
}

type bondSpec struct {
	Name      source.Value[string]   `yaml:"name,required" form:"netdev" doc:"Name of the bond, as the host profile calls it."`
	Addresses []source.Value[string] `yaml:"addresses,required" form:"interface" doc:"Its IP addresses, each with the length of its subnet: 10.0.9.7/24."`
	At        diag.Pos
}

// linksDoc is a document of kind Links.
type linksDoc struct {
	Defaults linkDefaults `yaml:"defaults" doc:"What holds for every link of this document that does not say otherwise."`
	Links    []linkSpec   `yaml:"links,required" doc:"The links."`
}

// identity is the name of a device, or the names of several that are alike.
type identity struct {
	Name  source.Value[string] `yaml:"name" form:"name" doc:"Name of the device."`
	Names source.Value[names]  `yaml:"names" form:"name" doc:"Names of several devices that are alike: leaf[1-16]."`
	At    diag.Pos
}

// common is what switches and hosts have in common.
type common struct {
	Platform   source.Value[string] `yaml:"platform" form:"name" doc:"The language that the device speaks."`
	SKU        source.Value[string] `yaml:"sku" form:"model" doc:"Model of the hardware, as its vendor writes it."`
	Release    source.Value[string] `yaml:"release" form:"version" doc:"Release of the software that the device runs, as its vendor writes it: 202411."`
	Role       source.Value[string] `yaml:"role" form:"name" doc:"What the device is in the fabric: leaf, spine, gpu."`
	State      source.Value[State]  `yaml:"state" enum:"active,maintenance,planned,unmanaged" doc:"What weir does with the device: active, which is the default; maintenance: it is not changed and not judged; planned: it is on paper and never dialled; unmanaged: it is somebody else's, never written nor read."`
	Labels     map[string]string    `yaml:"labels" form:"label" doc:"Labels that overrides and host profiles can select by."`
	Management Management           `yaml:"management" doc:"How the device is reached."`
}

// portNames is the name of a port, or the names of several that are alike.
type portNames struct {
	Name  source.Value[string] `yaml:"name" form:"port" doc:"Name of the port, as the device calls it."`
	Names source.Value[names]  `yaml:"names" form:"port" doc:"Names of several ports that are alike: Ethernet[0-252/4]."`
	At    diag.Pos
}

type portSpec struct {
	portNames `yaml:",inline"`
	Speed     source.Value[qos.Rate] `yaml:"speed,required" min:"1G" max:"6.4T" doc:"Speed of the port, after breakout."`
	Lanes     source.Value[int]      `yaml:"lanes" min:"1" max:"16" doc:"Electrical lanes of the port."`
	Breakout  source.Value[string]   `yaml:"breakout" form:"breakout" doc:"How the socket is split: 4x100G."`
}

// nicNames is the name of a NIC port, or the names of several that are alike.
type nicNames struct {
	Name  source.Value[string] `yaml:"name" form:"netdev" doc:"Name of the port, as the host calls it."`
	Names source.Value[names]  `yaml:"names" form:"netdev" doc:"Names of several ports that are alike: eth[0-7]."`
	At    diag.Pos
}

type nicSpec struct {
	nicNames `yaml:",inline"`
	Speed    source.Value[qos.Rate] `yaml:"speed,required" min:"1G" max:"6.4T" doc:"Speed of the NIC port."`
	Model    source.Value[string]   `yaml:"model" form:"model" doc:"Model of the NIC, as the catalog calls it."`
	Firmware source.Value[string]   `yaml:"firmware" form:"version" doc:"Firmware that the NIC runs: 20.31.1014. It is compared with the lowest that the catalog allows for the model."`
	Driver   source.Value[string]   `yaml:"driver" form:"version" doc:"Version of the NIC's driver: 24.10-1.1.4. It is compared with the lowest that the catalog allows for the model."`
	RDMA     source.Value[names]    `yaml:"rdma" form:"rdma" doc:"RDMA device of the port: mlx5_0; of several ports as many: mlx5_[0-7]."`
}

type linkDefaults struct {
	Length source.Value[qos.Metres] `yaml:"length" min:"1m" doc:"Length of the cable."`
	Medium source.Value[string]     `yaml:"medium" enum:"copper,fibre" doc:"What the cable is made of."`
	MACsec MACsec                   `yaml:"macsec" doc:"MACsec on the link, and what its ends do with PFC frames. The word on says the first and not the second."`
}

type linkSpec struct {
	A            source.Value[names] `yaml:"a,required" form:"end" doc:"One end, DEVICE/PORT. With ranges several ends: leaf1/Ethernet[0-12/4]."`
	B            source.Value[names] `yaml:"b,required" form:"end" doc:"The other end, DEVICE/PORT. With ranges as many as the first has, end by end: spine[1-4]/Ethernet0."`
	linkDefaults `yaml:",inline"`
	At           diag.Pos
}

// grammar is the kinds of document in inventory/. It is worked out once: it depends on nothing but the types.
var grammar = sync.OnceValue(func() *source.Grammar {
	g := source.NewGrammar(
		source.Kind{Name: "Switches", Doc: "Switches and their ports.", Type: reflect.TypeFor[switchesDoc]()},
		source.Kind{Name: "Hosts", Doc: "Hosts and their RDMA NIC ports.", Type: reflect.TypeFor[hostsDoc]()},
		source.Kind{Name: "Links", Doc: "The cables between ports.", Type: reflect.TypeFor[linksDoc]()},
		source.Kind{Name: "Subnets", Doc: "InfiniBand subnets, the routers between them, and which talk.", Type: reflect.TypeFor[subnetsDoc]()},
		source.Kind{Name: "Catalog", Doc: "What is known of chips, models of switches and NICs beyond weir's own catalog.", Type: reflect.TypeFor[catalogDoc]()},
	)
	g.Elsewhere = map[string]string{"Fabric": "into fabric.yaml or a file in intent/", "Override": "into fabric.yaml or a file in intent/"}
	return g
})

// Schema is the JSON Schema (draft 2020-12) of the files in inventory/.
func Schema() []byte { return grammar().Schema("weir: inventory") }
