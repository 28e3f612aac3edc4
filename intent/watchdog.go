package intent

import (
	"time"

	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/intent/source"
)

// Watchdog is the detection of PFC deadlock and storm, and the recovery.
type Watchdog struct {
	Off         source.Value[bool]               `yaml:"off,alone" doc:"No watchdog."`
	Detection   source.Value[time.Duration]      `yaml:"detection" min:"10ms" max:"60s" doc:"PAUSE for this long without progress is a storm."`
	Restoration source.Value[time.Duration]      `yaml:"restoration" min:"0s" max:"60s" doc:"Quiet for this long ends it; 0s: it never ends by itself."`
	Poll        source.Value[time.Duration]      `yaml:"poll" min:"10ms" max:"60s" doc:"How often the switch looks."`
	Action      source.Value[qos.WatchdogAction] `yaml:"action" enum:"drop,forward,alert" doc:"What becomes of the queue."`
}
