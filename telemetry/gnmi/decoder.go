package gnmi

import (
	"slices"
	"strings"
	"sync/atomic"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/telemetry"
	"github.com/weirfabric/weir/telemetry/oc"
	"github.com/weirfabric/weir/templates/pack"
)

// Decoder turns notifications into samples. Bindings are compiled into a tree of path elements and tables of field names
// once; an update walks them and nothing else. It is used by one goroutine, but for Learn.
type Decoder struct {
	device   string
	scale    float64
	root     node
	tables   []*table
	expected *telemetry.Expected
	facts    atomic.Pointer[facts]
	paths    []seen
	from     map[*telemetry.Leaf]int // path of each leaf

	out       []telemetry.Sample
	at, taken time.Time
	miss      int
}

// facts are what was asked of the device. A new one replaces the old one whole.
type facts struct {
	ports map[string]string // port by alias
	off   map[string]bool   // groups of counters that are switched off
}

// seen is when something last came from a path.
type seen struct {
	path     string
	every    time.Duration
	held     bool // sent on change only, where silence says nothing
	optional bool // there may be nothing to bring: every field is one that a device lists only when there is something to say
	off      bool // nothing is to come: what it needs is on nowhere
	at       time.Time
}

// NewDecoder compiles the paths of one stream. Scale is how many seconds of the device pass in one of ours: 1, but in a
// laboratory.
func NewDecoder(d telemetry.Device, paths []pack.Path, scale float64) (*Decoder, error) {
	dec := &Decoder{device: d.Name, scale: scale, expected: telemetry.NewExpected(d), from: map[*telemetry.Leaf]int{}}
	dec.Learn(nil, nil)
	for i, p := range paths {
		leaves := telemetry.Leaves(p.Fields)
		every := time.Duration(float64(p.Every) / scale)
		optional := true
		for _, l := range leaves {
			dec.expected.Add(l, every, p.Needs)
			dec.from[l] = i
			optional = optional && l.Absent != pack.AbsentUnsupported
		}
		dec.paths = append(dec.paths, seen{path: p.Path, every: every, held: p.Change, optional: optional, off: !d.Needed(p.Needs)})
		if p.Rows != "" {
			if err := dec.addTable(p, leaves, i); err != nil {
				return nil, err
			}
			continue
		}
		for name, l := range leaves {
			path, err := parsePath(strings.TrimSuffix(p.Path+"/"+name, "/"))
			if err != nil {
				return nil, err
			}
			if err := check(p, path); err != nil {
				return nil, err
			}
			dec.root.add(path.GetElem(), l, i)
		}
	}
	return dec, nil
}

// Learn sets the port of each alias, and the groups of counters that are off. It may be called while Decode runs.
func (d *Decoder) Learn(ports map[string]string, off map[string]bool) {
	d.facts.Store(&facts{ports, off})
}

// Decode gives the samples of a notification, and how many of its updates no binding reads. The samples are valid until the
// next call.
func (d *Decoder) Decode(n *gpb.Notification, at time.Time) (samples []telemetry.Sample, unmatched int) {
	d.out, d.at, d.taken, d.miss = d.out[:0], at, taken(n), 0
	prefix := n.GetPrefix().GetElem()
	for _, u := range n.GetUpdate() {
		if t := d.table(prefix, u.GetPath().GetElem()); t != nil {
			d.rows(t, u.GetVal())
			continue
		}
		w := walk{at: &d.root}
		w.steps(prefix)
		w.steps(u.GetPath().GetElem())
		switch {
		case w.at == nil:
			d.miss++
		case w.at.leaf != nil:
			d.leaf(w, u.GetVal())
		default:
			d.subtree(prefix, u)
		}
	}
	return d.out, d.miss
}

// taken is when the device took the notification, by its own clock; zero: it does not say.
func taken(n *gpb.Notification) time.Time {
	if n.GetTimestamp() <= 0 {
		return time.Time{}
	}
	return time.Unix(0, n.GetTimestamp())
}

