package intent

import (
	"time"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/source"
)

// HostProfile is what must hold on the hosts it selects.
type HostProfile struct {
	Name            source.Value[string]   `yaml:"name" form:"name" doc:"Name of the profile."`
	Select          Selector               `yaml:"select" doc:"The hosts and NIC ports that it is about; all without it."`
	RoCE            RoCE                   `yaml:"roce" doc:"How the RDMA NICs send."`
	Modules         []source.Value[string] `yaml:"modules" form:"name" doc:"Kernel modules to load, beside those that the profile implies."`
	Memlock         source.Value[string]   `yaml:"memlock" form:"memlock" doc:"How much memory the rdma group may pin: unlimited, or a size."`
	MemlockServices []source.Value[string] `yaml:"memlockServices" form:"name" doc:"Services of systemd that may pin as much, without .service: slurmd, containerd."`
	Bond            Bond                   `yaml:"bond" doc:"The ports stand in for each other."`
	At              diag.Pos
}

// RoCE is how the RDMA NICs of a host send.
type RoCE struct {
	Version           source.Value[int]    `yaml:"version" min:"1" max:"2" doc:"RoCE v1 or v2."`
	Class             source.Value[string] `yaml:"class" form:"name" doc:"The class that RDMA is sent in; without it the only lossless one."`
	CNP               source.Value[string] `yaml:"cnp" form:"name" doc:"The class that CNPs are sent in; without it the one named cnp."`
	CongestionControl source.Value[string] `yaml:"congestionControl" enum:"dcqcn,none" doc:"How senders slow down when they are marked."`

	// What NICs of several generations must have in common. weir compares it and does not set it.
	CNPInterval source.Value[time.Duration] `yaml:"cnpInterval" min:"1us" max:"1s" doc:"The shortest time between two CNPs of a flow that the NICs are set to. weir does not set it: it compares it where NICs differ in generation."`
	RateLimit   source.Value[string]        `yaml:"rateLimit" form:"name" doc:"How the NICs are set to hold a flow to its rate, in a word of yours: packet, burst. weir does not set it: it compares it where NICs differ in generation."`
}
