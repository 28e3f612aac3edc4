package depend

import (
	"maps"
	"slices"
	"strconv"
)

// VirtualLanes is how InfiniBand shares a link between buffers: a packet keeps its service level on the whole way, and each
// switch looks up the virtual lane on the way out by the port in, the port out and the service level.
type VirtualLanes struct {
	Levels []PathLevel
	Tables map[SLPort][]int // the virtual lane of each service level; 0 where nothing is said
}

// PathLevel is the service level of traffic that a host sends to a destination.
type PathLevel struct {
	Switch, Port       int // where the host is plugged in
	Destination, Level int
}

// SLPort is two ports of a switch, by their numbers.
type SLPort struct{ Switch, In, Out int }

// lastLane is the last virtual lane, which is for subnet management; those below it carry data.
const lastLane = 15

// compile makes labels of pairs of a service level and a virtual lane.
func (v *VirtualLanes) compile(l *layout) *extras {
	level := map[int]int{} // the used ones, in rising order
	for _, p := range v.Levels {
		level[p.Level] = 0
	}
	used := slices.Sorted(maps.Keys(level))
	for i, sl := range used {
		level[sl] = i
	}
	lane := func(sw, in, out, sl int) int {
		if t := v.Tables[SLPort{sw, in, out}]; sl < len(t) {
			return t[sl]
		}
		return 0
	}
	x := &extras{labels: max(1, len(used)) * (lastLane + 1)}
	x.lossy, x.ignored = make([]bool, x.labels), make([]bool, x.labels)
	for label := range x.labels {
		x.buffer = append(x.buffer, label%(lastLane+1))
	}
	port := func(a Arc, far bool) int {
		link := l.Links[a.Link()]
		name := link.PortA
		if far == (a&1 == 0) {
			name = link.PortB
		}
		number, _ := strconv.Atoi(name)
		return number
	}
	x.after = func(sw int, in, out Arc, label int) int {
		sl := label / (lastLane + 1)
		return sl*(lastLane+1) + lane(sw, port(in, true), port(out, false), used[sl])
	}
	type from struct{ sw, port, level int }
	to := map[from][]int{}
	for _, p := range v.Levels {
		key := from{p.Switch, p.Port, p.Level}
		to[key] = append(to[key], p.Destination)
	}
	for key, destinations := range to {
		x.starts = append(x.starts, start{sw: key.sw, destinations: destinations, first: func(out Arc) int {
			return level[key.level]*(lastLane+1) + lane(key.sw, key.port, port(out, false), key.level)
		}})
	}
	return x
}
