package plan

import "fmt"

var impacts = [...]string{None: "none", Drains: "drains", Flaps: "flaps", Reboots: "reboots"}

func (i Impact) String() string { return impacts[i] }

// MarshalText writes none, drains, flaps or reboots.
func (i Impact) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (i *Impact) UnmarshalText(text []byte) error {
	for n, name := range impacts {
		if name == string(text) {
			*i = Impact(n)
			return nil
		}
	}
	return fmt.Errorf("impact %q: want none, drains, flaps or reboots", text)
}
