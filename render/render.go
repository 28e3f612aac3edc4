// Package render is how a device says it: the contract of a device's language, and the difference between what is
// wanted and what runs. Languages are pure: a device in, text out, and back.
package render

import (
	"slices"
	"sync/atomic"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/plan"
)

// Dialect is the language of one family of devices. D is *fabric.Switch or *fabric.Host. Implementations are pure and
// stateless, and may be used from many goroutines at once.
type Dialect[D any] interface {
	// Write says what dev must hold, in full, every value stated and none left to a default. What the language
	// cannot say is a finding, never silence.
	Write(dev D) (plan.Document, diag.List)
	// Queries are what must be asked to Read the device.
	Queries(dev D) []plan.Query
	// Read sorts what the device answered. An error means that an answer is not in this language at all.
	Read(dev D, answers []plan.Answer) (plan.State, error)
	// Script makes the deltas happen. The step has its Changes, Route, Why, Cost, Chunks, Persist, Quiet and Confirm;
	// Bound fills in the rest. Chunks are in an order in which everything is defined before it is used and unused before
	// it is removed, and carry their own undo. A delta that the device would refuse is a finding and is left out.
	Script(dev D, have plan.State, deltas []plan.Delta) (plan.Step, diag.List)
	// What runs is read back in standard words, without knowing what is wanted.
	Lifter[D]
}

// File is one file of a device's configuration, under the name the device itself uses.
type File struct {
	Name string
	Body []byte
}

// Printer lays a document out as the files of the device: config_db.json, startup-config.
type Printer interface {
	Print(doc plan.Document) []File
}

// Tried is a language that knows of harmless things to try on a device beside reading it.
type Tried[D any] interface {
	Trials(dev D) []plan.Trial
}

// Bound is a dialect together with one device: all that plan, apply and the command line see.
type Bound interface {
	// Device is its name in the inventory.
	Device() string
	Platform() string
	Write() (plan.Document, diag.List)
	Queries() []plan.Query
	// Read is the dialect's, with the shared objects that are neither wanted nor weir's moved to the foreign part.
	Read([]plan.Answer) (plan.State, error)
	// Step leads from have to want. A step without changes is what a device in order gets.
	Step(have plan.State, want plan.Document) (plan.Step, diag.List)
	// Undo leads from have back to before, in the order opposite to that of the step from before to have: marking is taken off
	// before PFC is. From where a step has led to, it sends what that step's chunks have for their undo, the last chunk first.
	Undo(have plan.State, before plan.Document) (plan.Step, diag.List)
	Print(plan.Document) []File
	// Trials are what the language has to try on the device; none where it has nothing.
	Trials() []plan.Trial
}

// Language is a dialect that can also print.
type Language[D any] interface {
	Dialect[D]
	Printer
}

// Bind ties a language to a device of the given name and platform. The manifest tells which shared objects are weir's.
func Bind[D any](l Language[D], dev D, name, platform string, m plan.Manifest) Bound {
	return &bound[D]{language: l, dev: dev, name: name, platform: platform, manifest: m}
}

type bound[D any] struct {
	language       Language[D]
	dev            D
	name, platform string
	manifest       plan.Manifest
	wanted         atomic.Pointer[map[string]bool] // the shared objects of the wanted document, once it was written
}

func (b *bound[D]) Device() string                 { return b.name }
func (b *bound[D]) Platform() string               { return b.platform }
func (b *bound[D]) Queries() []plan.Query          { return b.language.Queries(b.dev) }
func (b *bound[D]) Print(doc plan.Document) []File { return b.language.Print(doc) }

func (b *bound[D]) Trials() []plan.Trial {
	if t, has := b.language.(Tried[D]); has {
		return t.Trials(b.dev)
	}
	return nil
}

func (b *bound[D]) Write() (plan.Document, diag.List) {
	doc, findings := b.language.Write(b.dev)
	wanted := map[string]bool{}
	for _, l := range doc {
		wanted[l.Object] = true
	}
	b.wanted.Store(&wanted)
	return doc, findings
}

func (b *bound[D]) Read(answers []plan.Answer) (plan.State, error) {
	state, err := b.language.Read(b.dev, answers)
	if err != nil {
		return state, err
	}
	if b.wanted.Load() == nil {
		b.Write()
	}
	return b.scope(state), nil
}

func (b *bound[D]) Step(have plan.State, want plan.Document) (plan.Step, diag.List) {
	deltas, findings := Diff(b.name, want, have, b.manifest)
	step, refused := b.language.Script(b.dev, have, deltas)
	step.Device, step.Platform = b.name, b.platform
	step.Base, step.Parts = have.Owned.Digest(), have.Owned.Parts()
	return step, slices.Concat(findings, refused, shrinks(b.name, have, deltas))
}

// scope leaves in the owned part what is wanted or weir's, in order: it is compared and hashed more than once.
func (b *bound[D]) scope(s plan.State) plan.State {
	wanted := *b.wanted.Load()
	owned := make(plan.Document, 0, len(s.Owned))
	for _, l := range s.Owned {
		if l.Object == "" || wanted[l.Object] || b.manifest.Has(b.name, l.Object) {
			owned = append(owned, l)
		} else {
			s.Foreign = append(s.Foreign, l)
		}
	}
	owned.Sort()
	s.Owned = owned
	return s
}
