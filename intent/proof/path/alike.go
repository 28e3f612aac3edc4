package path

import (
	"encoding/binary"
	"slices"

	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
)

// kind is ends between which nothing makes a difference but where they are.
type kind struct {
	like     int           // the first of them, by its place in ends
	at       map[int][]int // the ends, by switch
	switches []int
	count    int
}

// outlook is what matters of an end beside how its ports treat packets: what receives and answers look at.
type outlook struct {
	nic, dcqcn bool
	roce       int
	knows      string // the model, where it does not know the version
	data, cnp  packet
}

func (p *Prover) outlook(e End, data, cnp *packet) outlook {
	o := outlook{data: *data}
	if cnp != nil {
		o.cnp = *cnp
	}
	if n := e.NIC; n != nil {
		o.nic, o.dcqcn, o.roce = true, n.DCQCN, n.RoCE
		if n.Model != nil && len(n.Model.RoCE) > 0 && !slices.Contains(n.Model.RoCE, n.RoCE) {
			o.knows = n.Model.Name
		}
	}
	return o
}

// numbered gives equal values one number.
type numbered[T comparable] map[T]int

func (n numbered[T]) of(v T) int {
	i, ok := n[v]
	if !ok {
		i = len(n)
		n[v] = i
	}
	return i
}

// packed is where each of different packets stands in a list of them.
type packed struct {
	numbered[packet]
	list []*packet
}

func (s *packed) of(k *packet) int {
	i := s.numbered.of(*k)
	if i == len(s.list) {
		s.list = append(s.list, k)
	}
	return i
}

// alike sorts the ends into kinds: by their outlook, and by what their ports do to every packet that is sent.
func (w *all) alike() {
	sent := packed{numbered: numbered[packet]{}}
	for i := range w.ends {
		e := &w.ends[i]
		data := w.sends(&w.assumes, e.End, w.class)
		e.data = sent.of(data)
		if cnp := w.cnpOf(e.End); cnp != nil {
			e.cnp = sent.of(cnp)
		}
	}
	w.assumes.breaks = nil // a lossy class, which fit says as well
	w.packets = sent.list
	looks, outs, ins := numbered[outlook]{}, numbered[egress]{}, numbered[ingress]{}
	byKey := map[string]int{}
	for i := range w.ends {
		e := &w.ends[i]
		var cnp *packet
		if e.cnp >= 0 {
			cnp = w.packets[e.cnp]
		}
		first := w.first(e.End)
		key := binary.AppendUvarint(nil, uint64(looks.of(w.outlook(e.End, w.packets[e.data], cnp))))
		for _, k := range w.packets {
			for _, side := range []fabric.End{e.End.End, first} {
				key = binary.AppendUvarint(key, uint64(outs.of(out(side, k))))
				key = binary.AppendUvarint(key, uint64(ins.of(w.in(side, k))))
			}
		}
		at, ok := byKey[string(key)]
		if !ok {
			at = len(w.kinds)
			byKey[string(key)] = at
			w.kinds = append(w.kinds, kind{like: i, at: map[int][]int{}})
		}
		e.kind = at
		n := &w.kinds[at]
		if n.count++; n.at[e.sw] == nil {
			n.switches = append(n.switches, e.sw)
		}
		n.at[e.sw] = append(n.at[e.sw], i)
	}
}

// describe is a kind for people.
func (w *all) describe(n kind) Alike {
	e := &w.ends[n.like]
	k := w.packets[e.data]
	a := Alike{Like: e.Address(), Count: n.count, Packet: k.public()}
	switch {
	case e.NIC != nil:
		a.Speed = e.NIC.Speed
	case e.Port != nil:
		a.Speed = e.Port.Speed
	}
	if first := w.first(e.End); first.Port != nil {
		a.Port, a.Headroom = first.Address(), w.in(first, k).headroom
	}
	if e.cnp >= 0 && k.ecn != qos.NotECT {
		a.CNP = w.packets[e.cnp].class.Name
	}
	return a
}
