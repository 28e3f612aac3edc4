package inventory

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/weirfabric/weir/intent/qos"
)

// clos is a Clos with every device, port and cable, as the templates lay it out.
type clos struct {
	Name       string
	Canary     string // the switch that is changed first
	Example    string // the address of a port, for the README
	Switches   []switchGroup
	Hosts      []member
	NICs       nicGroup
	Guarantees []guarantee

	spec   ClosSpec
	models []model
	links  []linkGroup // to hosts, to spines, to cores
}

// switchGroup is switches of one role and model.
type switchGroup struct {
	Role, Platform, SKU, Ports string
	Speed                      qos.Rate
	Lanes                      int
	Devices                    []member
}

// member is a device and its labels, as YAML has them inside braces.
type member struct{ Name, Labels string }

// nicGroup is the NIC ports of every host.
type nicGroup struct {
	Names, RDMA, Model string
	Speed              qos.Rate
}

// guarantee is bandwidth that the lossless queues of a platform need.
type guarantee struct {
	Platform string
	Share    qos.Percent
}

// linkGroup is cables of one length.
type linkGroup struct {
	Up     string // what they lead to: hosts, spines or cores
	Length qos.Metres
	Medium string
	Links  []cable
}

// cable joins two ports. The owner is the switch whose file it stands in.
type cable struct{ A, B, owner string }

// node is a switch that is being cabled.
type node struct {
	name  string
	model *model
}

func (n node) port(i int) string { return n.name + "/" + n.model.ports[i] }

// newClos works a spec out.
func newClos(s ClosSpec) (*clos, error) {
	s.Name, s.Pods, s.NIC = cmp.Or(s.Name, "pod1"), cmp.Or(s.Pods, 1), cmp.Or(s.NIC, usualNIC)
	s.Leaves, s.Spines, s.Cores, s.Links = cmp.Or(s.Leaves, 4), cmp.Or(s.Spines, 2), cmp.Or(s.Cores, 1), cmp.Or(s.Links, 1)
	s.NICs = cmp.Or(s.NICs, min(2, s.Leaves))
	s.HostCable, s.SpineCable = cmp.Or(s.HostCable, usualHostCable), cmp.Or(s.SpineCable, usualSpineCable)
	s.CoreCable = cmp.Or(s.CoreCable, usualCoreCable)
	if min(s.Pods, s.Leaves, s.Spines, s.Cores, s.Links, s.NICs) < 1 || s.Hosts < 0 {
		return nil, errors.New("a Clos has one leaf, spine, link and NIC at least")
	}
	if s.Leaves%s.NICs != 0 && s.Hosts > 0 {
		return nil, fmt.Errorf("%d leaves cannot be grouped by the %d NICs of each host: every NIC goes to another leaf of its group", s.Leaves, s.NICs)
	}
	c := &clos{Name: s.Name, spec: s}
	var err error
	if c.models, err = models(); err != nil {
		return nil, err
	}
	c.links = []linkGroup{
		{Up: "hosts", Length: s.HostCable, Medium: "copper"}, {Up: "spines", Length: s.SpineCable, Medium: "fibre"},
		{Up: "cores", Length: s.CoreCable, Medium: "fibre"},
	}
	return c, c.build()
}

func (c *clos) build() error {
	leaves, err := c.row("leaf", c.spec.Leaf, c.spec.Pods, c.spec.Leaves, true)
	if err != nil {
		return err
	}
	spines, err := c.row("spine", c.spec.Spine, c.spec.Pods, c.spec.Spines, false)
	if err != nil {
		return err
	}
	var cores [][]node
	if c.spec.Pods > 1 {
		if cores, err = c.row("core", c.spec.Core, 1, c.spec.Spines*c.spec.Cores, false); err != nil {
			return err
		}
	}
	if err := c.fits(leaves, spines, cores); err != nil {
		return err
	}
	for pod := range c.spec.Pods {
		c.hosts(pod, leaves[pod])
		c.up(leaves[pod], spines[pod])
		for i, s := range spines[pod] {
			for j := range c.spec.Cores {
				if len(cores) > 0 {
					c.join(2, s.port(len(s.model.ports)/2+j), cores[0][i*c.spec.Cores+j].port(pod), s.name)
				}
			}
		}
	}
	slices.SortStableFunc(c.Switches, func(a, b switchGroup) int { return cmp.Compare(tier(a.Role), tier(b.Role)) })
	c.Canary, c.Example = leaves[0][0].name, leaves[0][0].port(0)
	return nil
}

func tier(role string) int { return slices.Index([]string{"leaf", "spine", "core"}, role) }

