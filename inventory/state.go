package inventory

// State is what weir does with a device. The zero value is Active.
type State string

// The states. Whatever the state, the device and its cables are part of the fabric that is resolved, checked and proven.
const (
	Active      State = "active"      // it is planned, changed and watched
	Maintenance State = "maintenance" // it is left alone for now: not changed, not judged, and nobody is alarmed
	Planned     State = "planned"     // it exists on paper: it is never dialled
	Unmanaged   State = "unmanaged"   // somebody else's: never written nor read; of it is known what the intent states
)

// StateOf is what the inventory says of the device, or Active.
func (d *Device) StateOf() State {
	if d.State.Set() {
		return d.State.V
	}
	return Active
}

// Managed says whether the configuration of the device is weir's, now or later.
func (d *Device) Managed() bool { return d.StateOf() != Unmanaged }
