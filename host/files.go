package host

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/weirfabric/weir/host/memlock"
	"github.com/weirfabric/weir/host/nic"
	"github.com/weirfabric/weir/host/rdma"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/templates"
)

// The files that are weir's, each as a whole.
const (
	modulesFile = "/etc/modules-load.d/weir.conf"
	limitsFile  = "/etc/security/limits.d/90-weir.conf"
	bootScript  = "/usr/local/sbin/weir-host"
	unit        = "weir-host.service"
	unitFile    = "/etc/systemd/system/" + unit
)

var paths = []string{modulesFile, limitsFile, bootScript, unitFile}

var layouts = template.Must(template.New("host").Option("missingkey=error").ParseFS(templates.FS, "host/*.tmpl"))

// files are the leaves of weir's files. What stands in the rest of the document the boot script says again.
func files(h *fabric.Host, doc plan.Document) (plan.Document, diag.List) {
	var findings diag.List
	var out plan.Document
	lay := func(path, layout string, data map[string]any) {
		var text bytes.Buffer
		if err := layouts.ExecuteTemplate(&text, layout, data); err != nil {
			findings.Errorf(check, h.Address(), nil, "the layout of %s has a mistake: %v", path, err)
			return
		}
		out = append(out, file(h.Name, path, text.String()))
	}
	var modules []string
	for _, m := range h.Modules {
		modules = append(modules, m.Name)
	}
	lay(modulesFile, "modules.conf.tmpl", map[string]any{"Modules": modules})
	lay(bootScript, "boot.sh.tmpl", map[string]any{"Unit": unit, "Parts": boot(h, doc)})
	lay(unitFile, "boot.service.tmpl", map[string]any{"Script": bootScript, "Devices": devices(h)})
	if h.Memlock != "" {
		limit, err := loginLimit(h.Memlock)
		if err != nil {
			findings.Errorf(check, h.Address().Of(addr.Hosts, "").With("memlock"), h.At, "%v", err)
			return out, findings
		}
		lay(limitsFile, "limits.conf.tmpl", map[string]any{"Memlock": limit})
	}
	return append(out, enabled(h.Name)), findings
}

func file(host, path, body string) plan.Leaf {
	return plan.Leaf{Path: []string{"file", path}, Value: body, Addr: fileAddr(host, path)}
}

func fileAddr(host, path string) addr.Addr {
	a := addr.Device(host)
	if of, unfinished := strings.CutSuffix(path, plan.Unfinished); unfinished {
		whole := fileAddr(host, of)
		return whole.With(whole.Leaf + "-unfinished")
	}
	switch path {
	case modulesFile:
		return a.Of(addr.Module, "").With("boot")
	case limitsFile:
		return a.Of(addr.RoCE, "").With("memlock")
	case unitFile:
		return a.Of(addr.RoCE, "").With("unit")
	}
	return a.Of(addr.RoCE, "").With("boot")
}

func enabled(host string) plan.Leaf {
	return plan.Leaf{Path: []string{"unit", unit}, Value: "enabled", Addr: addr.Device(host).Of(addr.RoCE, "").With("enabled")}
}

// loginLimit is what limits.conf takes: unlimited, or KiB.
func loginLimit(written string) (string, error) {
	size, err := memlock.Parse(written)
	if err != nil || size == 0 {
		return memlock.Unlimited, err
	}
	return strconv.FormatInt(int64(size)/1024, 10), nil
}

// part is what the boot script tells one device, once it is there.
type part struct {
	Device   string // its directory, as a word of the script
	Commands []string
}

