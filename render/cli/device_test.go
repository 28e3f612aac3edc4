package cli

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/render"
	"github.com/weirfabric/weir/render/dialecttest"
)

// device is a switch whose configuration is lines in blocks. It knows what a later line replaces, what "no" takes back,
// and that an object in use cannot go.
type device struct {
	top *node
}

// node is a line, and the block that it opens.
type node struct {
	text string
	kids []*node
}

// replaced are the lines of which only one of a kind can stand: what they begin with.
var replaced = []string{
	"priority-flow-control pause watchdog action ", "priority-flow-control pause watchdog default timeout ",
	"priority-flow-control pause watchdog default polling-interval ", "priority-flow-control pause watchdog default recovery-time ",
	"priority-flow-control pause watchdog port action ", "priority-flow-control pause watchdog port timer ",
	"platform trident mmu headroom-pool limit ", "ingress headroom ", "qos trust ", "mtu ", "service-profile ", "flowcontrol receive ",
	"bandwidth percent ", "bandwidth guaranteed percent ", "random-detect ecn minimum-threshold ", "random-detect drop ", "description ",
}

// foreign is what others configured. Ethernet99 is not in the inventory.
const foreign = `hostname leaf1
!
router bgp 65001
   router-id 192.0.2.1
   neighbor 192.0.2.2 remote-as 65002
!
interface Ethernet99
   mtu 1400
   priority-flow-control on
   service-profile OTHER
!
qos profile OTHER
   qos trust cos
!
interface Ethernet1/1
   description to gpu1
   no switchport
   ip address 198.51.100.0/31
!
`

func start(t *testing.T, _ *fabric.Switch, files []render.File) dialecttest.Device {
	t.Helper()
	d := &device{top: &node{}}
	d.load(t, foreign)
	for _, f := range files {
		d.load(t, string(f.Body))
	}
	return d
}

func (d *device) load(t *testing.T, text string) {
	t.Helper()
	stack := []*node{d.top}
	for raw := range strings.Lines(text) {
		line := strings.TrimSpace(raw)
		if line == "" || strings.HasPrefix(line, "!") {
			continue
		}
		depth := (len(raw) - len(strings.TrimLeft(raw, " "))) / 3
		stack = stack[:depth+1]
		if err := stack[depth].enter(line, &stack); err != nil {
			t.Fatal(err)
		}
	}
}

func (d *device) Answers(queries []plan.Query) []plan.Answer {
	var out []plan.Answer
	for _, q := range queries {
		text := "! Command: show running-config\n! device: leaf1 (DCS-7050CX3-32S, EOS-4.31.1F)\n!\n" + d.top.print("") + "end\n"
		out = append(out, plan.Answer{Name: q.Name, Body: []byte(text)})
	}
	return out
}

func (d *device) Apply(messages []plan.Message) error {
	stack := []*node{d.top}
	for _, m := range messages {
		if m.Op != plan.Line {
			return fmt.Errorf("a message of kind %s", m.Op)
		}
		if m.Body == "exit" {
			if len(stack) == 1 {
				return fmt.Errorf("exit leaves the session")
			}
			stack = stack[:len(stack)-1]
			continue
		}
		if err := stack[len(stack)-1].enter(m.Body, &stack); err != nil {
			return err
		}
	}
	if len(stack) != 1 {
		return fmt.Errorf("%d blocks were not left", len(stack)-1)
	}
	return d.sound()
}

// sound refuses what refers to nothing.
func (d *device) sound() error {
	for _, n := range d.top.kids {
		for _, k := range n.kids {
			if name, uses := strings.CutPrefix(k.text, "service-profile "); uses && d.top.find("qos profile "+name) == nil {
				return fmt.Errorf("%s uses profile %s, which does not stand", n.text, name)
			}
		}
	}
	return nil
}

