package cli

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
)

// reader sorts the lines of one switch's configuration.
type reader struct {
	*Language
	device  string
	ports   map[string]bool // in the inventory
	frames  []frame
	state   plan.State
	implied plan.Document // what is so by default, as far as the tables of the device say
	strays  []string      // lines that no rule knows, in blocks that weir knows
}

func (l *Language) reader(sw *fabric.Switch) *reader {
	r := &reader{Language: l, device: sw.Name, ports: make(map[string]bool, len(sw.Ports))}
	for _, p := range sw.Ports {
		r.ports[p.Name] = true
	}
	r.frames = append(r.frames, frame{indent: -1, inside: l.grammar})
	r.state.Users, r.state.Facts = map[string][]string{}, map[string]string{}
	return r
}

// read reads lines.
func (r *reader) read(text string) { eachLine(r.pack, text, r.fact, r.line) }

// imply keeps what was read so far apart: it was not configured.
func (r *reader) imply() { r.implied, r.state.Owned, r.state.Rest = r.state.Owned, nil, nil }

// sort brings what was read into order. A default is part of a shared object only where somebody has configured the object:
// else there is nothing yet that could be taken over.
func (r *reader) sort() {
	stands := map[string]bool{}
	for _, l := range r.state.Owned {
		stands[l.Object] = true
	}
	for i, l := range r.implied {
		if !stands[l.Object] {
			r.implied[i].Object = ""
		}
	}
	r.state.Owned = append(r.implied, r.state.Owned...)
	r.state.Owned = lastWins(r.state.Owned)
	r.state.Foreign = lastWins(r.state.Foreign)
	for object, users := range r.state.Users {
		slices.Sort(users)
		r.state.Users[object] = slices.Compact(users)
	}
}

// lastWins sorts the document; of a thing that is said twice the last holds, as on the device.
func lastWins(d plan.Document) plan.Document {
	slices.SortStableFunc(d, plan.Compare)
	out := d[:0]
	for i, l := range d {
		if i+1 == len(d) || plan.Compare(l, d[i+1]) != 0 {
			out = append(out, l)
		}
	}
	return out
}

func (r *reader) fact(comment string) {
	for _, f := range r.pack.Facts {
		maps.Copy(r.state.Facts, f.Groups(comment))
	}
}

func (r *reader) line(l line) {
	n := len(r.frames)
	for r.frames[n-1].indent >= l.indent {
		n--
	}
	r.frames = r.frames[:n]
	in := r.frames[n-1]
	rule, holes, off := in.inside.find(l.words)
	owned := len(r.state.Owned)
	if rule == nil {
		r.stray(in, l)
	} else if rule.inside == nil {
		r.leaves(in, rule, holes, off)
	}
	if rule == nil || rule.inside == nil {
		path := below(in.path, strings.Join(l.words, " "))
		if r.pack.Confirm > 0 && len(r.state.Owned) == owned {
			r.state.Rest = append(r.state.Rest, strings.Join(path, ": "))
		}
		r.frames = append(r.frames, frame{indent: l.indent, path: path})
		return
	}
	r.frames = append(r.frames, r.open(in, rule, holes, l))
}

// stray is a line that no rule knows. Where a whole block is weir's it is weir's as well: nothing else may stand there.
func (r *reader) stray(in frame, l line) {
	if in.inside == nil || in.owner.rule == nil {
		return
	}
	words := strings.Join(l.words, " ")
	r.strays = append(r.strays, words)
	if in.owner.ours && in.owner.whole {
		r.own(in, words, "", "", "")
	}
}

