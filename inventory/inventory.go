// Package inventory is what exists: switches and hosts, their ports, the links between them, and how to reach them.
package inventory

import (
	"net/netip"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/intent/source"
	"github.com/weirfabric/weir/inventory/catalog"
)

// Inventory is all that the inventory/ folder of a fabric repo says, in the order of its files.
type Inventory struct {
	Devices []*Device
	Links   []*Link
	// InfiniBand is the subnets of an InfiniBand network and the routers between them; empty without one.
	InfiniBand InfiniBand
	Catalog    *catalog.Catalog // what is known of chips and NICs; nil: the built-in rows alone
}

// Device is a switch or, with platform linux, a host.
type Device struct {
	Name       source.Value[string]
	Platform   source.Value[string] // sonic, eos, linux: the language and the transports
	SKU        source.Value[string] // as the vendor writes it; leads to the ASIC in the catalog
	Release    source.Value[string] // of its software, as the vendor writes it; not set: not said
	Role       source.Value[string] // leaf, spine, gpu ...
	State      source.Value[State]  // not set: Active
	Labels     map[string]string
	Management Management
	Ports      []Port
	Bonds      []Bond // of a host, whose addresses the inventory has
	At         diag.Pos
}

// Host says whether the device is a host.
func (d *Device) Host() bool { return d.Platform.V == "linux" }

// Port is a port of a switch, or a NIC port of a host.
type Port struct {
	Name     string               // as the device calls it: Ethernet0, Ethernet1/1, eth0
	Speed    qos.Rate             // after breakout
	Lanes    int                  // 0 where the inventory does not say
	Breakout string               // as the operator writes it: 4x100G; empty: none
	NIC      string               // of a host: the model in the catalog
	RDMA     string               // of a host: the RDMA device, mlx5_0
	Firmware source.Value[string] // of a NIC; not set: not said
	Driver   source.Value[string] // of a NIC; not set: not said
	At       diag.Pos             // shared by the ports that one line of the inventory declares
}

// Bond is what the inventory knows of a host's bond. Which ports it has, a host profile says.
type Bond struct {
	Name      string
	Addresses []netip.Prefix // an address each, with the length of its subnet
	At        diag.Pos
}

// Management is how a device is reached. Secrets (Password, Key) are references, env:NAME, file:PATH or exec:COMMAND, resolved
// when a connection is made. A port that is not set is the platform's usual one.
type Management struct {
	Address       source.Value[string] `yaml:"address" form:"address" doc:"Host name or IP address; {name} stands for the device's name."`
	GNMI          source.Value[int]    `yaml:"gnmi" min:"1" max:"65535" doc:"TCP port of gNMI; without it the platform's usual one."`
	SSH           source.Value[int]    `yaml:"ssh" min:"1" max:"65535" doc:"TCP port of SSH; without it 22."`
	User          source.Value[string] `yaml:"user" form:"user" doc:"Name to log in with."`
	Password      source.Value[string] `yaml:"password" form:"reference" doc:"Reference to the password: env:NAME, file:PATH or exec:COMMAND."`
	Key           source.Value[string] `yaml:"key" form:"reference" doc:"Reference to an SSH private key in PEM: env:NAME, file:PATH or exec:COMMAND."`
	CA            source.Value[string] `yaml:"ca" form:"file" doc:"PEM file of the authorities that sign the devices' certificates, relative to the repo."`
	Cert          source.Value[string] `yaml:"cert" form:"file" doc:"PEM file of weir's own certificate, relative to the repo; {name} stands for the device's name."`
	CertKey       source.Value[string] `yaml:"certKey" form:"file" doc:"PEM file of the certificate's key, relative to the repo; {name} stands for the device's name."`
	ServerName    source.Value[string] `yaml:"serverName" form:"address" doc:"The name in the device's certificate, where it is not the address; {name} stands for the device's name."`
	HostKeys      source.Value[string] `yaml:"hostKeys" form:"file" doc:"known_hosts file, relative to the repo."`
	TLS           source.Value[string] `yaml:"tls" enum:"verify,skip-verify,plaintext" doc:"How far gNMI is secured; without it verify."`
	HostKey       source.Value[string] `yaml:"hostKey" enum:"verify,any" doc:"Whether SSH host keys are verified; without it verify."`
	SSHAlgorithms source.Value[string] `yaml:"sshAlgorithms" enum:"secure,any" doc:"Whether SSH may fall back to algorithms that are broken (SHA-1 in key exchange and host keys, CBC); without it secure."`
}

// Link joins two ports.
type Link struct {
	A, B   End
	Length source.Value[qos.Metres]
	Medium source.Value[string] // copper, fibre; empty: not said
	MACsec MACsec
	At     diag.Pos
}

// End is one end of a link.
type End struct {
	Device, Port string
	At           diag.Pos
}
