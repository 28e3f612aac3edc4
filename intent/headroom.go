package intent

import (
	"fmt"

	"github.com/weirfabric/weir/intent/qos"
)

// Headroom is either worked out by weir (Auto) or written in bytes.
type Headroom struct {
	Auto  bool
	Bytes qos.Bytes
}

// UnmarshalText reads auto or a size.
func (h *Headroom) UnmarshalText(text []byte) error {
	if string(text) == "auto" {
		*h = Headroom{Auto: true}
		return nil
	}
	b, err := qos.ParseBytes(string(text))
	if err != nil || b == 0 {
		return fmt.Errorf("%q is no headroom: write auto, or a size like 96kB", text)
	}
	*h = Headroom{Bytes: b}
	return nil
}

// Written says how headroom is written.
func (*Headroom) Written() (want, pattern string) {
	return "auto or a size like 96kB", `^(auto|[0-9]+(\.[0-9]+)?(B|kB|KiB|MB|MiB|GB|GiB))$`
}