// enter obeys one line in a block.
func (n *node) enter(line string, stack *[]*node) error {
	opens := strings.HasPrefix(line, "interface ") || strings.HasPrefix(line, "qos profile ") || strings.HasPrefix(line, "router ") ||
		strings.HasPrefix(line, "uc-tx-queue ") || (strings.HasPrefix(line, "platform trident mmu queue profile ") && !strings.HasSuffix(line, " apply"))
	if opens {
		k := n.find(line)
		if k == nil {
			k = &node{text: line}
			n.kids = append(n.kids, k)
		}
		*stack = append(*stack, k)
		return nil
	}
	if form, negative := strings.CutPrefix(line, "no "); negative && line != "no priority" && line != "no switchport" {
		return n.remove(form)
	}
	if list, value, ok := listed(line); ok {
		for _, one := range list {
			n.put(one, one+" to "+value)
		}
		return nil
	}
	switch {
	case line == "no priority" || line == "priority strict":
		n.drop("no priority")
		n.drop("priority strict")
	case strings.HasPrefix(line, "priority-flow-control priority "):
		n.drop(strings.TrimSuffix(line, " drop") + " no-drop")
		if strings.HasSuffix(line, " drop") {
			return nil
		}
	case line == "mtu 1500":
		n.kids = slices.DeleteFunc(n.kids, func(k *node) bool { return strings.HasPrefix(k.text, "mtu ") })
		return nil
	case line == "flowcontrol receive off":
		n.drop("flowcontrol receive on")
		return nil
	case strings.HasSuffix(line, " apply"):
		n.kids = slices.DeleteFunc(n.kids, func(k *node) bool { return strings.HasSuffix(k.text, " apply") })
	case strings.HasPrefix(line, "ingress priority-group ") || strings.HasPrefix(line, "egress unicast "):
		n.put(line[:strings.LastIndex(line, " ")]+" ", line)
		return nil
	}
	for _, prefix := range replaced {
		if strings.HasPrefix(line, prefix) {
			n.put(prefix, line)
			return nil
		}
	}
	n.drop(line)
	n.kids = append(n.kids, &node{text: line})
	return nil
}

// listed splits a line of a map: qos map dscp 1 2 to traffic-class 3.
func listed(line string) (from []string, to string, ok bool) {
	words := strings.Fields(line)
	at := slices.Index(words, "to")
	if len(words) < 3 || words[0] != "qos" || words[1] != "map" || at < 0 {
		return nil, "", false
	}
	for _, w := range words[3:at] {
		from = append(from, strings.Join(append(words[:3:3], w), " "))
	}
	return from, strings.Join(words[at+1:], " "), true
}

// put replaces the line that begins alike.
func (n *node) put(prefix, line string) {
	n.kids = slices.DeleteFunc(n.kids, func(k *node) bool {
		return k.text == prefix || strings.HasPrefix(k.text, strings.TrimSuffix(prefix, " ")+" ")
	})
	n.kids = append(n.kids, &node{text: line})
}

func (n *node) remove(form string) error {
	if list, value, ok := listed(form); ok {
		for _, one := range list {
			if !n.drop(one + " to " + value) {
				return fmt.Errorf("no %s to %s: there is none", one, value)
			}
		}
		return nil
	}
	if form == "priority-flow-control" {
		form = "priority-flow-control on"
	}
	if !n.drop(form) {
		return fmt.Errorf("no %s: there is none in %q", form, n.text)
	}
	return nil
}

func (n *node) drop(text string) bool {
	before := len(n.kids)
	n.kids = slices.DeleteFunc(n.kids, func(k *node) bool { return k.text == text })
	return len(n.kids) < before
}

func (n *node) find(text string) *node {
	for _, k := range n.kids {
		if k.text == text {
			return k
		}
	}
	return nil
}

func (n *node) print(indent string) string {
	var b strings.Builder
	for _, k := range n.kids {
		b.WriteString(indent + k.text + "\n" + k.print(indent+"   "))
	}
	return b.String()
}

// Foreign is the part of the configuration that foreign has.
func (d *device) Foreign() []byte {
	var b strings.Builder
	for _, n := range d.top.kids {
		if n.text == "interface Ethernet1/1" {
			for _, k := range n.kids {
				if strings.Contains(foreign, "   "+k.text+"\n") {
					b.WriteString(n.text + ": " + k.text + "\n")
				}
			}
			continue
		}
		if strings.Contains("\n"+foreign, "\n"+n.text+"\n") {
			b.WriteString(n.text + "\n" + n.print("   "))
		}
	}
	return []byte(b.String())
}
