// Package linux is a Linux server with RDMA NICs, for the laboratory: SSH, files, the kernel's files of networks and RDMA,
// and the tools dcb, ip, ethtool, rdma, modprobe and systemctl as far as hosts of a lossless network are set up with them.
// It looks like Debian 12 with kernel 6.1, dcb 6.1 and an mlx5 driver that also has MLNX_OFED's files of DCQCN.
package linux

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/weirfabric/weir/drivers/sim"
)

// Device is one server. It may be used from many goroutines.
type Device struct {
	hw   sim.Hardware
	card card
	work sync.WaitGroup // that outlives the connection which asked for it

	mu       sync.Mutex
	user     string // that logs in
	files    map[string]*file
	nics     map[string]*nic
	bonds    map[string]*bond
	services map[string]*service // by name without .service
	profile  map[string]profile  // NetworkManager's, by their id
	modules  map[string]bool
	units    map[string]bool   // enabled
	active   map[string]bool   // running
	unsure   int               // so many changes that dcb makes next end with "Protocol error"
	sent     int               // of those: every other one has taken effect
	refuse   bool              // the next change: the second half of a chunk that is to fail
	said     map[string]told   // by read-only command: what it last said, which a lie repeats
	lies     time.Time         // until then, in device time
	born     int               // so many times the kernel was loaded
	scripts  map[string]script // that were read, by their text
}

// New is a server that starts from a small factory tree and the files of the specification, by their paths.
func New(hw sim.Hardware) sim.Personality {
	d := &Device{hw: hw, card: cardOf(hw.Spec().Files), files: map[string]*file{}, units: map[string]bool{}, scripts: map[string]script{}}
	d.put("/", &file{dir: true})
	for name, body := range factory(hw.Spec().Name) {
		d.put(name, &file{body: []byte(body)})
	}
	for _, dir := range []string{
		"/etc/modules-load.d", "/etc/modprobe.d", "/etc/sysctl.d", "/etc/udev/rules.d", "/etc/security/limits.d",
		"/etc/systemd/system", "/etc/systemd/network", "/etc/NetworkManager/system-connections", "/usr/local/bin",
		"/usr/local/sbin", "/var/lib", "/root", "/home/admin",
	} {
		d.put(dir, &file{dir: true})
	}
	for _, name := range services {
		d.put("/lib/systemd/system/"+name+".service", &file{body: []byte("[Service]\nExecStart=-/usr/sbin/" + name + "\n")})
	}
	for _, unit := range d.card.masters {
		d.put("/lib/systemd/system/"+unit+".service", &file{body: []byte("[Service]\nExecStart=-/usr/sbin/" + unit + "\n")})
	}
	for name, body := range hw.Spec().Files {
		if ofLab(name) {
			continue
		}
		d.put(path.Clean("/"+name), &file{body: slices.Clone(body)})
	}
	d.Restart()
	return d
}

// factory is what an installation put there. Some of it is nobody's business but the operator's.
func factory(name string) map[string]string {
	return map[string]string{
		"/etc/hostname":                 name + "\n",
		"/etc/os-release":               "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\nVERSION_ID=\"12\"\n",
		"/etc/hosts":                    "127.0.0.1 localhost\n127.0.1.1 " + name + "\n",
		"/etc/modules-load.d/site.conf": "nf_conntrack\n",
		"/etc/sysctl.d/10-site.conf":    "vm.swappiness = 10\n",
		"/etc/security/limits.conf":     "# /etc/security/limits.conf\n",
		"/etc/rdma/modules/rdma.conf":   "ib_iser\nib_isert\nib_srpt\nib_uverbs\nrdma_ucm\nrpcrdma\n",
	}
}

// Serves says that the device has SSH only.
func (d *Device) Serves() sim.Protocols { return sim.Protocols{SSH: true} }

