package intent

import (
	"fmt"
	"strings"

	"github.com/weirfabric/weir/intent/qos"
)

// Depth is how deep a queue is: in bytes, or as a percentage of the depth at which PFC fires. The zero Depth is not written.
type Depth struct {
	Bytes   qos.Bytes
	Percent qos.Percent
}

// UnmarshalText reads a size or a percentage.
func (d *Depth) UnmarshalText(text []byte) error {
	if strings.HasSuffix(string(text), "%") {
		p, err := qos.ParsePercent(string(text))
		if err != nil || p == 0 {
			return fmt.Errorf("%q is no depth: write a percentage above 0 of the depth at which PFC fires, like 10%%", text)
		}
		*d = Depth{Percent: p}
		return nil
	}
	b, err := qos.ParseBytes(string(text))
	if err != nil || b == 0 {
		return fmt.Errorf("%q is no depth: write a size like 150kB, or a percentage of the depth at which PFC fires, like 10%%", text)
	}
	*d = Depth{Bytes: b}
	return nil
}

// Written says how a depth is written.
func (*Depth) Written() (want, pattern string) {
	return "a size like 150kB or a percentage like 10%", `^[0-9]+(\.[0-9]+)?(B|kB|KiB|MB|MiB|GB|GiB|%)$`
}

// String writes the depth as it is written in the repo; empty where it is not.
func (d Depth) String() string {
	switch {
	case d.Percent > 0:
		return d.Percent.String()
	case d.Bytes > 0:
		return d.Bytes.String()
	}
	return ""
}
