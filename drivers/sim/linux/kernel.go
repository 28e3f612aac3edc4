package linux

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// configfs is where RDMA-CM's defaults are set, once its module is loaded.
const configfs = "/sys/kernel/config/rdma_cm"

// needs are the modules that the kernel has, and what each brings with it.
var needs = map[string][]string{
	"mlx5_core": nil, "mlx5_ib": {"mlx5_core", "ib_uverbs"}, "ib_core": nil, "ib_uverbs": {"ib_core"}, "configfs": nil,
	"ib_cm": {"ib_core"}, "iw_cm": {"ib_core"}, "rdma_cm": {"ib_cm", "iw_cm", "configfs"}, "rdma_ucm": {"rdma_cm", "ib_uverbs"},
	"ib_umad": {"ib_core"}, "ib_ipoib": {"ib_cm"}, "rdma_rxe": {"ib_uverbs"}, "ib_iser": {"rdma_cm"}, "ib_isert": {"rdma_cm"},
	"ib_srpt": {"rdma_cm"}, "rpcrdma": {"rdma_cm"}, "sunrpc": nil, "xprtrdma": {"rpcrdma"}, "svcrdma": {"rpcrdma"},
	"nf_conntrack": nil, "bonding": nil, "8021q": nil, "dummy": nil,
}

// loadModule loads a module and what it needs. It returns whether there is such a module.
func (d *Device) loadModule(name string) bool {
	name = strings.ReplaceAll(name, "-", "_")
	others, known := needs[name]
	if !known {
		return false
	}
	for _, other := range others {
		d.loadModule(other)
	}
	d.modules[name] = true
	if name == "rdma_cm" && d.files[configfs] == nil {
		d.put(configfs, &file{dir: true})
	}
	return true
}

func modprobe(p *process, args []string) int {
	options, names := flags(args)
	if !p.root {
		return p.fail(1, "modprobe: ERROR: could not insert '%s': %v", strings.Join(names, " "), errForbidden)
	}
	if !options['a'] && len(names) > 1 {
		names = names[:1] // the rest are parameters
	}
	for _, name := range names {
		if options['r'] {
			if status := p.unload(strings.ReplaceAll(name, "-", "_")); status != 0 {
				return status
			}
		} else if !p.d.loadModule(name) {
			return p.fail(1, "modprobe: FATAL: Module %s not found in directory /lib/modules/6.1.0-56-amd64", name)
		}
	}
	return 0
}

// unload removes a module. What RDMA-CM was told is forgotten with its module.
func (p *process) unload(name string) int {
	switch {
	case len(p.d.users(name)) > 0:
		return p.fail(1, "modprobe: FATAL: Module %s is in use.", name)
	case !p.d.modules[name]:
		return 0
	}
	delete(p.d.modules, name)
	if name == "rdma_cm" {
		p.d.removeTree(configfs)
		for _, n := range p.d.nics {
			n.mode, n.tos = defaultMode, 0
		}
	}
	return 0
}

// users of a module are the loaded ones that need it.
func (d *Device) users(module string) []string {
	var out []string
	for name := range d.modules {
		if slices.Contains(needs[name], module) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// loaded is the loaded modules by name.
func (d *Device) loaded() []string {
	var out []string
	for name := range d.modules {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func (d *Device) procModules() string {
	var out strings.Builder
	for _, name := range d.loaded() {
		users := d.users(name)
		list := "-"
		if len(users) > 0 {
			list = strings.Join(users, ",") + ","
		}
		fmt.Fprintf(&out, "%s 65536 %d %s Live 0x0000000000000000\n", name, len(users), list)
	}
	return out.String()
}

func (d *Device) lsmod() string {
	out := "Module                  Size  Used by\n"
	for _, name := range d.loaded() {
		users := d.users(name)
		out += strings.TrimRight(fmt.Sprintf("%-20s  65536  %d %s", name, len(users), strings.Join(users, ",")), " ") + "\n"
	}
	return out
}

// kernelFiles makes what the kernel shows of modules, networks and RDMA devices.
func (d *Device) kernelFiles() {
	d.put("/sys/kernel/config", &file{dir: true})
	d.put("/sys/module", &file{dir: true})
	d.show("/sys/class/net/lo/mtu", func() string { return "65536\n" })
	d.show("/proc/modules", d.procModules)
	d.show("/proc/sys/kernel/osrelease", func() string { return "6.1.0-56-amd64\n" })
	for _, n := range d.nics {
		d.nicFiles(n)
	}
}

// nicFiles are those of a NIC.
func (d *Device) nicFiles(n *nic) {
	d.netFiles(n)
	if n.rdma != "" {
		d.rdmaFiles(n)
	}
}

// show makes a file that the kernel answers for and nobody writes.
func (d *Device) show(name string, read func() string) { d.put(name, &file{read: read}) }

// netFiles are those of a netdev.
func (d *Device) netFiles(n *nic) {
	dir := "/sys/class/net/" + n.port.Name + "/"
	line := func(v any) string { return fmt.Sprintln(v) }
	d.show(dir+"operstate", func() string { return strings.ToLower(line(operstate(d.carrier(n)))) })
	d.show(dir+"carrier", func() string {
		if d.carrier(n) {
			return "1\n"
		}
		return "0\n"
	})
	d.show(dir+"address", func() string { return line(n.address) })
	d.show(dir+"ifindex", func() string { return line(n.index) })
	d.show(dir+"speed", func() string { return line(n.port.Speed.Mbps()) })
	d.show(dir+"device/uevent", func() string { return "DRIVER=mlx5_core\nPCI_SLOT_NAME=" + n.slot() + "\n" })
	d.show(dir+"device/sriov_numvfs", func() string { return "0\n" })
	d.put(dir+"mtu", &file{read: func() string { return line(n.mtu) }, write: func(v string) error {
		mtu, err := strconv.Atoi(v)
		if err != nil || mtu < lowestMTU || mtu > highestMTU {
			return errInvalid
		}
		n.mtu = mtu
		return nil
	}})
	if n.rdma == "" {
		return
	}
	d.put(dir+"device/infiniband/"+n.rdma, &file{dir: true})
	for name := range n.dcqcn {
		// MLNX_OFED's driver reads a number and checks no range.
		d.put(dir+"ecn/"+name, &file{read: func() string { return line(n.dcqcn[name]) }, write: func(v string) error {
			value, err := strconv.Atoi(strings.TrimSpace(v))
			if err != nil {
				return errInvalid
			}
			n.dcqcn[name] = value
			return nil
		}})
	}
}