// row makes the switches of one role, pod by pod, of models in turn.
func (c *clos) row(role string, platforms []string, pods, each int, racked bool) ([][]node, error) {
	if len(platforms) == 0 {
		platforms = []string{c.models[0].Platform.V}
	}
	rows := make([][]node, pods)
	for pod := range rows {
		for i := range each {
			m, err := pick(c.models, platforms[i%len(platforms)])
			if err == nil {
				m, err = m.first(c.spec.Ports)
			}
			if err != nil {
				return nil, err
			}
			n := node{c.inPod(pods, pod, fmt.Sprintf("%s%d", role, i+1)), m}
			labels := ""
			if pods > 1 {
				labels = fmt.Sprintf("pod: p%d", pod+1)
			}
			if racked {
				labels = c.rack(pod, i/c.spec.NICs)
			}
			rows[pod] = append(rows[pod], n)
			c.add(role, m, member{n.name, labels})
		}
	}
	return rows, nil
}

// inPod is a name, with its pod where there are several.
func (c *clos) inPod(pods, pod int, name string) string {
	if pods == 1 {
		return name
	}
	return fmt.Sprintf("p%d-%s", pod+1, name)
}

// rack is the labels of what stands in a rack: the leaves that share hosts, and those hosts.
func (c *clos) rack(pod, rack int) string {
	if c.spec.Pods == 1 {
		return fmt.Sprintf("rack: r%d", rack+1)
	}
	return fmt.Sprintf("pod: p%d, rack: p%d-r%d", pod+1, pod+1, rack+1)
}

// add puts a switch into the group of its role and model.
func (c *clos) add(role string, m *model, device member) {
	i := slices.IndexFunc(c.Switches, func(g switchGroup) bool { return g.Role == role && g.SKU == m.SKU.V && g.Platform == m.Platform.V })
	if i < 0 {
		i = len(c.Switches)
		c.Switches = append(c.Switches, switchGroup{
			Role: role, Platform: m.Platform.V, SKU: m.SKU.V, Ports: m.Ports.V, Speed: m.Speed.V, Lanes: m.Lanes.V,
		})
	}
	c.Switches[i].Devices = append(c.Switches[i].Devices, device)
	g := guarantee{m.Platform.V, m.Guaranteed.V}
	if m.Guaranteed.Set() && !slices.Contains(c.Guarantees, g) {
		c.Guarantees = append(c.Guarantees, g)
	}
}

// hosts adds the hosts of a pod. They are dealt out to the groups of leaves in turn; the NICs of one go to the leaves of its
// group, one to each.
func (c *clos) hosts(pod int, leaves []node) {
	if c.spec.Hosts == 0 {
		return
	}
	last := c.spec.NICs - 1
	c.NICs = nicGroup{fmt.Sprintf("eth[0-%d]", last), fmt.Sprintf("mlx5_[0-%d]", last), c.spec.NIC, leaves[0].model.Speed.V}
	groups := c.spec.Leaves / c.spec.NICs
	for h := range c.spec.Hosts {
		name := c.inPod(c.spec.Pods, pod, fmt.Sprintf("gpu%d", h+1))
		c.Hosts = append(c.Hosts, member{name, c.rack(pod, h%groups)})
		for nic := range c.spec.NICs {
			leaf := leaves[h%groups*c.spec.NICs+nic]
			c.join(0, leaf.port(h/groups), fmt.Sprintf("%s/eth%d", name, nic), leaf.name)
		}
	}
}

// up joins every leaf of a pod to every spine. The upper half of a leaf's ports go up.
func (c *clos) up(leaves, spines []node) {
	for i, leaf := range leaves {
		for j, spine := range spines {
			for k := range c.spec.Links {
				c.join(1, leaf.port(len(leaf.model.ports)/2+j*c.spec.Links+k), spine.port(i*c.spec.Links+k), leaf.name)
			}
		}
	}
}

func (c *clos) join(group int, a, b, owner string) {
	c.links[group].Links = append(c.links[group].Links, cable{a, b, owner})
}

// fits says what does not fit: too few ports, or ports of different speeds.
func (c *clos) fits(leaves, spines, cores [][]node) error {
	s := c.spec
	below := (s.Hosts*s.NICs + s.Leaves - 1) / s.Leaves
	first := leaves[0][0].model
	for tier, row := range [][][]node{leaves, spines, cores} {
		for _, n := range slices.Concat(row...) {
			half := len(n.model.ports) / 2
			down, up, room := below, s.Spines*s.Links, half
			switch {
			case tier == 1 && s.Pods == 1:
				down, up, room = s.Leaves*s.Links, 0, len(n.model.ports)
			case tier == 1:
				down, up = s.Leaves*s.Links, s.Cores
			case tier == 2:
				down, up, room = s.Pods, 0, len(n.model.ports)
			}
			if down > room || up > len(n.model.ports)-half {
				return fmt.Errorf("%s (%s) has %d ports: too few for %d links down and %d up", n.name, n.model.SKU.V, len(n.model.ports), down, up)
			}
			if n.model.Speed.V != first.Speed.V {
				return fmt.Errorf("%s (%s) has ports of %s, and %s of %s: both ends of a cable have one speed", n.name, n.model.SKU.V, n.model.Speed.V, first.SKU.V, first.Speed.V)
			}
		}
	}
	return nil
}
