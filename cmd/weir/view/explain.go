package view

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
)

// Values prints why every number at an address is what it is.
func (v View) Values(address string, values []fabric.Value) {
	v.Printf("%s\n", v.Bold(address))
	for _, value := range values {
		v.Printf("\n  %s = %s", v.paint(cyan, value.Name), Quantity(value.Value, value.Unit))
		if value.Source != "" {
			v.Printf("  %s", v.Dim("("+value.Source+")"))
		}
		v.Printf("\n")
		if value.Formula != "" {
			v.Printf("      = %s\n", value.Formula)
		}
		for _, name := range slices.Sorted(maps.Keys(value.Inputs)) {
			v.Printf("        %s = %v\n", name, value.Inputs[name])
		}
		for _, p := range value.At {
			v.Printf("      at %s\n", p)
		}
	}
}

// Quantity writes a value with its unit, bytes and rates also in the form in which people write them.
func Quantity(value any, unit string) string {
	s := strings.TrimSpace(fmt.Sprintf("%v %s", value, unit))
	n, whole := value.(int64)
	if !whole {
		return s
	}
	var short string
	switch unit {
	case "bytes", "B":
		short = qos.Bytes(n).String()
	case "bit/s":
		short = qos.Rate(n).String()
	}
	if short == "" || short == fmt.Sprintf("%dB", n) {
		return s
	}
	return fmt.Sprintf("%s (%s)", short, s)
}