// boot are the commands that make a host that was just started what the document says.
func boot(h *fabric.Host, doc plan.Document) []part {
	var out []part
	for _, n := range managed(h) {
		var deltas []plan.Delta
		for _, l := range doc {
			if l.Path[0] == n.Name {
				deltas = append(deltas, plan.Delta{Leaf: l, Action: plan.Create})
			}
		}
		port, device := split(deltas)
		for _, p := range []struct {
			device   string
			messages []plan.Message
		}{
			{"/sys/class/net/" + n.Name, nic.Messages(n.Name, port, nic.Sharing(n.Name, doc, nil), false)},
			{"/sys/class/infiniband/" + n.RDMA, rdma.Messages(n, device, false)},
		} {
			if len(p.messages) == 0 {
				continue
			}
			told := part{Device: plan.Word(p.device)}
			for _, m := range p.messages {
				told.Commands = append(told.Commands, shell(m))
			}
			out = append(out, told)
		}
	}
	return out
}

// devices are systemd's units of the NICs: systemd.device(5). One that appears starts what it wants.
func devices(h *fabric.Host) []string {
	var out []string
	for _, n := range managed(h) {
		out = append(out, "sys-subsystem-net-devices-"+escaped(n.Name)+".device")
	}
	return out
}

// escaped is a name as a part of a unit's: systemd.unit(5), string escaping for inclusion in unit names.
func escaped(name string) string {
	var out strings.Builder
	for i, c := range []byte(name) {
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == ':' || c == '.' && i > 0
		switch {
		case plain:
			out.WriteByte(c)
		case c == '/':
			out.WriteByte('-')
		default:
			fmt.Fprintf(&out, `\x%02x`, c)
		}
	}
	return out.String()
}

// shell is the message as a line of a script. What only some drivers have is passed over where it is not there, and 802.3x
// where it is off already, which some releases of ethtool call a failure.
func shell(m plan.Message) string {
	if m.Op == plan.Run && strings.HasPrefix(m.Body, "ethtool -A ") {
		return m.Body + " || true"
	}
	if m.Op == plan.Run {
		return m.Body
	}
	path := plan.Word(m.Path)
	write := plan.Command("echo", m.Body) + " > " + path
	if rdma.Optional(m.Path) {
		return fmt.Sprintf("[ ! -e %s ] || %s", path, write)
	}
	return write
}

// nicMessages set up a NIC: first that it loses nothing, last how it marks what it sends. Backwards the other way round. have is
// what it is before the deltas.
func nicMessages(n *fabric.NIC, have plan.Document, deltas []plan.Delta, backwards bool) []plan.Message {
	port, device := split(deltas)
	sharing := nic.Sharing(n.Name, have, port)
	first, last := nic.Messages(n.Name, port, sharing, backwards), rdma.Messages(n, device, backwards)
	if backwards {
		return append(last, first...)
	}
	return append(first, last...)
}

// split tells the deltas of a netdev from those of its RDMA device.
func split(deltas []plan.Delta) (port, device []plan.Delta) {
	for _, d := range deltas {
		if rdma.Owns(d.Leaf) {
			device = append(device, d)
		} else {
			port = append(port, d)
		}
	}
	return port, device
}

// unfinished is all that is known of a file whose writing was cut off. Where one stood before a change, an empty one stands for it
// when the change is undone.
const unfinished = "unfinished"

// unfinishedCommand names those of weir's files of which a piece was left behind.
func unfinishedCommand() string {
	words := []string{"for f in"}
	for _, path := range paths {
		words = append(words, path+plan.Unfinished)
	}
	return strings.Join(words, " ") + `; do [ ! -e "$f" ] || echo "$f"; done; echo end`
}

// readFiles are the leaves of those of weir's files that stand, and whether the unit is enabled.
func readFiles(host string, said map[string]string) plan.Document {
	var doc plan.Document
	for _, path := range paths {
		if body, ok := said[strings.TrimPrefix(path, "/")]; ok {
			doc = append(doc, file(host, path, body))
		}
	}
	for line := range strings.Lines(said[unfinishedQuery]) {
		if path := strings.TrimSpace(line); slices.Contains(paths, strings.TrimSuffix(path, plan.Unfinished)) {
			doc = append(doc, file(host, path, unfinished))
		}
	}
	if strings.TrimSpace(said[unitQuery]) == "enabled" {
		doc = append(doc, enabled(host))
	}
	return doc
}