// open enters a block.
func (r *reader) open(in frame, rule *rule, holes binding, l line) frame {
	inherit(holes, in.holes)
	header := strings.Join(l.words, " ")
	f := frame{indent: l.indent, inside: rule.inside, owner: in.owner, holes: holes}
	f.path = below(in.path, header)
	f.owner.rule = rule
	if rule.item.Port != "" {
		f.owner.port = holes[rule.item.Port]
		f.owner.ours = r.ports[f.owner.port]
	}
	if rule.item.Object != "" {
		f.owner.object, f.owner.at = fill(rule.item.Object, holes), fill(rule.item.At, holes)
		f.owner.ours, f.owner.whole = true, rule.item.Whole
		if rule.item.Whole {
			r.state.Owned = append(r.state.Owned, plan.Leaf{Path: f.path, Addr: r.address(f.owner, "", ""), Object: f.owner.object})
		}
	}
	return f
}

// leaves are what a line says.
func (r *reader) leaves(in frame, rule *rule, holes binding, off bool) {
	value := rule.item.OffSays
	if !off {
		value = decimals(rule.value.render(holes))
	}
	ours := in.owner.ours || in.owner.rule == nil
	inherit(holes, in.holes)
	used := fill(rule.item.Uses, holes)
	switch {
	case !ours && used != "":
		r.state.Users[used] = append(r.state.Users[used], in.path[0])
		r.foreign(in, rule, holes, value)
		return
	case ours && rule.item.Clash != "":
		r.foreign(in, rule, holes, value)
		return
	case !ours || (rule.item.Unsaid != "" && value == rule.item.Unsaid):
		return
	}
	object := fill(rule.item.Object, holes)
	if rule.list == "" {
		r.own(in, rule.key.render(holes), value, object, fill(rule.item.At, holes))
		return
	}
	for word := range strings.FieldsSeq(holes[rule.list]) {
		holes[rule.list] = word
		r.own(in, rule.key.render(holes), value, object, fill(rule.item.At, holes))
	}
}

func (r *reader) foreign(in frame, rule *rule, holes binding, value string) {
	r.state.Foreign = append(r.state.Foreign, plan.Leaf{
		Path: below(in.path, rule.key.render(holes)), Value: value, Addr: r.address(in.owner, fill(rule.item.At, holes), ""),
	})
}

func (r *reader) own(in frame, key, value, object, at string) {
	r.state.Owned = append(r.state.Owned, plan.Leaf{
		Path: below(in.path, key), Value: value, Addr: r.address(in.owner, at, key), Object: cmp.Or(object, in.owner.object),
	})
}

// decimals writes the numbers in a value in their shortest form: 0.20 as 0.2. Devices differ in how many places they show.
func decimals(value string) string {
	if !strings.Contains(value, ".") {
		return value
	}
	words := strings.Fields(value)
	for i, w := range words {
		if whole, places, found := strings.Cut(w, "."); found && strings.Trim(whole+places, "0123456789") == "" {
			words[i] = strings.TrimSuffix(strings.TrimRight(w, "0"), ".")
		}
	}
	return strings.Join(words, " ")
}

// inherit gives a line the holes of the blocks around it.
func inherit(holes, outer binding) {
	for name, word := range outer {
		if _, own := holes[name]; !own {
			holes[name] = word
		}
	}
}

// below is the path of what stands in a block.
func below(block []string, key string) []string { return append(block[:len(block):len(block)], key) }

// address is what the operator calls a line: on a port or the device KIND/NAME:VALUE as the grammar says it, and in a
// shared object that as one value of the object.
func (r *reader) address(o owner, at, key string) addr.Addr {
	a := addr.Port(r.device, o.port)
	if o.at != "" {
		a = spell(a, o.at)
		if at == "" {
			return a.With(key)
		}
		return a.With(strings.Map(flat, at))
	}
	if at == "" {
		return a
	}
	return spell(a, at)
}

// flat makes one value of an address: queue/3:share becomes "queue 3 share".
func flat(r rune) rune {
	if r == '/' || r == ':' {
		return ' '
	}
	return r
}

func spell(a addr.Addr, at string) addr.Addr {
	at, leaf, _ := strings.Cut(at, ":")
	kind, name, _ := strings.Cut(at, "/")
	return a.Of(addr.Kind(kind), name).With(leaf)
}
