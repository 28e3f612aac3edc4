package drivertest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/drivers/drivertest"
	"github.com/weirfabric/weir/drivers/gnmi"
	"github.com/weirfabric/weir/drivers/sim"
	"github.com/weirfabric/weir/drivers/sim/eos"
	"github.com/weirfabric/weir/drivers/sim/linux"
	"github.com/weirfabric/weir/drivers/sim/sonic"
	"github.com/weirfabric/weir/drivers/ssh"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/templates"
)

// scale is how many seconds pass for a device in a second: its waits and timers are real, and short.
const scale = 20

// device is one device of the laboratory, with one setting: the description of a port, or a file.
type device struct {
	*sim.Lab
	endpoint drivers.Endpoint
	gnmi     gnmi.Dialer
	ssh      ssh.Dialer
}

// everywhere checks a transport in memory on virtual time, and on loopback where the device has no timer: one would run while the machine
// has much else to do.
func everywhere(t *testing.T, timers bool, fresh func(t *testing.T, n *sim.Network) drivertest.Harness) {
	if !timers {
		t.Run("on loopback", func(t *testing.T) {
			drivertest.Run(t, timers, func(t *testing.T) drivertest.Harness { return fresh(t, nil) })
		})
	}
	t.Run("in memory", func(t *testing.T) {
		drivertest.RunVirtual(t, timers, func(t *testing.T) drivertest.Harness { return fresh(t, sim.NewNetwork()) })
	})
}

// start makes a lab of one device, on loopback where there is no network.
func start(t *testing.T, spec sim.Spec, n *sim.Network) device {
	t.Helper()
	lab, err := sim.New([]sim.Spec{spec}, sim.Options{
		Scale: scale, Dir: t.TempDir(), Network: n,
		Personalities: map[string]func(sim.Hardware) sim.Personality{"eos": eos.New, "linux": linux.New, "sonic": sonic.New},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lab.Close(); err != nil {
			t.Error(err)
		}
	})
	// The lab is closed by the cleanup, after the connections: the context of a test ends before.
	if err := lab.Start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	user, password := lab.Credentials()
	overGNMI, overSSH := lab.Endpoint(spec.Name)
	d := device{lab, drivers.Endpoint{
		Device: spec.Name, Platform: spec.Platform, GNMI: overGNMI, SSH: overSSH, User: user, Password: drivers.Secret(password),
		TLS: drivers.TLS{CA: lab.CAFile()}, HostKeys: lab.KnownHosts(),
	}, gnmi.Dialer{Packs: templates.FS}, ssh.Dialer{Packs: templates.FS}}
	if n != nil {
		d.gnmi.DialContext, d.ssh.DialContext = n.DialContext, n.DialContext
	}
	return d
}

// another is a second network beside n, for a device of the same name; nil where there is none.
func another(n *sim.Network) *sim.Network {
	if n == nil {
		return nil
	}
	return sim.NewNetwork()
}

// holds is the setting that the device has.
func (d device) holds(t *testing.T) string {
	t.Helper()
	body, err := d.Config(d.endpoint.Device)
	if err != nil {
		t.Error(err)
	}
	for _, word := range []string{"before", "after"} {
		if strings.Contains(string(body), word) {
			return word
		}
	}
	return string(body)
}

// fault injects what goes wrong with an operation.
func (d device) fault(t *testing.T, on sim.Operation, f drivertest.Fault) {
	t.Helper()
	names := map[drivertest.Fault]sim.FaultKind{drivertest.Hang: sim.Hang, drivertest.Disconnect: sim.Drop}
	if err := d.Inject(sim.Fault{Kind: names[f], Device: d.endpoint.Device, On: on}); err != nil {
		t.Error(err)
	}
}

func ask(via plan.Via, text string) plan.Query {
	return plan.Query{Name: "q", Ways: []plan.Way{{Via: via, Text: text}}}
}

func send(op plan.Op, bodies ...string) plan.Chunk {
	var c plan.Chunk
	for _, b := range bodies {
		c.Send = append(c.Send, plan.Message{Op: op, Body: b})
	}
	return c
}

func TestSessionsOnTheLaboratorysEOS(t *testing.T) {
	everywhere(t, true, func(t *testing.T, n *sim.Network) drivertest.Harness {
		d := start(t, sim.Spec{
			Name: "leaf1", Platform: "eos", SKU: "DCS-7060CX-32S", Ports: []sim.PortSpec{{Name: "Ethernet1/1", Speed: 100e9}},
			Files: map[string][]byte{"startup-config": []byte("hostname leaf1\n!\ninterface Ethernet1/1\n   description before\n!\nend\n")},
		}, n)
		other := d.endpoint
		other.HostKeys = start(t, sim.Spec{Name: "leaf1", Platform: "eos", SKU: "DCS-7060CX-32S"}, another(n)).KnownHosts()
		return drivertest.Harness{
			Dialer: d.ssh, Endpoint: d.endpoint, Stranger: other, Route: plan.SSHSession,
			Good:   send(plan.Line, "interface Ethernet1/1", "description after"),
			Bad:    send(plan.Line, "interface Ethernet1/1", "description after", "priority-flow-control perhaps"),
			Query:  ask(plan.SSH, "show running-config"),
			Absent: ask(plan.SSH, "show nothing of the kind"),
			Holds:  func() string { return d.holds(t) },
			Fault:  func(f drivertest.Fault) { d.fault(t, sim.Commit, f) },
			Expire: func() { d.pass(t, 21*time.Second) },
		}
	})
}

