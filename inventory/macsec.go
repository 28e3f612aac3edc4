package inventory

import "github.com/weirfabric/weir/intent/source"

// MACsec is the protection of a link by IEEE 802.1AE, and what its ends do with PFC frames. The standard leaves open whether
// those are encrypted, so that makes of switches differ. The words are SONiC's, doc/macsec/MACsec_hld.md, pfc_encryption_mode:
// bypass sends PFC in the clear and obeys both, encrypt sends it encrypted and obeys both, strict sends it encrypted and obeys
// nothing else.
type MACsec struct {
	On  source.Value[bool]   `yaml:"on,alone" doc:"The link has MACsec; it also has where one of the other keys is written."`
	PFC source.Value[string] `yaml:"pfc" enum:"encrypt,bypass,strict" doc:"What both ends do with PFC frames: bypass sends them in the clear, encrypt sends them encrypted, strict does so and ignores those in the clear."`
	A   source.Value[string] `yaml:"a" enum:"encrypt,bypass,strict" doc:"What the end a does with PFC frames, where the ends differ."`
	B   source.Value[string] `yaml:"b" enum:"encrypt,bypass,strict" doc:"What the end b does with PFC frames, where the ends differ."`
}

// Enabled says whether the link has MACsec.
func (m MACsec) Enabled() bool {
	if m.On.Set() {
		return m.On.V
	}
	return m.PFC.Set() || m.A.Set() || m.B.Set()
}

// Modes are what the ends a and b do with PFC frames; not set where the inventory does not say.
func (m MACsec) Modes() (a, b source.Value[string]) { return m.A.Or(m.PFC), m.B.Or(m.PFC) }
