package intent

import (
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/intent/source"
)

// Buffers is how the shared buffer is shared.
type Buffers struct {
	Alpha         source.Value[Alpha]     `yaml:"alpha" doc:"Dynamic threshold of lossless priority groups, as a fraction of the free buffer: 1/8, 1."`
	LossyAlpha    source.Value[Alpha]     `yaml:"lossyAlpha" doc:"Dynamic threshold of lossy priority groups."`
	Threshold     source.Value[qos.Bytes] `yaml:"threshold" min:"1kB" doc:"Static XOFF threshold of lossless priority groups in bytes, in place of alpha."`
	Oversubscribe source.Value[int]       `yaml:"oversubscribe" min:"0" max:"64" doc:"Shared headroom pool: the sum of all headroom divided by this; 0 is no pool."`
}

// Alpha is a power of two from 1/256 to 128.
type Alpha = qos.AlphaShift
