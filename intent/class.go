package intent

import (
	"time"

	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/intent/source"
)

// Class is a class of traffic from end to end. Its priority is also its traffic class, queue and priority group unless
// they are written.
type Class struct {
	Name          source.Value[string]         `yaml:"name,required" form:"name" doc:"Name of the class."`
	Lossless      source.Value[bool]           `yaml:"lossless" doc:"PFC keeps the class from being dropped."`
	DSCP          []source.Value[qos.DSCP]     `yaml:"dscp" min:"0" max:"63" doc:"The DSCPs that are classified into the class."` // the class named default, or the one of priority 0, takes the rest
	PCP           []source.Value[qos.Priority] `yaml:"pcp" min:"0" max:"7" doc:"The PCPs of the VLAN tag that are classified into the class; its priority where none is written."`
	Priority      source.Value[qos.Priority]   `yaml:"priority,required" min:"0" max:"7" doc:"The IEEE 802.1p priority, which is also the traffic class and, unless written, the queue."`
	Queue         source.Value[qos.Queue]      `yaml:"queue" min:"0" max:"7" doc:"The egress queue, where it is not the number of the priority."`
	ClassSettings `yaml:",inline"`
}

// ClassSettings is what an override may say of a class.
type ClassSettings struct {
	Share      source.Value[qos.Percent] `yaml:"share" doc:"Share of the bandwidth that strict classes leave."`
	Strict     source.Value[bool]        `yaml:"strict" doc:"The class is sent before all classes that are not strict."`
	Guaranteed source.Value[qos.Percent] `yaml:"guaranteed" doc:"Bandwidth that the queue always gets."`
	FanIn      source.Value[int]         `yaml:"fanIn" min:"2" max:"1024" doc:"How many senders must be able to start towards one port at the same moment without PFC."`
	ECN        ECN                       `yaml:"ecn" doc:"The marking curve; auto, to have it worked out from speed, round trip and buffer; or off for a class of PFC only."`
}

// ECN is the marking curve of a class. Off says that the class is PFC only. Auto is what holds for a lossless class where
// nothing is written; written, it ends what documents farther away say of the curve.
type ECN struct {
	Off         source.Value[bool]          `yaml:"off,alone" doc:"Nothing is marked."`
	Auto        source.Value[bool]          `yaml:"auto,alone" doc:"The thresholds that are not written beside it follow from the port's speed, the round trip and the depth at which PFC fires."`
	Min         source.Value[Depth]         `yaml:"min" doc:"Queue depth at which marking begins: a size, or a percentage of the depth at which PFC fires."`
	Max         source.Value[Depth]         `yaml:"max" doc:"Queue depth above which everything is marked: a size, or a percentage of the depth at which PFC fires."`
	Probability source.Value[qos.Percent]   `yaml:"probability" doc:"Probability of marking at the upper depth."`
	RTT         source.Value[time.Duration] `yaml:"rtt" min:"1us" max:"100ms" doc:"Round trip between hosts; thresholds that are not written follow from it. 12us without it."`
	Flows       source.Value[int]           `yaml:"flows" min:"1" max:"1000000" doc:"How many senders with DCQCN may share a port at once, and marking must still hold them below max."`
}
