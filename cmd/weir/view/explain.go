package view

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
)

// Values prints why every number at an address is what it is. A source that is also that of the value above is not repeated
// for the terms of a sum.
func (v View) Values(address string, values []fabric.Value) {
	v.Printf("%s\n", v.Bold(address))
	for i, value := range values {
		v.Printf("\n  %s = %s", v.paint(cyan, value.Name), Quantity(value.Value, value.Unit))
		term := i > 0 && value.Source == values[i-1].Source && strings.Contains(value.Name, ": ")
		if value.Source != "" && !term {
			v.Printf("  %s", v.Dim("("+value.Source+")"))
		}
		v.Printf("\n")
		if value.Formula != "" {
			v.Printf("      = %s\n", value.Formula)
		}
		for _, name := range slices.Sorted(maps.Keys(value.Inputs)) {
			v.Printf("        %s = %s\n", name, input(name, value.Inputs[name]))
		}
		for _, p := range value.At {
			v.Printf("      at %s\n", p)
		}
	}
}

// timed are the inputs that are counted in seconds.
var timed = []string{"seconds", "rtt"}

// input writes an input of a formula for reading.
func input(name string, value any) string {
	switch n := value.(type) {
	case qos.Bytes:
		return Quantity(int64(n), "bytes")
	case float64:
		if slices.Contains(timed, name) {
			return qos.RoundedTime(time.Duration(n * float64(time.Second)))
		}
	}
	return fmt.Sprint(value)
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
		short = qos.Bytes(n).Rounded()
	case "bit/s":
		short = qos.Rate(n).String()
	}
	if short == "" || short == fmt.Sprintf("%dB", n) {
		return s
	}
	return fmt.Sprintf("%s (%s)", short, s)
}