// Serve answers until ctx ends.
func (d *Device) Serve(ctx context.Context, s sim.Services) error {
	d.mu.Lock()
	d.user = s.User
	d.mu.Unlock()
	server := sim.NewSSHD(s)
	server.Exec, server.Shell = d.exec, d.shell
	return server.Serve(ctx, s.SSH)
}

// Restart is a reboot: what is on disk stays, and what the kernel was told is forgotten, but for what modules-load.d and
// enabled units tell it again.
func (d *Device) Restart() {
	d.mu.Lock()
	d.loadKernel()
	units := slices.Sorted(maps.Keys(d.units))
	d.mu.Unlock()
	d.startUnits(units)
}

// startUnits runs units, and makes the hardware do what they have said.
func (d *Device) startUnits(units []string) {
	ctx, cancel := context.WithTimeout(context.Background(), longestUnattended)
	defer cancel()
	j := &job{}
	defer j.close()
	for _, unit := range units {
		d.startUnit(ctx, j, unit)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.apply()
}

// loadKernel forgets what the kernel knew, and loads its modules. The caller holds the lock.
func (d *Device) loadKernel() {
	maps.DeleteFunc(d.files, func(name string, _ *file) bool { return isVolatile(name) })
	d.said, d.lies = map[string]told{}, time.Time{}
	d.unsure, d.sent = 0, 0
	d.modules, d.active, d.nics = map[string]bool{}, map[string]bool{}, map[string]*nic{}
	d.bonds, d.profile = map[string]*bond{}, map[string]profile{}
	for _, dir := range []string{"/run", "/tmp"} {
		d.put(dir, &file{dir: true})
	}
	d.put("/dev/null", &file{read: func() string { return "" }, write: func(string) error { return nil }})
	d.born++
	for i, p := range d.hw.Spec().Ports {
		if late := d.card.late[p.Name]; late > 0 {
			d.later(late, func(born int) func() { return func() { d.appear(born, p, i) } }(d.born))
			continue
		}
		d.nics[p.Name] = d.card.newNIC(p, i)
	}
	d.kernelFiles()
	for _, m := range []string{"mlx5_core", "mlx5_ib"} {
		d.loadModule(m)
	}
	d.startServices()
	d.startNetworks()
	for _, name := range d.glob("/etc/modules-load.d/*.conf") {
		for line := range strings.Lines(string(d.files[name].body)) {
			if m := strings.TrimSpace(line); m != "" && m[0] != '#' && m[0] != ';' {
				d.loadModule(m)
			}
		}
	}
}

// Wait returns when nothing is running that outlived its connection.
func (d *Device) Wait() { d.work.Wait() }

// Config is what the server is set to: the files of /etc, and what the kernel was told.
func (d *Device) Config() []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(d.files)) {
		if f := d.files[name]; strings.HasPrefix(name, "/etc/") && !f.dir && !marks(name) {
			fmt.Fprintf(&out, "# %s\n%s", name, f.body)
		}
	}
	p := &process{d: d, root: true, stdout: &out, stderr: &out}
	for _, n := range d.sorted() {
		port := n.port
		for _, command := range []string{
			"dcb dcbx show dev ", "dcb pfc show dev ", "dcb ets show dev ", "dcb -N app show dev ", "dcb buffer show dev ",
			"ip link show dev ", "ethtool -a ",
		} {
			out.WriteString("# " + command + port.Name + "\n")
			words := strings.Fields(command + port.Name)
			tools()[words[0]](p, words[1:])
		}
	}
	for _, name := range append(d.glob("/sys/class/net/*/bonding/*"), d.glob(configfs+"/*/ports/1/*")...) {
		value, err := d.readFile(name)
		if err == nil {
			fmt.Fprintf(&out, "# %s\n%s", name, value)
		}
	}
	return []byte(out.String())
}

// apply makes the hardware do what the kernel was told. The caller holds the lock.
func (d *Device) apply() { d.hw.Apply(d.behaviour()) }