// Missing are samples for what was asked for and has not come. Before the stream is settled only those that are zero then.
func (d *Decoder) Missing(at time.Time, settled bool) []telemetry.Sample {
	return d.expected.Missing(at, d.facts.Load().off, settled, func(l *telemetry.Leaf) bool { return d.last(d.paths[d.from[l]].path).IsZero() })
}

// Lost are samples for what has come and does not any more: its path missed more than the given number of samples.
func (d *Decoder) Lost(now time.Time, forgiven int) []telemetry.Sample {
	return d.expected.Lost(now, func(l *telemetry.Leaf) bool { return d.paths[d.from[l]].late(now, forgiven) })
}

// last is when something last came from a path, which several bindings may share; zero: never.
func (d *Decoder) last(path string) time.Time {
	var at time.Time
	for _, p := range d.paths {
		if p.path == path && p.at.After(at) {
			at = p.at
		}
	}
	return at
}

// late says whether a path that is sampled, is to come and has come, missed more than the given number of samples.
func (p *seen) late(now time.Time, forgiven int) bool {
	return !p.held && !p.off && !p.at.IsZero() && now.Sub(p.at) > time.Duration(forgiven+1)*p.every
}

// Silent are the paths that should bring something and do not: that missed more than the given number of samples, or, once the
// stream is settled, have brought nothing since the decoder was made.
func (d *Decoder) Silent(now time.Time, forgiven int, settled bool) []string {
	var out []string
	for i := range d.paths {
		if p := &d.paths[i]; settled && p.at.IsZero() && !p.optional && !p.off || p.late(now, forgiven) {
			out = append(out, p.path)
		}
	}
	return out
}

// Resume forgives what was missed until now, when a stream begins anew.
func (d *Decoder) Resume(now time.Time) {
	for i := range d.paths {
		if !d.paths[i].at.IsZero() {
			d.paths[i].at = now
		}
	}
}

// Stopped is a path that has come and does not any more: it missed more than the given number of samples. Empty: none.
func (d *Decoder) Stopped(now time.Time, forgiven int) string {
	for i := range d.paths {
		if d.paths[i].late(now, forgiven) {
			return d.paths[i].path
		}
	}
	return ""
}

// leaf appends the sample of a leaf.
func (d *Decoder) leaf(w walk, v *gpb.TypedValue) {
	value, status, ok := scalar(w.at.leaf, v)
	if !ok {
		d.miss++
		return
	}
	d.emit(w.at.leaf, w.port, w.number, value, status, w.at.path)
}

func (d *Decoder) emit(l *telemetry.Leaf, port, number string, value float64, status telemetry.Status, path int) {
	d.expected.Saw(l, port)
	d.paths[path].at = d.at
	d.out = append(d.out, telemetry.Sample{Metric: l.Metric, Addr: l.Metric.At(d.device, port, number),
		Value: value, Status: status, At: d.at, Every: d.paths[path].every, Taken: d.taken})
}

// subtree takes apart a value that holds a whole container, by the OpenConfig schema.
func (d *Decoder) subtree(prefix []*gpb.PathElem, u *gpb.Update) {
	body := u.GetVal().GetJsonIetfVal()
	if body == nil {
		body = u.GetVal().GetJsonVal()
	}
	if drivers.Bounded(body) != nil {
		d.miss++
		return
	}
	leaves, err := oc.Leaves(&gpb.Path{Elem: slices.Concat(prefix, u.GetPath().GetElem())}, body)
	if err != nil || len(leaves) == 0 {
		d.miss++
		return
	}
	for _, l := range leaves {
		w := walk{at: &d.root}
		if w.steps(l.GetPath().GetElem()); w.at != nil && w.at.leaf != nil {
			d.leaf(w, l.GetVal())
		}
	}
}
