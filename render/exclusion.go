package render

import (
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/fabric"
)

// Exclusion is settings that a device does not give back as they were written, and why. docs/platforms.md lists them.
type Exclusion struct {
	Of   addr.Addr // the settings, with neither device nor port
	Back string    // what comes back, in words
	Why  string    // with its source, where it is a fact of the platform
	// As is what comes back of a value that is written; nil: the value itself.
	As func(written string) string
	// Silent says that some values, or all, are not said at all, so that what comes back is not known.
	Silent bool
	// Theirs says that the setting is the platform's: what comes back is what the device has, whatever was wanted.
	Theirs bool
}

// Back says whether a setting that was written may come back as it did: back is what was lifted, known how it is known, and usual the
// default that holds where it was not read.
func Back(list []Exclusion, written fabric.Setting, back string, known fabric.Reading, usual string) bool {
	x := Covers(list, written.At)
	switch {
	case known == fabric.Strange:
		return false
	case known != fabric.Known:
		return usual != "" && usual == written.Value || x != nil && (x.Silent || x.Theirs)
	case back == written.Value:
		return true
	}
	return x != nil && (x.Theirs || x.As != nil && x.As(written.Value) == back)
}

// Covers is the exclusion that a setting falls under; nil where it comes back whole.
func Covers(list []Exclusion, at addr.Addr) *Exclusion {
	at.Device, at.Port = "", ""
	for i := range list {
		if list[i].Of.Contains(at) {
			return &list[i]
		}
	}
	return nil
}