// pass waits until device time has passed.
func (d device) pass(t *testing.T, span time.Duration) {
	t.Helper()
	select {
	case <-time.After(span / scale):
	case <-t.Context().Done():
	}
}

func leaf(t *testing.T, n *sim.Network) device {
	t.Helper()
	return start(t, sim.Spec{
		Name: "leaf1", Platform: "sonic", SKU: "Mellanox-SN4600C-C64", Ports: []sim.PortSpec{{Name: "Ethernet0", Alias: "etp1", Speed: 100e9}},
		Files: map[string][]byte{"config_db.json": []byte(`{"PORT": {"Ethernet0": {"admin_status": "up", "alias": "etp1", "lanes": "0", "speed": "100000", "description": "before"}}}`)},
	}, n)
}

func TestSetsOnTheLaboratorysSONiC(t *testing.T) {
	const port = "sonic-db:/CONFIG_DB/localhost/PORT/Ethernet0"
	everywhere(t, false, func(t *testing.T, n *sim.Network) drivertest.Harness {
		d := leaf(t, n)
		other := d.endpoint
		other.TLS.ServerName = "spine1.example.net"
		set := func(field, value string) plan.Chunk {
			return plan.Chunk{Send: []plan.Message{{Op: plan.SetUpdate, Path: port + "/" + field, Body: `"` + value + `"`}}}
		}
		return drivertest.Harness{
			Dialer: d.gnmi, Endpoint: d.endpoint, Stranger: other, Route: plan.GNMISet,
			Good:   set("description", "after"),
			Bad:    set("admin_status", "sideways"),
			Query:  ask(plan.GNMI, port),
			Absent: ask(plan.GNMI, "sonic-db:/CONFIG_DB/localhost/QUEUE"),
			Holds:  func() string { return d.holds(t) },
			Fault:  func(f drivertest.Fault) { d.fault(t, sim.Set, f) },
		}
	})
}

func TestCommandsOnTheLaboratorysSONiC(t *testing.T) {
	everywhere(t, false, func(t *testing.T, n *sim.Network) drivertest.Harness {
		d := leaf(t, n)
		other := d.endpoint
		other.HostKeys = leaf(t, another(n)).KnownHosts()
		return drivertest.Harness{
			Dialer: d.ssh, Endpoint: d.endpoint, Stranger: other, Route: plan.SSHBulk,
			Good:   send(plan.Run, "sudo sonic-db-cli CONFIG_DB HSET 'PORT|Ethernet0' description after"),
			Bad:    send(plan.Run, "config save -y"), // without sudo
			Query:  ask(plan.SSH, "sonic-cfggen -d --print-data"),
			Absent: ask(plan.SSH, "cat /etc/nothing"),
			Holds:  func() string { return d.holds(t) },
			Fault:  func(f drivertest.Fault) { d.fault(t, sim.Session, f) },
		}
	})
}

const hostFile = "/etc/modprobe.d/weir.conf"

func host(t *testing.T, n *sim.Network) device {
	t.Helper()
	return start(t, sim.Spec{
		Name: "gpu1", Platform: "linux", Host: true, Ports: []sim.PortSpec{{Name: "eth0", Speed: 100e9, RDMA: "mlx5_0"}},
		Files: map[string][]byte{hostFile: []byte("# before\n")},
	}, n)
}

func TestCommandsOnTheLaboratorysLinux(t *testing.T) {
	everywhere(t, false, func(t *testing.T, n *sim.Network) drivertest.Harness {
		d := host(t, n)
		other := d.endpoint
		other.HostKeys = host(t, another(n)).KnownHosts()
		return drivertest.Harness{
			Dialer: d.ssh, Endpoint: d.endpoint, Stranger: other, Route: plan.SSHShell,
			Good:   send(plan.Run, "echo '# after' > "+hostFile),
			Bad:    send(plan.Run, "modprobe no-such-module"),
			Query:  ask(plan.SSH, "cat "+hostFile),
			Absent: ask(plan.SSH, "cat /etc/nothing"),
			Holds:  func() string { return d.holds(t) },
			Fault:  func(f drivertest.Fault) { d.fault(t, sim.Set, f) },
		}
	})
}

func TestAFileOnTheLaboratorysLinuxIsWrittenByRoot(t *testing.T) {
	d := host(t, nil)
	target, err := ssh.Dialer{Packs: templates.FS}.Dial(t.Context(), d.endpoint)
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	write := plan.Chunk{Send: []plan.Message{{Op: plan.Write, Path: hostFile, Body: "# it's after\n"}}}
	if err := target.Set(t.Context(), write, plan.Pending{Device: "gpu1", Route: plan.SSHShell}); err != nil {
		t.Fatal(err)
	}
	got, err := target.Get(t.Context(), []plan.Query{ask(plan.SSH, "cat "+hostFile)})
	if err != nil {
		t.Fatal(err)
	}
	if string(got[0].Body) != "# it's after\n" {
		t.Errorf("got %q", got[0].Body)
	}
}
