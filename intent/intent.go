// Package intent is what must hold: the classes, thresholds and policies that operators write in the intent/ folder of a
// fabric repo and in fabric.yaml.
package intent

import (
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/intent/source"
)

// Fabric is all that the intent says. The same settings may be written for the whole fabric and, nearer, in overrides.
type Fabric struct {
	Name      source.Value[string] `yaml:"name" form:"name" doc:"Name of the fabric."`
	Classes   []Class              `yaml:"classes" doc:"The classes of traffic, from end to end. The one named default, or the one of priority 0, takes what no other names."`
	Settings  Settings             `yaml:",inline"` // of every device that no override says otherwise for
	Overrides []Override
	Hosts     []HostProfile
	Routing   Routing  `yaml:"routing" doc:"What the deadlock proof may assume."`
	Apply     Apply    `yaml:"apply" doc:"How changes are made."`
	Accept    []Waiver `yaml:"accept" doc:"Findings that were weighed and accepted."`
}

// Override says settings nearer than the fabric's. Of several that select the same thing the nearest wins: a port before a
// device, a device before labels, labels before a role; of equally near ones the later in the repo.
type Override struct {
	Name     source.Value[string] `yaml:"name" form:"name" doc:"Name of the override."`
	Select   Selector             `yaml:"select,required" doc:"The devices and ports that it is about."`
	Settings Settings             `yaml:",inline"`
	Classes  []ClassOverride      `yaml:"classes" doc:"What is different about classes of the fabric."`
	At       diag.Pos
}

// ClassOverride is what an override says of one class.
type ClassOverride struct {
	Name          source.Value[string] `yaml:"name,required" form:"name" doc:"Name of a class of the fabric."`
	ClassSettings `yaml:",inline"`
}

// Settings is what can be said of the whole fabric and, nearer, of roles, labels, devices and ports.
type Settings struct {
	MTU         source.Value[qos.Bytes] `yaml:"mtu" min:"576B" max:"65535B" doc:"The IP MTU; each language converts it."`
	Trust       source.Value[qos.Trust] `yaml:"trust" enum:"dscp,pcp" doc:"The header field that ports classify by."`
	FlowControl source.Value[bool]      `yaml:"flowControl" doc:"IEEE 802.3x flow control, which pauses a whole link: never on a lossless port."`
	PFC         PFC                     `yaml:"pfc" doc:"How losslessness is kept, or off for ECN only."`
	Buffers     Buffers                 `yaml:"buffers" doc:"How the shared buffer is shared."`
}
